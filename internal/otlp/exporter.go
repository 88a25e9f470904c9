package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Exporter sends spans. Several goroutines may use it.
type Exporter struct {
	endpoint string
	headers  http.Header
	packed   bool
	client   *http.Client
}

var _ sdktrace.SpanExporter = (*Exporter)(nil)

// New returns an exporter that does as OpenTelemetry's variables say: OTEL_EXPORTER_OTLP_ENDPOINT,
// _HEADERS, _TIMEOUT, _COMPRESSION, _CERTIFICATE, _CLIENT_CERTIFICATE and _CLIENT_KEY, or those for
// traces alone, such as OTEL_EXPORTER_OTLP_TRACES_ENDPOINT. It connects to nothing. The error is a
// [job.InvalidError] that names the variable.
func New() (*Exporter, error) {
	endpoint, err := readEndpoint()
	err = errors.Join(err, checkProtocol())
	headers, headersErr := readHeaders()
	timeout, timeoutErr := readTimeout()
	packed, packedErr := readCompression()
	config, tlsErr := readTLS()
	if err := errors.Join(err, headersErr, timeoutErr, packedErr, tlsErr); err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // as net/http documents it
	transport.TLSClientConfig = config
	return &Exporter{endpoint, headers, packed, &http.Client{Transport: transport, Timeout: timeout}}, nil
}

// Shutdown closes what is idle. What was given to ExportSpans has been sent by then.
func (e *Exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// firstPause is the wait before a request is repeated. It doubles up to longestPause.
const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
)

// ExportSpans sends spans in one request. Where the collector cannot take them now, or cannot be
// reached, it tries again until ctx is done. The error is a [PartialError] if the collector took the
// request, but not all of its spans.
func (e *Exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	// A request is the same bytes as TracesData, whose package links no gRPC.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: resources(spans)})
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	if e.packed {
		body = pack(body)
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		wait, err := e.send(ctx, body, len(spans))
		if err == nil || wait < 0 {
			return err
		}
		timer := time.NewTimer(max(wait, pause))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// never is the wait after an error that another request would meet, too.
const never = -1

// contentType is that of requests and of answers.
const contentType = "application/x-protobuf"

// send makes one request with that many spans. If it fails, wait is how long the collector asks to wait,
// or never.
func (e *Exporter) send(ctx context.Context, body []byte, spans int) (wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.endpoint, bytes.NewReader(body))
	if err != nil {
		return never, fmt.Errorf("send spans: %w", err)
	}
	maps.Copy(req.Header, e.headers)
	req.Header.Set("Content-Type", contentType)
	if e.packed {
		req.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("send spans: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // all of it, so that the connection serves the next request
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 16)
		wait = time.Duration(seconds) * time.Second
	default:
		wait = never
		if resp.StatusCode/100 == 2 {
			if rejected, message, ok := partialSuccess(resp.Header, answer); ok {
				return never, &PartialError{Collector: req.URL.Redacted(), Rejected: rejected, Sent: spans, Message: message}
			}
			return 0, nil
		}
	}
	return wait, fmt.Errorf("send spans to %s: it answers %s", req.URL.Redacted(), resp.Status)
}

func pack(body []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(body)
	if err := errors.Join(err, w.Close()); err != nil {
		panic("BUG: a buffer takes no data: " + err.Error())
	}
	return packed.Bytes()
}
