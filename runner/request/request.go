package request

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/internal/outbound"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Config says how requests are sent. The zero value works.
type Config struct {
	// Allow lists what may be called though it is not public: hosts, addresses and
	// networks, the first two with or without a port. Defaults to none.
	Allow []string
	// MaxBody is how much of an answer is read, in bytes. Defaults to 1 MiB.
	MaxBody int64
}

// maxRedirects is how many redirects are followed.
const maxRedirects = 10

// Register makes e do http tasks. The error is an *InvalidError for field
// "http_allow".
func Register(e *executor.Executor, cfg Config) error {
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = 1 << 20
	}
	client, err := NewClient(cfg.Allow)
	if err != nil {
		return err
	}
	e.HandleKind(job.KindHTTP, &runner{cfg, client})
	return nil
}

// NewClient returns a client that calls nothing but public addresses and those that
// allow has, as [Config.Allow]. It follows no redirects unless the request's context
// says so. The error is an *InvalidError for field "http_allow".
func NewClient(allow []string) (*http.Client, error) {
	g, err := outbound.NewGuard(allow, func(addr netip.Addr) string {
		return fmt.Sprintf("start this executor with --http-allow %s if it should be", addr)
	})
	if err != nil {
		return nil, &job.InvalidError{Field: "http_allow", Reason: err.Error()}
	}
	return &http.Client{CheckRedirect: redirected, Transport: g.Transport()}, nil
}

// follows is the key of a context's value: how a request's redirects are followed.
type follows struct{}

// redirected decides whether to follow a redirect.
func redirected(next *http.Request, via []*http.Request) error {
	if next.Context().Value(follows{}) == nil {
		return http.ErrUseLastResponse
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	first := via[0]
	if next.URL.Host == first.URL.Host && (next.URL.Scheme == first.URL.Scheme || next.URL.Scheme == "https") {
		return nil
	}
	if next.ContentLength != 0 {
		return fmt.Errorf("redirected to %s, which must not see the body", next.URL.Host)
	}
	next.Header = http.Header{"User-Agent": first.Header["User-Agent"]} //nolint:gosec // nothing else goes along
	return nil
}

// runner is the [executor.Handler] of http tasks.
type runner struct {
	cfg    Config
	client *http.Client
}

// Handle sends the request of the run's task and judges the answer.
func (r *runner) Handle(ctx context.Context, run *executor.Run) (any, error) {
	task := run.Trigger().Task.HTTP
	req, err := build(ctx, run)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	resp, err := r.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("send %s %s: %w", req.Method, shown(req.URL), whatHappened(err))
	}
	defer func() { _ = resp.Body.Close() }()
	a, err := r.read(run, resp)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	run.Log().InfoContext(ctx, "answered", "method", req.Method, "url", shown(req.URL), "status", resp.StatusCode, "bytes", a.size, "took", time.Since(begun).Round(time.Millisecond))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer of %s %s: %w", req.Method, shown(req.URL), err)
	case !task.Succeeds(resp.StatusCode):
		return nil, a.failure()
	}
	if run.Split() { // what was asked for is the list, not what came with it
		return a.result().Body, nil
	}
	return a.result(), nil
}

// build makes the request of the run's task.
func build(ctx context.Context, run *executor.Run) (*http.Request, error) {
	task := run.Trigger().Task.HTTP
	var missing error
	expand := func(field, text string, escape func(string) string) string {
		value, err := run.Expand(text, escape)
		if err != nil && missing == nil {
			missing = fmt.Errorf("fill in task.http.%s: %w", field, err)
		}
		return value
	}
	address := expand("url", task.URL, escapeURL)
	body := []byte(expand("body", task.Body, nil))
	headers := http.Header{}
	describe(headers, run)
	if len(body) == 0 && len(run.Params()) > 0 && (task.Verb() == http.MethodPost || task.Verb() == http.MethodPut || task.Verb() == http.MethodPatch) {
		body = run.Params()
	}
	if len(body) > 0 && json.Valid(body) {
		headers.Set("Content-Type", "application/json")
	} else if len(body) > 0 {
		headers.Set("Content-Type", "text/plain; charset=utf-8")
	}
	for name, value := range task.Headers {
		headers.Set(name, oneLine(expand("headers", value, nil)))
	}
	auth := job.HTTPAuth{
		Bearer:   expand("auth.bearer", task.Auth.Bearer, nil),
		User:     expand("auth.user", task.Auth.User, nil),
		Password: expand("auth.password", task.Auth.Password, nil),
	}
	if missing != nil {
		return nil, missing
	}
	if task.FollowRedirects {
		ctx = context.WithValue(ctx, follows{}, true)
	}
	req, err := http.NewRequestWithContext(ctx, task.Verb(), address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("make the request: its URL cannot be read, with what fills it in") // err repeats parts of it
	}
	req.Header = headers
	if host := headers.Get("Host"); host != "" {
		req.Host = host
	}
	if auth.Bearer != "" {
		req.Header.Set("Authorization", "Bearer "+oneLine(auth.Bearer))
	} else if auth != (job.HTTPAuth{}) {
		req.SetBasicAuth(auth.User, auth.Password)
	}
	return req, nil
}

// describe tells the other side what the request is about.
func describe(h http.Header, run *executor.Run) {
	t := run.Trigger()
	h.Set("User-Agent", "Carillon")
	h.Set("Carillon-Run-Id", string(run.ID()))
	h.Set("Carillon-Job", string(run.Job()))
	h.Set("Carillon-Attempt", strconv.Itoa(run.Attempt()))
	h.Set("Carillon-Fence", strconv.FormatUint(run.Fence(), 10))
	h.Set("Carillon-Cause", string(run.Cause()))
	h.Set("Carillon-Fire-Time", run.FireTime().UTC().Format("2006-01-02T15:04:05.000Z"))
	h.Set("Idempotency-Key", fmt.Sprintf("%s-%d-%d", run.ID(), run.Attempt(), t.Index))
	if t.Total > 0 {
		h.Set("Carillon-Broadcast-Index", strconv.Itoa(t.Index))
		h.Set("Carillon-Broadcast-Total", strconv.Itoa(t.Total))
	}
	if t.Split {
		h.Set("Carillon-Split", "true")
	}
	if parent := run.TraceParent(); parent != "" {
		h.Set("Traceparent", parent)
	}
}

// escapeURL makes a value fit for any part of a URL.
func escapeURL(value string) string {
	return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
}

// oneLine keeps a value from becoming two headers: what was read from a file often has
// a line end.
func oneLine(value string) string {
	return strings.Map(func(c rune) rune {
		if c == '\r' || c == '\n' || c == 0 {
			return -1
		}
		return c
	}, value)
}

// shown returns what messages and logs say of a URL. The rest may hold secrets: such as the path of a webhook.
func shown(u *url.URL) string { return u.Scheme + "://" + u.Host }

// whatHappened returns an error of package http without the URL, which it repeats.
func whatHappened(err error) error {
	if forbidden, ok := errors.AsType[*outbound.ForbiddenError](err); ok {
		return forbidden
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if errors.Is(err, io.EOF) {
		return errors.New(reason.ClosedWithoutAnswer.String())
	}
	return err
}
