package webapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
	"github.com/carillon-scheduler/carillon/webapi/contract"
)

// world is a server with a bus and a log store, and a client that checks each
// response against the contract.
type world struct {
	*testing.T
	broker *bustest.Broker
	conn   *cluster.Conn
	store  logstore.Store
	server *Server
	url    string
	rules  routers.Router
	stop   context.CancelFunc // tells the server to stop
	ended  chan error         // what Run returned
	echoes bool               // requests have any text and instant, which answers repeat
}

const shards = 4

// streamed has the checker of responses take what is streamed for text.
var streamed sync.Once

// newWorld returns a world of its own for a test, which runs beside others from here on.
func newWorld(t *testing.T, configure ...func(*Config, *world)) *world {
	t.Helper()
	t.Parallel()
	return startWorld(t, configure...)
}

// startWorld returns one more world for a test.
func startWorld(t *testing.T, configure ...func(*Config, *world)) *world {
	t.Helper()
	w := &world{T: t, broker: bustest.NewBroker(t), ended: make(chan error, 1)}
	w.conn = clustertest.SetupPatient(t, w.broker, "api", shards)
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"))
	w.check(err)
	t.Cleanup(func() { w.check(store.Close()) })
	w.store = store

	streamed.Do(func() {
		openapi3filter.RegisterBodyDecoder("application/x-ndjson", openapi3filter.FileBodyDecoder)
		openapi3filter.RegisterBodyDecoder("text/event-stream", openapi3filter.FileBodyDecoder)
		openapi3filter.RegisterBodyDecoder("text/html", openapi3filter.FileBodyDecoder)
	})
	w.rules, err = rules()
	w.check(err)
	cfg := Config{Version: "1.2.3", Local: true}
	if cfg.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	for _, f := range configure {
		f(&cfg, w)
	}
	w.server, err = New(w.conn, w.store, cfg)
	w.check(err)
	w.server.users.Users().HashCheaply()
	ctx, cancel := context.WithCancel(t.Context())
	w.stop = cancel
	go func() { w.ended <- w.server.Run(ctx); close(w.ended) }()
	t.Cleanup(func() {
		cancel()
		if err := <-w.ended; err != nil {
			t.Error("Run:", err)
		}
	})
	<-w.server.Listening()
	w.url = "http://" + w.server.Addr().String()
	return w
}

// hasty makes a world wait for the bus no longer than servers do: it is to be away.
func hasty(_ *Config, w *world) {
	w.broker = bustest.NewBroker(w.T)
	w.conn = clustertest.Setup(w.T, w.broker, "api", shards)
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// reply is a response, with its body read.
type reply struct {
	status int
	header http.Header
	text   string
}

// header is one header of a request.
type header struct{ name, value string }

// send makes a request. body is text as it is, or a value for JSON; nil is none.
func (w *world) send(method, path string, body any, headers ...header) reply {
	w.Helper()
	var data []byte
	switch b := body.(type) {
	case nil:
	case string:
		data = []byte(b)
	default:
		var err error
		data, err = json.Marshal(b)
		w.check(err)
	}
	r, err := http.NewRequestWithContext(w.Context(), method, w.url+path, bytes.NewReader(data))
	w.check(err)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		if h.name == "Host" {
			r.Host = h.value
		}
		r.Header.Set(h.name, h.value)
	}
	response, err := http.DefaultClient.Do(r)
	w.check(err)
	defer func() { w.check(response.Body.Close()) }()
	text, err := io.ReadAll(response.Body)
	w.check(err)
	w.keepsContract(r, response, text)
	return reply{response.StatusCode, response.Header, string(text)}
}

// rules returns the contract's routes.
var rules = sync.OnceValues(func() (routers.Router, error) {
	c, err := contract.Load()
	if err != nil {
		return nil, err
	}
	return legacy.NewRouter(c.Doc)
})

func (w *world) keepsContract(r *http.Request, response *http.Response, body []byte) {
	w.Helper()
	known := *r
	u := *r.URL
	known.URL = &u
	known.URL.Scheme, known.URL.Host, known.Host = "", "", ""
	route, params, err := w.rules.FindRoute(&known)
	if err != nil {
		return // a request that no route is for
	}
	// The library's check for 3.1 compiles the schema again for each answer, and takes a fifth of the time
	// of all these tests. That for 3.0 knows all that the contract uses.
	spec, for30 := *route.Spec, *route
	spec.OpenAPI, for30.Spec = "3.0.3", &spec
	if err := openapi3filter.ValidateResponse(w.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: &known, PathParams: params, Route: &for30},
		Status:                 response.StatusCode,
		Header:                 response.Header,
		Body:                   io.NopCloser(bytes.NewReader(body)),
	}); err != nil {
		w.Errorf("%s %s: the response breaks the contract: %v\n%s", r.Method, r.URL.Path, err, body)
	}
	if !w.echoes && bytes.Contains(body, []byte(`"0001-01-01T00:00:00Z"`)) {
		w.Errorf("%s %s: the response has an instant that nothing happened at:\n%s", r.Method, r.URL.Path, body)
	}
	if response.StatusCode < http.StatusBadRequest {
		answered.Store(route.Operation.OperationID, true)
	}
}

