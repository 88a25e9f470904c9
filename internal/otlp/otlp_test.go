package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/carillon-scheduler/carillon/job"
)

// spans are two of one run, as an executor makes them.
func spans() []sdktrace.ReadOnlySpan {
	at := time.Unix(1_700_000_000, 5).UTC()
	id := func(span byte, remote bool) trace.SpanContext {
		return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1, 2}, SpanID: trace.SpanID{span}, TraceFlags: trace.FlagsSampled, Remote: remote})
	}
	about := resource.NewSchemaless(attribute.String("service.name", "carillon"))
	return tracetest.SpanStubs{
		{
			Name: "attempt", SpanContext: id(2, false), Parent: id(1, true), SpanKind: trace.SpanKindConsumer, StartTime: at, EndTime: at.Add(time.Second),
			Attributes: []attribute.KeyValue{attribute.Bool("ok", true), attribute.Int("attempt", 3), attribute.Float64("share", 0.5), attribute.StringSlice("tags", []string{"a", "b"})},
			Events:     []sdktrace.Event{{Name: "exception", Time: at, Attributes: []attribute.KeyValue{attribute.String("message", "disk full")}}},
			Links:      []sdktrace.Link{{SpanContext: id(9, true)}},
			Status:     sdktrace.Status{Code: codes.Error, Description: "exit 1"}, Resource: about,
		},
		{Name: "query", SpanContext: id(3, false), Parent: id(2, false), StartTime: at, EndTime: at, Resource: about},
	}.Snapshots()
}

const wanted = `{"resourceSpans": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "carillon"}}]}, "scopeSpans": [{"scope": {}, "spans": [
	{"traceId": "AQIAAAAAAAAAAAAAAAAAAA==", "spanId": "AgAAAAAAAAA=", "parentSpanId": "AQAAAAAAAAA=", "flags": 769, "name": "attempt", "kind": "SPAN_KIND_CONSUMER",
	 "startTimeUnixNano": "1700000000000000005", "endTimeUnixNano": "1700000001000000005",
	 "attributes": [{"key": "ok", "value": {"boolValue": true}}, {"key": "attempt", "value": {"intValue": "3"}}, {"key": "share", "value": {"doubleValue": 0.5}},
	  {"key": "tags", "value": {"arrayValue": {"values": [{"stringValue": "a"}, {"stringValue": "b"}]}}}],
	 "events": [{"timeUnixNano": "1700000000000000005", "name": "exception", "attributes": [{"key": "message", "value": {"stringValue": "disk full"}}]}],
	 "links": [{"traceId": "AQIAAAAAAAAAAAAAAAAAAA==", "spanId": "CQAAAAAAAAA=", "flags": 769}],
	 "status": {"message": "exit 1", "code": "STATUS_CODE_ERROR"}},
	{"traceId": "AQIAAAAAAAAAAAAAAAAAAA==", "spanId": "AwAAAAAAAAA=", "parentSpanId": "AgAAAAAAAAA=", "flags": 257, "name": "query", "kind": "SPAN_KIND_INTERNAL",
	 "startTimeUnixNano": "1700000000000000005", "endTimeUnixNano": "1700000000000000005", "status": {}}]}]}]}`

// collector is the other end: it keeps what it is sent.
type collector struct {
	requests []*http.Request
	bodies   [][]byte
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.requests, c.bodies = append(c.requests, r), append(c.bodies, body)
}

// alone unsets all variables for the time of a test.
func alone(t *testing.T) {
	t.Helper()
	for _, name := range []string{"ENDPOINT", "HEADERS", "TIMEOUT", "COMPRESSION", "CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY", "PROTOCOL"} {
		t.Setenv(prefix+name, "")
		t.Setenv(prefix+"TRACES_"+name, "")
	}
}

func TestSpansArriveAsOTLPSaysThem(t *testing.T) {
	var c collector
	server := httptest.NewServer(&c)
	defer server.Close()
	alone(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Api-Key=a%20secret, team = b")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	e, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.ExportSpans(t.Context(), spans()), e.Shutdown(t.Context())); err != nil {
		t.Fatal(err)
	}
	if len(c.requests) != 1 {
		t.Fatalf("%d requests", len(c.requests))
	}
	r := c.requests[0]
	if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("Api-Key") != "a secret" || r.Header.Get("team") != "b" {
		t.Errorf("asked %s with %v", r.URL, r.Header)
	}
	packed, err := gzip.NewReader(bytes.NewReader(c.bodies[0]))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(packed)
	if err != nil {
		t.Fatal(err)
	}
	var got, want tracepb.TracesData
	if err := errors.Join(proto.Unmarshal(body, &got), protojson.Unmarshal([]byte(wanted), &want)); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(&got, &want) {
		t.Errorf("sent %s", cmp.Diff(protojson.Format(&want), protojson.Format(&got)))
	}
}

func TestVariablesForTracesGoBeforeThoseForAll(t *testing.T) {
	var c collector
	server := httptest.NewTLSServer(&c)
	defer server.Close()
	alone(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", server.URL+"/own/path")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", certificateOf(t, server))
	e, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.ExportSpans(t.Context(), spans()); err != nil {
		t.Fatal(err)
	}
	if len(c.requests) != 1 || c.requests[0].URL.Path != "/own/path" || c.requests[0].Header.Get("Content-Encoding") != "" {
		t.Errorf("the collector was asked %v", c.requests)
	}
}

