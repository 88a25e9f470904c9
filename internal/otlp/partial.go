package otlp

import (
	"fmt"
	"mime"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// PartialError is a collector's warning about a request, most often that it rejects some of the spans.
// They are not sent again.
type PartialError struct {
	Collector string // its address, without a password
	Rejected  int64  // how many spans it rejected; 0: it only warns
	Sent      int    // how many spans the request had
	Message   string // the collector's, at most 500 bytes
}

// Error implements error.
func (e *PartialError) Error() string {
	if e.Rejected == 0 {
		return fmt.Sprintf("%s warns: %q", e.Collector, e.Message)
	}
	return fmt.Sprintf("%s rejects %d of %d spans: %q", e.Collector, e.Rejected, e.Sent, e.Message)
}

// messageLimit bounds what is kept of a collector's message, in bytes.
const messageLimit = 500

// The fields of ExportTraceServiceResponse and of its partial_success. The package that defines them
// links gRPC.
const (
	fieldPartialSuccess = 1
	fieldRejectedSpans  = 1
	fieldErrorMessage   = 2
)

// partialSuccess returns what the body of an answer rejects. ok is false if that is nothing, or if the
// body is none of a collector.
func partialSuccess(header http.Header, body []byte) (rejected int64, message string, ok bool) {
	if kind, _, err := mime.ParseMediaType(header.Get("Content-Type")); err != nil || kind != contentType {
		return 0, "", false
	}
	var inner []byte
	whole := eachField(body, func(n protowire.Number, kind protowire.Type, value []byte) {
		if n == fieldPartialSuccess && kind == protowire.BytesType {
			inner, _ = protowire.ConsumeBytes(value)
		}
	})
	whole = eachField(inner, func(n protowire.Number, kind protowire.Type, value []byte) {
		switch {
		case n == fieldRejectedSpans && kind == protowire.VarintType:
			count, _ := protowire.ConsumeVarint(value)
			rejected = max(0, int64(count)) //nolint:gosec // an int64 on the wire; less than none is nonsense
		case n == fieldErrorMessage && kind == protowire.BytesType:
			text, _ := protowire.ConsumeBytes(value)
			message = clip.Text(string(text), messageLimit)
		}
	}) && whole
	return rejected, message, whole && (rejected > 0 || message != "")
}

// eachField calls f with each field of a message. It reports whether the message is well formed.
func eachField(message []byte, f func(protowire.Number, protowire.Type, []byte)) bool {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return false
		}
		size := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if size < 0 {
			return false
		}
		f(number, kind, message[tag:tag+size])
		message = message[tag+size:]
	}
	return true
}
