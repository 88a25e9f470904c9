package ping

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/internal/build"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// tokenPrefix begins a ping token, which belongs to one job. Others are API tokens.
	tokenPrefix = "carillon_ping_"
	// maxAge is the greatest age that a server takes.
	maxAge = 7 * 24 * time.Hour
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 64 << 10
	// oneTry bounds a request and its answer.
	oneTry = 5 * time.Second
)

// Server is where pings are sent, and by which token. It is safe for concurrent use.
type Server struct {
	address string
	token   string
	client  *http.Client
}

// NewServer returns a server at an address such as https://carillon.example.com. ca is the file of the
// authority that signed its certificate, "" for those of the system. Nothing is sent yet.
func NewServer(address, token, ca string) (*Server, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, job.Invalid("server", "%q must be an address such as https://carillon.example.com", address)
	}
	s := &Server{address: strings.TrimSuffix(address, "/"), token: token}
	s.client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if ca == "" {
		return s, nil
	}
	text, err := os.ReadFile(ca) //nolint:gosec // the file that the person names
	if err != nil {
		return nil, fmt.Errorf("read certificate authorities: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a system without any
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, job.Invalid("ca", "%s has no certificate in PEM", ca)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one, in package http
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	s.client.Transport = transport
	return s, nil
}

// RefusedError is the error of a ping that the server will refuse again, if nobody changes anything.
type RefusedError struct {
	Status int // of HTTP
	Reason string
}

func (e *RefusedError) Error() string { return e.Reason }

// BusyError is the error of a ping that the server does not take now, since there were too many.
type BusyError struct {
	Reason string
	After  time.Duration // the server takes none before, 0 if it did not say
}

func (e *BusyError) Error() string { return e.Reason }

// Send sends a ping of what happened so long ago, once. It returns nil when the server has stored it. The
// error is a *RefusedError if trying again is of no use, and a *BusyError if it is of none for a while.
func (s *Server) Send(ctx context.Context, p *Ping, age time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, oneTry, fmt.Errorf("no answer from %s in %v", s.address, oneTry))
	defer cancel()
	req, err := s.request(ctx, p, min(max(age, 0), maxAge))
	if err != nil {
		return fmt.Errorf("send ping: %w", err)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		return fmt.Errorf("send ping to %s: %w", s.address, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("send ping to %s: %w", s.address, err)
	}
	return s.judge(resp, body)
}

// judge returns nil for the answer to a ping that was stored. Another program, or an older server, may
// answer 200 to everything: only the id of the ping shows that it was taken.
func (s *Server) judge(resp *http.Response, body []byte) error {
	status := resp.StatusCode
	var answer struct {
		Ping   string `json:"ping"`
		Detail string `json:"detail"`
		Title  string `json:"title"`
	}
	_ = json.Unmarshal(body, &answer)
	if status == http.StatusOK && answer.Ping != "" {
		return nil
	}
	why := fmt.Sprintf("%s answered %d %s", s.address, status, http.StatusText(status))
	switch {
	case answer.Detail != "":
		why += ": " + answer.Detail
	case status < http.StatusMultipleChoices:
		why += " without the id of a ping; is another program listening there?"
	}
	switch {
	case status == http.StatusTooManyRequests:
		after, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // or a date, which ours do not send
		return &BusyError{Reason: why, After: time.Duration(min(max(after, 0), 1<<20)) * time.Second}
	case status >= http.StatusInternalServerError, status == http.StatusRequestTimeout:
		return errors.New(why)
	}
	return &RefusedError{Status: status, Reason: why}
}

// request returns the request for a ping: by the ping token of its job, or by an API token.
func (s *Server) request(ctx context.Context, p *Ping, age time.Duration) (*http.Request, error) {
	address, kind, body := s.address+"/ping/"+string(p.Kind)+"?"+p.query(age).Encode(), "text/plain; charset=utf-8", p.Output
	if !strings.HasPrefix(s.token, tokenPrefix) {
		address = s.address + "/api/v1/jobs/" + p.Job.Group() + "/" + p.Job.Short() + "/ping"
		kind = "application/json"
		var err error
		if body, err = json.Marshal(p.document(age)); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", "carillon-watch/"+build.Version())
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	return req, nil
}

// query returns a ping as the query of an address.
func (p *Ping) query(age time.Duration) url.Values {
	q := url.Values{}
	for name, value := range p.document(age) {
		switch value := value.(type) {
		case string:
			q.Set(name, value)
		case int:
			q.Set(name, strconv.Itoa(value))
		case float64:
			q.Set(name, strconv.FormatFloat(value, 'f', -1, 64))
		}
	}
	q.Del("kind")   // is in the path
	q.Del("output") // is the body
	return q
}

// document returns a ping as JSON has it.
func (p *Ping) document(age time.Duration) map[string]any {
	d := map[string]any{"kind": string(p.Kind), "run": p.Run, "id": p.ID, "age": seconds(age)}
	if p.Took > 0 {
		d["took"] = seconds(p.Took)
	}
	if p.Exit != nil {
		d["exit"] = *p.Exit
	}
	if p.Offset != nil {
		d["offset"] = *p.Offset
	}
	for name, text := range map[string]string{"message": cut(p.Message, maxMessage), "host": p.Host} {
		if text != "" {
			d[name] = text
		}
	}
	if len(p.Output) > 0 {
		d["output"] = strings.ToValidUTF8(string(p.Output), string(utf8.RuneError))
	}
	return d
}

// seconds returns a duration in seconds, of whole milliseconds.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }
