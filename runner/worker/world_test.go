package worker

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/schema"
	"github.com/carillon-scheduler/carillon/job"
)

// world has fake workers.
type world struct {
	t       *testing.T
	workers *Workers
	log     *operatorLog
}

// config returns one for a fake worker of a mode.
func config(log *operatorLog, mode ...string) Config {
	return Config{Command: append([]string{os.Args[0], "fake"}, mode...), Logger: slog.New(slog.NewTextHandler(log, nil)), KillAfter: 10 * time.Second}
}

// newWorld starts the workers, which end with the test.
func newWorld(t *testing.T, change func(*Config), mode ...string) *world {
	t.Helper()
	log := newOperatorLog()
	cfg := config(log, mode...)
	if change != nil {
		change(&cfg)
	}
	w, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return &world{t, w, log}
}

// do does a run, and returns what became of it.
func (w *world) do(params puppet) executor.Rehearsed {
	w.t.Helper()
	return w.rehearse(w.t.Context(), "puppet", params, nil)
}

func (w *world) rehearse(ctx context.Context, handler string, params any, secrets map[string]string, change ...func(*bus.Trigger)) executor.Rehearsed {
	w.t.Helper()
	e, err := executor.Detached(executor.Config{Group: "g", Schemas: schema.JSON{}})
	if err != nil {
		w.t.Error(err)
		return executor.Rehearsed{}
	}
	w.workers.Register(e)
	data, err := json.Marshal(params)
	if err != nil {
		w.t.Error(err)
	}
	fire := time.Date(2026, time.January, 5, 2, 0, 0, 0, time.UTC)
	t := &bus.Trigger{
		RunID: job.FireRunID("g/job", fire.UnixMilli(), job.CauseSchedule), Job: "g/job", Version: 3, Attempt: 1, Cause: job.CauseSchedule, FireTime: fire, CommittedAt: fire,
		TriggerBody: bus.TriggerBody{Task: job.Task{Handler: handler}},
	}
	t.Params = data
	for name := range secrets {
		if t.Task.Secrets == nil {
			t.Task.Secrets = map[string]string{}
		}
		t.Task.Secrets[name] = name
	}
	for _, f := range change {
		f(t)
	}
	r, err := e.Rehearse(ctx, t, secrets)
	if err != nil {
		w.t.Error(err)
	}
	return r
}

// later is a run that is done in the background.
type later struct {
	cancel context.CancelCauseFunc
	end    chan executor.Rehearsed
}

func (w *world) begin(params puppet, secrets map[string]string, change ...func(*bus.Trigger)) *later {
	ctx, cancel := context.WithCancelCause(w.t.Context())
	l := &later{cancel, make(chan executor.Rehearsed, 1)}
	go func() { l.end <- w.rehearse(ctx, "puppet", params, secrets, change...) }()
	return l
}

// want checks how a run ended.
func want(t *testing.T, r executor.Rehearsed, status job.Status, message string) {
	t.Helper()
	if r.Status != status || !strings.Contains(r.Message, message) || message == "" && r.Message != "" {
		t.Errorf("ended as %q with message %q; want %q, %q", r.Status, r.Message, status, message)
	}
}

// logOf returns the lines of a run, without those of the executor.
func logOf(r executor.Rehearsed) string {
	var b strings.Builder
	for _, line := range r.Lines {
		if line.Output != bus.OutputSystem {
			b.WriteString(string(line.Output) + " " + string(line.Level) + ": " + line.Text + "\n")
		}
	}
	return b.String()
}

// operatorLog keeps what the operator is told.
type operatorLog struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{} // closed by the next line, which makes a new one
}

func newOperatorLog() *operatorLog { return &operatorLog{more: make(chan struct{})} }

// Write implements io.Writer.
func (l *operatorLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.more)
	l.more = make(chan struct{})
	return l.text.Write(p)
}

// waitFor waits until the log has a text.
func (l *operatorLog) waitFor(t *testing.T, text string) {
	t.Helper()
	for {
		l.mu.Lock()
		all, more := l.text.String(), l.more
		l.mu.Unlock()
		if strings.Contains(all, text) {
			return
		}
		select {
		case <-more:
		case <-t.Context().Done():
			t.Fatalf("no %q in\n%s", text, all)
		}
	}
}

func done(result string) string { return `{"type":"result","id":"ID","result":` + result + `}` }
