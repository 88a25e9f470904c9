package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/exact"
)

const (
	// requestTimeout bounds a request and its answer, streams excepted.
	requestTimeout = 30 * time.Second
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 64 << 20
)

// API is a server's API. It is safe for concurrent use.
type API struct {
	address  string
	user     string
	token    string
	requests *http.Client // which have an end
	stream   *http.Client
	partial  sync.Once
	notice   func(since, asOf time.Time)
}

// New returns the API of the server at an address such as "http://127.0.0.1:8822" or
// "127.0.0.1:8822". user is recorded as the author of changes by a server that signs
// nobody in; others want [API.Authorize]. Nothing is sent yet.
// The error is an *InvalidError for field "server".
func New(address, user string) (*API, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &job.InvalidError{Field: "server", Reason: fmt.Sprintf("%q must be an address such as http://127.0.0.1:8822", address)}
	}
	return &API{address: strings.TrimSuffix(address, "/"), user: user, requests: &http.Client{Timeout: requestTimeout}, stream: &http.Client{}}, nil
}

// do sends a request that has all that it needs.
func (a *API) do(req *http.Request) (*http.Response, error) {
	resp, err := a.requests.Do(req)
	if err != nil || a.notice == nil {
		return resp, err
	}
	if asOf, bad := time.Parse(time.RFC3339, resp.Header.Get("Carillon-As-Of")); bad == nil {
		since, _ := time.Parse(time.RFC3339, resp.Header.Get("Carillon-Since")) // absent of a store that is behind
		a.partial.Do(func() { a.notice(since, asOf) })
	}
	return resp, nil
}

// Notice has f called with the first answer that is not of the whole history: something
// may be missing from before since, which may be zero, and from after asOf. It must not be
// called while requests are under way.
func (a *API) Notice(f func(since, asOf time.Time)) { a.notice = f }

// Authorize has every request from now on carry an API token. It must not be called
// while requests are under way.
func (a *API) Authorize(token string) { a.token = token }

// Trust has every request from now on take the server's certificate if it is signed by
// an authority in a PEM file, besides those that the system trusts. It must not be
// called while requests are under way.
func (a *API) Trust(file string) error {
	text, err := os.ReadFile(file) //nolint:gosec // the file that the person names
	if err != nil {
		return fmt.Errorf("read certificate authorities: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a system without any
	}
	if !pool.AppendCertsFromPEM(text) {
		return &job.InvalidError{Field: "ca", Reason: file + " has no certificate in PEM"}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one, in package http
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	a.requests.Transport, a.stream.Transport = transport, transport
	return nil
}

// Via has every request from now on go through a transport. It must not be called while requests are under way.
func (a *API) Via(transport http.RoundTripper) {
	a.requests.Transport, a.stream.Transport = transport, transport
}

// Address returns where the server is.
func (a *API) Address() string { return a.address }

// sign says who is asking. The user's name counts where nobody signs in.
func (a *API) sign(_ context.Context, req *http.Request) error {
	if a.user != "" {
		req.Header.Set("Carillon-User", a.user)
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	return nil
}

// Stream asks for what has no end, or a far one: it has no time limit but ctx. The
// caller closes the body, whatever the status.
func (a *API) Stream(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.address+path, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", path, err)
	}
	if err := a.sign(ctx, req); err != nil {
		return nil, err
	}
	resp, err := a.stream.Do(req)
	if err != nil {
		return nil, unreachable(err)
	}
	return resp, nil
}

// ErrDenied is [api.ErrDenied].
var ErrDenied = api.ErrDenied

// UnreachableError is the error of a request that got no answer.
type UnreachableError struct {
	Address string
	Err     error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no answer from %s: %v", e.Address, e.Err)
}

// Unwrap returns what the network said.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Is makes every UnreachableError a [job.ErrUnavailable].
func (e *UnreachableError) Is(target error) bool { return target == job.ErrUnavailable }

// Optional returns a parameter: nil, which is to leave it out, for the zero value.
func Optional[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// OptionalList is [Optional] for a list.
func OptionalList[T any](v []T) *[]T {
	if len(v) == 0 {
		return nil
	}
	return &v
}

// None is the answer of a request that has none.
type None struct{}

// Read turns what a method of [API] returned into its answer:
//
//	page, err := client.Read[client.JobPage](api.ListJobs(ctx, &params))
//
// The error is a *[Problem] when the server sent one, an *[UnreachableError] when it
// did not answer.
func Read[T any](resp *http.Response, err error) (T, error) {
	var answer T
	if err != nil {
		return answer, unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return answer, unreachable(&url.Error{Op: resp.Request.Method, URL: resp.Request.URL.String(), Err: err})
	case len(body) > maxAnswer:
		return answer, fmt.Errorf("read the answer of %s: it is longer than %d bytes", resp.Request.URL, maxAnswer)
	case resp.StatusCode >= http.StatusBadRequest:
		return answer, problemOf(resp, body)
	case resp.StatusCode == http.StatusNoContent:
		return answer, nil
	}
	if err := exact.Unmarshal(body, &answer); err != nil {
		return answer, fmt.Errorf("read the answer of %s: %w; is a Carillon server listening there?", resp.Request.URL, err)
	}
	return answer, nil
}

// problemOf returns the error in an answer.
func problemOf(resp *http.Response, body []byte) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	var p Problem
	if kind == "application/problem+json" && json.Unmarshal(body, &p) == nil && p.Code != "" {
		return &p
	}
	p = Problem{Status: resp.StatusCode, Title: resp.Status}
	if resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusBadGateway || resp.StatusCode == http.StatusGatewayTimeout {
		p.Code = api.CodeUnavailable
	}
	p.Detail = fmt.Sprintf("%s answered %s, which Carillon does not say so; is another program listening there?", resp.Request.URL, resp.Status)
	return &p
}

// unreachable names the server instead of the whole URL. A request that the caller
// called off stays what it is.
func unreachable(err error) error {
	u, ok := errors.AsType[*url.Error](err)
	if !ok || errors.Is(err, context.Canceled) {
		return err
	}
	address := u.URL
	if parsed, err := url.Parse(u.URL); err == nil {
		address = parsed.Scheme + "://" + parsed.Host
	}
	return &UnreachableError{Address: address, Err: u.Err}
}