// want makes a request, expects a status and reads the body into a T.
func want[T any](w *world, status int, method, path string, body any, headers ...header) (T, http.Header) {
	w.Helper()
	var v T
	a := w.send(method, path, body, headers...)
	// On a busy machine, the bus may answer later than a request waits for it.
	for begun := time.Now(); method == http.MethodGet && a.status == http.StatusServiceUnavailable && status != a.status && time.Since(begun) < patience; {
		a = w.send(method, path, body, headers...)
	}
	if a.status != status {
		w.Fatalf("%s %s: %d, want %d: %s", method, path, a.status, status, a.text)
	}
	if a.text != "" {
		w.check(json.Unmarshal([]byte(a.text), &v))
	}
	return v, a.header
}

// problem makes a request and expects a problem with this status and code, whose
// text has all the given parts.
func (w *world) problem(status int, code, method, path string, body any, parts ...string) {
	w.Helper()
	w.problemWith(nil, status, code, method, path, body, parts...)
}

func (w *world) problemWith(headers []header, status int, code, method, path string, body any, parts ...string) {
	w.Helper()
	a := w.send(method, path, body, headers...)
	var p Problem
	if err := json.Unmarshal([]byte(a.text), &p); err != nil || a.status != status || p.Code != code || p.Status != status {
		w.Errorf("%s %s: %d %s, want %d %s", method, path, a.status, a.text, status, code)
	}
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		w.Errorf("%s %s: Content-Type %q", method, path, got)
	}
	if p.RequestID == "" || p.RequestID != a.header.Get("X-Request-Id") {
		w.Errorf("%s %s: request id %q, in the header %q", method, path, p.RequestID, a.header.Get("X-Request-Id"))
	}
	for _, part := range parts {
		if !strings.Contains(a.text, part) {
			w.Errorf("%s %s: %s has no %q", method, path, a.text, part)
		}
	}
}

// document returns a valid job.
func document(name job.Name, schedule string) map[string]any {
	return map[string]any{"job": name, "schedule": map[string]any{"cron": schedule}, "task": map[string]any{"shell": "echo hello"}}
}

// put saves a job.
func (w *world) put(name job.Name, schedule string) PutJobResult {
	w.Helper()
	result, _ := want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/"+string(name), document(name, schedule))
	return result
}

// owner answers requests to the owners of shards, as a scheduler node would.
func owner[Q, A any](w *world, verb string, answer func(Q) (A, error)) {
	w.Helper()
	sub, err := w.conn.NC.Subscribe("sched.*."+verb, func(m *nats.Msg) {
		var q Q
		if err := json.Unmarshal(m.Data, &q); err != nil {
			w.Error(err)
		}
		a, err := answer(q)
		if err := bus.Respond(m, a, err); err != nil {
			w.Error(err)
		}
	})
	w.check(err)
	w.Cleanup(func() { _ = sub.Unsubscribe() })
}

// heartbeat makes an instance known, as its executor would.
func (w *world) heartbeat(group, instance string, state fleet.InstanceState) {
	w.Helper()
	w.beats(group, instance, state, 0)
}

// beats makes an instance known that runs so much.
func (w *world) beats(group, instance string, state fleet.InstanceState, running int) {
	w.Helper()
	kv, err := w.conn.JS.KeyValue(w.Context(), bus.BucketInst)
	w.check(err)
	i := fleet.Instance{Group: group, Instance: instance, State: state, Kinds: []string{"shell"}, Slots: 4, Running: running, StartedAt: noon, At: noon}
	data, err := json.Marshal(bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Instance: i})
	w.check(err)
	_, err = kv.Put(w.Context(), i.Key(), data)
	w.check(err)
}

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// begun returns the record of a run of name that was due at the given instant.
func begun(name job.Name, at time.Time) logstore.Update {
	return logstore.Update{
		Kind: runlog.KindRecorded, RunID: job.FireRunID(name, at.UnixMilli(), job.CauseSchedule), Job: name, Version: 1, Attempt: 1,
		Cause: job.CauseSchedule, At: at, Status: job.StatusPending, CommittedAt: at,
	}
}

// started returns what instance says of the run of u.
func started(u logstore.Update, instance string) logstore.Update {
	u.Kind, u.Status, u.Instance, u.StartedAt, u.Delivery = runlog.KindStarted, "", instance, u.At.Add(time.Second), 1
	return u
}

// finished returns how the run of u ended, at the given instant.
func finished(u logstore.Update, status job.Status, lines int, at time.Time) logstore.Update {
	u.Kind, u.Status, u.FinishedAt, u.LogLines = runlog.KindFinished, status, at, lines
	return u
}

func (w *world) history(updates ...logstore.Update) {
	w.Helper()
	w.check(w.store.WriteRuns(w.Context(), "", updates))
}

// printed stores lines of the run of u, by seq; the text of each is its seq.
func (w *world) printed(u logstore.Update, from, to int64) {
	w.Helper()
	var lines []runlog.Line
	for seq := from; seq <= to; seq++ {
		lines = append(lines, runlog.Line{
			RunID: u.RunID, Job: u.Job, Attempt: 1, Seq: seq, At: u.At, Level: "info", Output: "stdout", Text: "line " + itoa(seq),
		})
	}
	w.check(w.store.WriteLines(w.Context(), "", lines))
}

// tomorrow returns an instant a day from now.
func tomorrow() string { return time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339) }
