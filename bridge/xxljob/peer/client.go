package peer

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/internal/outbound"
	"github.com/carillon-scheduler/carillon/job"
)

// ErrNotSent means that the executor could not be reached: it has not heard the call.
var ErrNotSent = errors.New("the executor cannot be reached")

// Refusal is an answer with a code other than 200, or with an HTTP status of 4xx: the call had no effect.
type Refusal struct {
	Code   int // that of the answer, or the HTTP status
	Msg    string
	Status int // the HTTP status, if that is what refused
}

func (r *Refusal) Error() string {
	if r.Msg == "" {
		return fmt.Sprintf("the executor answered code %d", r.Code)
	}
	return r.Msg
}

// wrongToken reports whether the executor refuses our access token, in whichever words.
func (r *Refusal) wrongToken() bool {
	return r.Code == http.StatusUnauthorized || r.Code == http.StatusForbidden || strings.Contains(strings.ToLower(r.Msg), "token")
}

// StatusError is an answer with an HTTP status of 5xx, 3xx or 1xx: nobody knows what became of the call.
type StatusError struct {
	Status int
	what   string
}

func (e *StatusError) Error() string { return e.what }

// away reports whether somebody before the executor says that it is not there.
func (e *StatusError) away() bool {
	return e.Status == http.StatusBadGateway || e.Status == http.StatusServiceUnavailable || e.Status == http.StatusGatewayTimeout
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
	// Fresh opens a new connection for each call. Behind a balancer it may reach another process.
	Fresh bool
}

// Client calls executors. It is safe for concurrent use.
type Client struct {
	http    *http.Client
	fresh   *http.Client // without connections that are kept
	timeout time.Duration
}

// Dial connects to an address, as net.Dialer does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Trust says which certificates of executors with https are accepted, beside those of the system's CAs.
type Trust struct {
	CAs   *x509.CertPool // Defaults to the system's.
	Hosts []string       // whose certificates are not checked
}

// handshake returns a connection in TLS with a host.
func (t Trust) handshake(ctx context.Context, conn net.Conn, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	secure := tls.Client(conn, &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: host, RootCAs: t.CAs,
		InsecureSkipVerify: slices.ContainsFunc(t.Hosts, func(h string) bool { return strings.EqualFold(h, host) }), //nolint:gosec // the operator names them
	})
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	return secure, nil
}

// New returns a client whose calls take at most timeout, those for logs a while longer.
func New(dial Dial, timeout time.Duration, trust Trust) *Client {
	connect := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrNotSent, err)
		}
		return conn, err
	}
	kept := &http.Transport{
		DialContext: connect,
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := connect(ctx, network, address)
			if err != nil {
				return nil, err
			}
			limited, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			return trust.handshake(limited, conn, address)
		},
		MaxIdleConns: 10_000, MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute,
		DisableCompression: true,
	}
	fresh := kept.Clone()
	fresh.DisableKeepAlives = true
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{timeout: timeout, http: &http.Client{Transport: kept, CheckRedirect: stay}, fresh: &http.Client{Transport: fresh, CheckRedirect: stay}}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Beat asks whether the executor lives. Any answer says that it does, also that it knows no such path:
// XXL-JOB's admin seldom makes this call, so many executors lack it. The error is a [Refusal] if the
// executor refuses our access token; any other says that the executor does not answer.
func (c *Client) Beat(ctx context.Context, t Target) error {
	err := c.do(ctx, t, wire.PathBeat, []byte(`{}`))
	var refused *Refusal
	var status *StatusError
	switch {
	case errors.As(err, &refused) && !refused.wrongToken(), errors.As(err, &status) && !status.away(), errors.Is(err, job.ErrInvalid):
		return nil
	}
	return err
}

// Idle asks whether the executor has neither a running nor a queued run of a job. The answers of
// executors without /idleBeat differ: see the bridge's evidence.
func (c *Client) Idle(ctx context.Context, t Target, jobID int32) (bool, error) {
	err := c.do(ctx, t, wire.PathIdleBeat, wire.JobRequest(jobID))
	if refused := (*Refusal)(nil); errors.As(err, &refused) && refused.Status == 0 {
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

// unknownPath reports whether an executor does not know a path: it names it then, or its server does.
func unknownPath(err error, path string) bool {
	refused := (*Refusal)(nil)
	return errors.As(err, &refused) && (refused.Status == http.StatusNotFound || strings.Contains(refused.Msg, path) && strings.Contains(refused.Msg, "not found"))
}

// Kill ends all runs of a job at the executor.
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
		err = &Refusal{Code: a.Code, Msg: a.Msg}
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
	client := c.http
	if t.Fresh {
		client = c.fresh
	}
	resp, err := client.Do(req)
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
	}
	if status := resp.StatusCode; status/100 == 2 {
		return data, nil
	} else if what := fmt.Sprintf("the answer of %s%s has the HTTP status %s", t.Address, path, resp.Status); status/100 == 4 {
		return nil, &Refusal{Code: status, Msg: what, Status: status}
	} else {
		return nil, &StatusError{status, what}
	}
}

// Forbidden reports whether an error means that the address may not be called.
func Forbidden(err error) bool {
	forbidden := (*outbound.ForbiddenError)(nil)
	return errors.As(err, &forbidden)
}
