package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/internal/outbound"
	"github.com/carillon-scheduler/carillon/job"
)

// ErrNotSent means that the executor could not be reached: it has not heard the call.
var ErrNotSent = errors.New("the executor cannot be reached")

// Refusal is an answer with a code other than 200.
type Refusal struct {
	Code int
	Msg  string
}

func (r *Refusal) Error() string {
	if r.Msg == "" {
		return fmt.Sprintf("the executor answered code %d", r.Code)
	}
	return r.Msg
}

// Bounds of answers, in bytes.
const (
	maxAnswer = 256 << 10
	maxLog    = 32 << 20
)

// logTime is how much longer than another call one for a log may take.
const logTime = 10 * time.Second

// Target is an executor to call.
type Target struct {
	Address string
	AppName string
	Token   string
	Dialect wire.Dialect
}

// Client calls executors. It is safe for concurrent use.
type Client struct {
	http    *http.Client
	timeout time.Duration
}

// Dial connects to an address, as net.Dialer does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// New returns a client whose calls take at most timeout, those for logs a while longer.
func New(dial Dial, timeout time.Duration) *Client {
	return &Client{timeout: timeout, http: &http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dial(ctx, network, address)
				if err != nil {
					err = fmt.Errorf("%w: %w", ErrNotSent, err)
				}
				return conn, err
			},
			MaxIdleConns: 10_000, MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: timeout,
			DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Beat asks whether the executor lives.
func (c *Client) Beat(ctx context.Context, t Target) error {
	return c.do(ctx, t, wire.PathBeat, []byte(`""`))
}

// Idle asks whether the executor has neither a running nor a queued run of a job.
func (c *Client) Idle(ctx context.Context, t Target, jobID int32) (bool, error) {
	err := c.do(ctx, t, wire.PathIdleBeat, wire.JobRequest(jobID))
	if refused := (*Refusal)(nil); errors.As(err, &refused) {
		return false, nil
	}
	return err == nil, err
}

// Run hands a run over. It returns the dialect by which it was taken.
func (c *Client) Run(ctx context.Context, t Target, r wire.Run) (wire.Dialect, error) {
	body := r.Encode()
	err := c.do(ctx, t, t.Dialect.RunPath(), body)
	if !unknownPath(err, t.Dialect.RunPath()) {
		return t.Dialect, err
	}
	other := t.Dialect.Other()
	if again := c.do(ctx, t, other.RunPath(), body); !unknownPath(again, other.RunPath()) {
		return other, again
	}
	return t.Dialect, err
}

// unknownPath reports whether an executor does not know a path: it names it then.
func unknownPath(err error, path string) bool {
	refused := (*Refusal)(nil)
	return errors.As(err, &refused) && bytes.Contains([]byte(refused.Msg), []byte(path)) && bytes.Contains([]byte(refused.Msg), []byte("not found"))
}

// Kill has the executor end all runs of a job.
func (c *Client) Kill(ctx context.Context, t Target, jobID int32) error {
	err := c.do(ctx, t, wire.PathKill, wire.JobRequest(jobID))
	return err
}

// Log reads the log of a run that was handed over at an instant, from a line on.
func (c *Client) Log(ctx context.Context, t Target, logID int64, at time.Time, from int) (wire.Log, error) {
	body, err := c.call(ctx, t, wire.PathLog, wire.LogRequest(logID, at, from), maxLog, c.timeout+logTime)
	if err != nil {
		return wire.Log{}, err
	}
	return wire.ReadLog(body, from)
}

// do calls, and wants an answer with code 200.
func (c *Client) do(ctx context.Context, t Target, path string, body []byte) error {
	data, err := c.call(ctx, t, path, body, maxAnswer, c.timeout)
	if err == nil {
		_, err = answered(data)
	}
	return err
}

func answered(data []byte) (wire.Answer, error) {
	a, err := wire.ReadAnswer(data)
	if err == nil && a.Code != wire.CodeOK {
		err = &Refusal{a.Code, a.Msg}
	}
	return a, err
}

// call sends a request and returns the body of its answer.
func (c *Client) call(ctx context.Context, t Target, path string, body []byte, most int64, timeout time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %s", timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.Address+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	req.Header.Set("Content-Type", "application/json;charset=UTF-8")
	req.Header[wire.HeaderToken] = []string{t.Token}
	req.Header[wire.HeaderAppName] = []string{t.AppName}
	resp, err := c.http.Do(req)
	if err != nil {
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) { // which repeats the address
			err = wrapped.Err
		}
		if cause := context.Cause(ctx); cause != nil && !errors.Is(err, ErrNotSent) {
			err = cause
		}
		return nil, fmt.Errorf("call %s of %s: %w", path, t.Address, err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("call %s of %s: %w", path, t.Address, err)
	case int64(len(data)) > most:
		return nil, &job.InvalidError{Field: "answer", Reason: fmt.Sprintf("of %s%s has more than %d bytes", t.Address, path, most)}
	case resp.StatusCode != http.StatusOK:
		return nil, &job.InvalidError{Field: "answer", Reason: fmt.Sprintf("of %s%s has the HTTP status %s", t.Address, path, resp.Status)}
	}
	return data, nil
}

// Forbidden reports whether an error means that the address may not be called.
func Forbidden(err error) bool {
	forbidden := (*outbound.ForbiddenError)(nil)
	return errors.As(err, &forbidden)
}
