// Package clienttest has a client for tests of applications: it needs no server, keeps the runs that were
// asked for, and ends them as the test wants.
//
//	memory := clienttest.New()
//	memory.End("mail/welcome", client.Succeeded, map[string]any{"sent": true})
//	signUp(memory.Client(), "ada")
//	wishes := memory.Wishes() // one, of job mail/welcome
package clienttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/client"
)

// Wish is a run that was asked for.
type Wish struct {
	RunID   string
	Job     string          // group/name
	Params  json.RawMessage // nil if the job's were to stay
	Labels  map[string]string
	At      time.Time     // zero without client.At
	In      time.Duration // 0 without client.In
	Expires string        // as it was sent: an instant, a duration such as "3600s", or ""
	Key     string
}

// Memory is a server in memory. It is safe for concurrent use.
type Memory struct {
	mu     sync.Mutex
	wishes []Wish
	ended  map[string]end // by job
	states map[string]end // by run
}

type end struct {
	status client.Status
	result any
}

// New returns a server without runs. Until the test calls End, runs succeed at once, without a result. Those
// with a time wait until they are cancelled. Keys are never forgotten.
func New() *Memory { return &Memory{ended: map[string]end{}, states: map[string]end{}} }

// Client returns a client of the server.
func (m *Memory) Client() *client.Client {
	c, err := client.New(client.Config{Server: "http://memory", HTTP: &http.Client{Transport: m}})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return c
}

// Wishes returns the runs that were asked for, the oldest first.
func (m *Memory) Wishes() []Wish {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Wish(nil), m.wishes...)
}

// End sets how the runs of a job end, from the next one on. With client.Running they do not end. result is
// anything that JSON can express; nil is none.
func (m *Memory) End(job string, status client.Status, result any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended[job] = end{status, result}
}

// RoundTrip answers a request of the client.
func (m *Memory) RoundTrip(r *http.Request) (*http.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v1/"), "/")
	status, answer, err := http.StatusNotFound, any(problem("not_found", "there is no "+r.URL.Path)), error(nil)
	switch {
	case r.Method == http.MethodPost && len(path) == 4 && path[3] == "run":
		var sent request
		if err = json.NewDecoder(r.Body).Decode(&sent); err == nil {
			status, answer = m.run(path[1]+"/"+path[2], &sent)
		}
	case r.Method == http.MethodPost && len(path) == 4:
		status, answer, err = m.cancelKeyed(path[1]+"/"+path[2], r.Body)
	case r.Method == http.MethodPost && len(path) == 2:
		status = http.StatusOK
		answer, err = m.runMany(r.Body)
	case r.Method == http.MethodPost && len(path) == 3 && path[2] == "cancel":
		status, answer = m.cancel(path[1])
	case r.Method == http.MethodGet && len(path) == 2:
		status, answer = m.state(path[1])
	case r.Method == http.MethodGet && len(path) == 1:
		status, answer = http.StatusOK, map[string]any{"items": m.waiting(r.URL.Query().Get("job"))}
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("encode the result of a run: %w", err)
	}
	kind := "application/json"
	if status >= http.StatusBadRequest {
		kind = "application/problem+json"
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(bytes.NewReader(text)), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// due returns when a wish that waits is due.
func due(w *Wish) time.Time {
	if w.In != 0 {
		return time.Now().Add(w.In).UTC().Truncate(time.Millisecond)
	}
	return w.At
}

// cancel cancels a run.
func (m *Memory) cancel(id string) (int, any) {
	as, known := m.states[id]
	switch {
	case !known:
		return http.StatusNotFound, problem("not_found", "there is no run "+id)
	case as.status.Ended():
		return http.StatusConflict, problem("conflict", fmt.Sprintf("run %s is %s", id, as.status))
	}
	m.states[id] = end{status: client.Cancelled}
	return http.StatusAccepted, map[string]any{"run_id": id, "found": as.status}
}

// state returns a run.
func (m *Memory) state(id string) (int, any) {
	for i := range m.wishes {
		if m.wishes[i].RunID != id {
			continue
		}
		as := m.states[id]
		attempt := map[string]any{"run_id": id, "attempt": 1, "status": as.status}
		if as.result != nil {
			attempt["result"] = as.result
		}
		return http.StatusOK, map[string]any{"run_id": id, "job": m.wishes[i].Job, "status": as.status, "attempts": []any{attempt}}
	}
	return http.StatusNotFound, problem("not_found", "there is no run "+id)
}

// waiting lists the runs of a job that wait.
func (m *Memory) waiting(job string) []any {
	items := []any{}
	for i := range m.wishes {
		if w := &m.wishes[i]; w.Job == job && m.states[w.RunID].status == client.Queued {
			items = append(items, map[string]any{"run_id": w.RunID, "job": job, "version": 1, "status": client.Queued, "fire_time": due(w)})
		}
	}
	return items
}

func problem(code, detail string) map[string]any {
	return map[string]any{"code": code, "detail": detail}
}
