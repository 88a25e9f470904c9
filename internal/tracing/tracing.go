package tracing

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/trace"
)

// Header is the name, in messages, requests and (in capitals) environments, of the W3C
// trace context.
const Header = "traceparent"

// Fire returns the span of the fire that an attempt of a run belongs to: the parent of all
// that executors do for it. The zero value, which is not valid, comes of what is no id.
func Fire(runID string, attempt int) trace.SpanContext {
	raw, err := hex.DecodeString(strings.ReplaceAll(runID, "-", ""))
	if err != nil || len(raw) != 16 {
		return trace.SpanContext{}
	}
	h := fnv.New64a()
	_, _ = h.Write(raw)
	_, _ = h.Write([]byte(strconv.Itoa(attempt)))
	var span trace.SpanID
	binary.BigEndian.PutUint64(span[:], h.Sum64()|1) // zero would be no span
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID(raw), SpanID: span, TraceFlags: trace.FlagsSampled, Remote: true})
}

// Parent returns a span in the form of the W3C trace context; "" when it is not valid.
func Parent(sc trace.SpanContext) string {
	if !sc.IsValid() {
		return ""
	}
	return "00-" + sc.TraceID().String() + "-" + sc.SpanID().String() + "-" + sc.TraceFlags().String()
}

type wanted struct{}

// Wanting returns a context in which a span that [Generator] names is sc.
func Wanting(ctx context.Context, sc trace.SpanContext) context.Context {
	return context.WithValue(ctx, wanted{}, sc)
}

// Generator names traces and spans for the SDK: as [Wanting] says, else at random. It is
// safe for concurrent use.
type Generator struct{}

// NewIDs implements the SDK's IDGenerator.
func (g Generator) NewIDs(ctx context.Context) (id trace.TraceID, span trace.SpanID) {
	if sc, ok := ctx.Value(wanted{}).(trace.SpanContext); ok {
		return sc.TraceID(), sc.SpanID()
	}
	_, _ = rand.Read(id[:]) // never fails: it ends the program rather than return an error
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID implements the SDK's IDGenerator.
func (Generator) NewSpanID(context.Context, trace.TraceID) (span trace.SpanID) {
	_, _ = rand.Read(span[:])
	return span
}
