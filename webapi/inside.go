package webapi

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/carillon-scheduler/carillon/webapi/guard"
)

// maxInside bounds the body of a request that the server makes of itself, in bytes.
const maxInside = guard.MaxBody

// inside is a transport to this very server, without a connection: for requests that it makes on behalf of a
// client. They pass all that requests pass. It is safe for concurrent use.
type inside struct {
	serve     fasthttp.RequestHandler
	from      net.Addr // the client
	forwarded string   // what a proxy said of it
	agent     string
}

// RoundTrip implements [http.RoundTripper].
func (t *inside) RoundTrip(r *http.Request) (*http.Response, error) {
	var request fasthttp.Request
	request.Header.SetMethod(r.Method)
	request.SetRequestURI(r.URL.RequestURI())
	request.Header.SetHost(r.URL.Host)
	for name, values := range r.Header {
		for _, value := range values {
			request.Header.Add(name, value)
		}
	}
	request.Header.SetUserAgent(t.agent)
	if t.forwarded != "" {
		request.Header.Set(fiber.HeaderXForwardedFor, t.forwarded)
	}
	if r.Body != nil {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxInside+1))
		_ = r.Body.Close()
		switch {
		case err != nil:
			return nil, fmt.Errorf("read body: %w", err)
		case len(body) > maxInside:
			return nil, fmt.Errorf("the body is longer than %d bytes", maxInside)
		}
		request.SetBodyRaw(body)
	}
	var ctx fasthttp.RequestCtx
	ctx.Init(&request, t.from, nil)
	guard.Inside(r.Context(), &ctx)
	t.serve(&ctx)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	response := &http.Response{
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, StatusCode: ctx.Response.StatusCode(), Header: http.Header{}, Request: r,
	}
	response.Status = fmt.Sprintf("%d %s", response.StatusCode, http.StatusText(response.StatusCode))
	ctx.Response.Header.VisitAll(func(name, value []byte) { response.Header.Add(string(name), string(value)) })
	body := bytes.Clone(ctx.Response.Body())
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return response, nil
}