func certificateOf(t *testing.T, server *httptest.Server) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestAWrongVariableIsNamed(t *testing.T) {
	for variable, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT":           "collector:4318",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT":    "ftp://collector",
		"OTEL_EXPORTER_OTLP_PROTOCOL":           "grpc",
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL":    "http/json",
		"OTEL_EXPORTER_OTLP_HEADERS":            "secret",
		"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT":     "10s",
		"OTEL_EXPORTER_OTLP_COMPRESSION":        "zstd",
		"OTEL_EXPORTER_OTLP_CERTIFICATE":        "/nowhere",
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "/nowhere",
	} {
		t.Run(variable, func(t *testing.T) {
			alone(t)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318")
			t.Setenv(variable, value)
			_, err := New()
			if wrong, is := errors.AsType[*job.InvalidError](err); !is || wrong.Field != variable {
				t.Errorf("%v, want one that names %s", err, variable)
			}
		})
	}
}

// answers is a collector that answers with one status after the other, and notes when.
type answers struct {
	statuses []int
	at       []time.Time
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	a.at = append(a.at, time.Now())
	status := a.statuses[0]
	a.statuses = a.statuses[1:]
	if status == 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: http.Header{"Retry-After": {"7"}}, Body: http.NoBody, Request: r}, nil
}

func TestWhatACollectorCannotTakeNowIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &answers{statuses: []int{0, 0, http.StatusServiceUnavailable, http.StatusOK}}
		e := &Exporter{endpoint: "http://collector", client: &http.Client{Transport: a}}
		began := time.Now()
		if err := e.ExportSpans(t.Context(), spans()); err != nil {
			t.Fatal(err)
		}
		var after []time.Duration
		for _, at := range a.at {
			after = append(after, at.Sub(began))
		}
		if diff := cmp.Diff([]time.Duration{0, time.Second, 3 * time.Second, 10 * time.Second}, after); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWhatACollectorRefusesIsNotSentAgain(t *testing.T) {
	a := &answers{statuses: []int{http.StatusBadRequest}}
	e := &Exporter{endpoint: "http://collector", client: &http.Client{Transport: a}}
	if err := e.ExportSpans(t.Context(), spans()); err == nil || len(a.at) != 1 {
		t.Errorf("%v after %d requests", err, len(a.at))
	}
}

// taken is a collector that answers 200 with a body.
type taken struct {
	kind  string
	body  []byte
	times int
}

func (a *taken) RoundTrip(r *http.Request) (*http.Response, error) {
	a.times++
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {a.kind}}, Body: io.NopCloser(bytes.NewReader(a.body)), Request: r}, nil
}

// partial returns an ExportTraceServiceResponse with a partial_success.
func partial(rejected uint64, message string) []byte {
	var inner []byte
	inner = protowire.AppendTag(inner, 1, protowire.VarintType)
	inner = protowire.AppendVarint(inner, rejected)
	inner = protowire.AppendTag(inner, 2, protowire.BytesType)
	inner = protowire.AppendString(inner, message)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner)
}

func TestSpansThatACollectorRejectsAreReportedAndNotSentAgain(t *testing.T) {
	const protobuf = "application/x-protobuf"
	const long = 4000
	f := func(kind string, body []byte, want string) {
		t.Helper()
		a := &taken{kind: kind, body: body}
		e := &Exporter{endpoint: "http://user:secret@collector", client: &http.Client{Transport: a}}
		err := e.ExportSpans(t.Context(), spans())
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want || a.times != 1 {
			t.Errorf("%q after %d requests, want %q", got, a.times, want)
		}
	}
	f(protobuf, partial(1, "attribute too long"), `http://user:xxxxx@collector rejects 1 of 2 spans: "attribute too long"`)
	f(protobuf, partial(2, ""), `http://user:xxxxx@collector rejects 2 of 2 spans: ""`)
	f(protobuf, partial(0, "use the other port"), `http://user:xxxxx@collector warns: "use the other port"`)
	f(protobuf+"; charset=utf-8", partial(1, "a\nb"), `http://user:xxxxx@collector rejects 1 of 2 spans: "a\nb"`)
	f(protobuf, partial(1, strings.Repeat("x", long)), `http://user:xxxxx@collector rejects 1 of 2 spans: "`+strings.Repeat("x", messageLimit)+`…"`)
	// Fields that a newer version of OTLP may have are skipped.
	f(protobuf, append(protowire.AppendVarint(protowire.AppendTag(nil, 9, protowire.VarintType), 1), partial(1, "new")...), `http://user:xxxxx@collector rejects 1 of 2 spans: "new"`)

	f(protobuf, nil, "")
	f(protobuf, partial(0, ""), "") // is as if it were not there
	f(protobuf, []byte("no protobuf"), "")
	f(protobuf, partial(1, "cut")[:4], "")
	f("text/html", partial(1, "of a proxy"), "")
}

func TestAnErrorOfACollectorHidesThePassword(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, 0} { // refused, and not reached
		e := &Exporter{endpoint: "http://user:secret@collector", client: &http.Client{Transport: &answers{statuses: []int{status}}}}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := e.ExportSpans(ctx, spans()); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
	}
}

func TestSendingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &answers{statuses: make([]int, 100)}
		e := &Exporter{endpoint: "http://collector", client: &http.Client{Transport: a}}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		began := time.Now()
		if err := e.ExportSpans(ctx, spans()); err == nil || time.Since(began) != 30*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
