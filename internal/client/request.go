package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/oapi-codegen/runtime"
)

// RequestEditorFn changes a request before it is sent.
type RequestEditorFn func(ctx context.Context, req *http.Request) error

// request is what the method of an operation has put together.
type request struct {
	method, path string
	query        []string // encoded
	headers      http.Header
	err          error // the first
}

// newRequest returns a request for a path, in which format has a %s for each value.
func newRequest(method, format string, values ...any) *request {
	escaped := make([]any, len(values))
	for i, v := range values {
		escaped[i] = url.PathEscape(fmt.Sprint(v))
	}
	return &request{method: method, path: fmt.Sprintf(format, escaped...), headers: http.Header{}}
}

// parameter adds a parameter to the query, unless it is a nil pointer.
func (r *request) parameter(name string, value any, kind, format string) {
	v := reflect.ValueOf(value)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		value = v.Elem().Interface()
	}
	text, err := runtime.StyleParamWithOptions("form", true, name, value,
		runtime.StyleParamOptions{ParamLocation: runtime.ParamLocationQuery, Type: kind, Format: format})
	if err != nil && r.err == nil {
		r.err = err
	}
	r.query = append(r.query, text)
}

// header adds a header, unless it is nil.
func (r *request) header(name string, value *string) {
	if value != nil {
		r.headers.Set(name, *value)
	}
}

// send sends a request. contentType is that of body, if there is one.
func (a *API) send(ctx context.Context, r *request, contentType string, body io.Reader, edit []RequestEditorFn) (*http.Response, error) {
	if r.err != nil {
		return nil, r.err
	}
	address := a.address + r.path
	if len(r.query) > 0 {
		address += "?" + strings.Join(r.query, "&")
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, err
	}
	req.Header = r.headers
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for _, f := range append([]RequestEditorFn{a.sign}, edit...) {
		if err := f(ctx, req); err != nil {
			return nil, err
		}
	}
	return a.do(req)
}
