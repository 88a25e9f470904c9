package runnertest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

// World is a bus with an executor of group "g" on it. It is for one goroutine.
type World struct {
	Conn *cluster.Conn // a witness's

	t      *testing.T
	ended  *nats.Subscription
	logged *nats.Subscription
	n      int
}

// New starts the executor, on which register has registered what does the runs. All
// ends with the test.
func New(t *testing.T, cfg executor.Config, register func(*executor.Executor)) *World {
	t.Helper()
	broker := bustest.NewBroker(t)
	w := &World{t: t, Conn: clustertest.Setup(t, broker, "witness", 4)}
	if err := w.Conn.Groups().Setup(t.Context(), cluster.Group{Group: "g", HasRouted: true}); err != nil {
		t.Fatal(err)
	}
	w.ended = w.subscribe("evt.*.g")
	w.logged = w.subscribe("log.g.*")

	cfg.Group = "g"
	e, err := executor.New(clustertest.Connect(t, broker, "executor").Conn, cfg)
	if err != nil {
		t.Fatal(err)
	}
	register(e)
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- e.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *World) subscribe(subject string) *nats.Subscription {
	w.t.Helper()
	sub, err := w.Conn.NC.SubscribeSync(subject)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		w.t.Fatal(err)
	}
	return sub
}

// Begin publishes a trigger for task, of job "g/job", changed by change.
func (w *World) Begin(task job.Task, change ...func(*bus.Trigger)) *bus.Trigger {
	w.t.Helper()
	w.n++
	fire := time.Date(2026, time.January, 5, 2, 0, w.n, 0, time.UTC)
	t := &bus.Trigger{
		RunID: job.FireRunID("g/job", fire.UnixMilli(), job.CauseSchedule), Job: "g/job", Version: 3, Shard: job.Name("g/job").Shard(4),
		Attempt: 1, Cause: job.CauseSchedule, FireTime: fire, CommittedAt: fire, TriggerBody: bus.TriggerBody{Task: task},
	}
	for _, f := range change {
		f(t)
	}
	body, err := t.Encode()
	if err != nil {
		w.t.Fatal(err)
	}
	m := bustest.Trigger(w.Conn.Tokens(), bus.SubjectTrigger(t.Shard, "g"), t, body)
	if _, err := w.Conn.JS.PublishMsg(w.t.Context(), m); err != nil {
		w.t.Fatal(err)
	}
	return t
}

// patience is how long a test waits for what is certain to come: no machine is as slow.
const patience = 10 * time.Minute

// End waits for the end of the only run.
func (w *World) End() *bus.Event {
	w.t.Helper()
	for {
		m, err := w.ended.NextMsg(patience)
		if err != nil {
			w.t.Fatal(err)
		}
		var e bus.Event
		if err := json.Unmarshal(m.Data, &e); err != nil {
			w.t.Fatal(err)
		}
		if e.Kind == bus.EventFinished {
			return &e
		}
	}
}

// Line waits for the next message of the log, and returns its first line.
func (w *World) Line() bus.LogLine {
	w.t.Helper()
	m, err := w.logged.NextMsg(patience)
	if err != nil {
		w.t.Fatal(err)
	}
	var l bus.Log
	if err := json.Unmarshal(m.Data, &l); err != nil {
		w.t.Fatal(err)
	}
	return l.Lines[0]
}

// Run does task and returns how it ended and what it logged, a line each with its
// output in front, the executor's own lines left out.
func (w *World) Run(task job.Task, change ...func(*bus.Trigger)) (*bus.Event, string) {
	w.t.Helper()
	t := w.Begin(task, change...)
	e := w.End()
	var text strings.Builder
	for _, line := range w.Lines(t.RunID) {
		if line.Output != bus.OutputSystem {
			fmt.Fprintf(&text, "%s: %s\n", line.Output, line.Text)
		}
	}
	return e, text.String()
}

// Lines returns all that is stored of a run's log.
func (w *World) Lines(run job.RunID) []bus.LogLine {
	w.t.Helper()
	var all []bus.LogLine
	err := w.Conn.Scan(w.t.Context(), bus.StreamLog, "log.g", func(s *jet.Stored) bool {
		var l bus.Log
		if err := json.Unmarshal(s.Data, &l); err != nil {
			w.t.Error(err)
		}
		if l.RunID == run {
			all = append(all, l.Lines...)
		}
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// Timeout gives a trigger a timeout.
func Timeout(d time.Duration) func(*bus.Trigger) {
	return func(t *bus.Trigger) { t.Timeout = job.Duration(d) }
}

// Params gives a trigger parameters, as JSON.
func Params(text string) func(*bus.Trigger) {
	return func(t *bus.Trigger) { t.Params = json.RawMessage(text) }
}

// WantEnd checks how a run ended: its status, its exit code (-1 for none) and a part
// of its message.
func WantEnd(t *testing.T, e *bus.Event, status job.Status, code int, message string) {
	t.Helper()
	got := -1
	if e.ExitCode != nil {
		got = *e.ExitCode
	}
	if e.Status != status || got != code || !strings.Contains(e.Message, message) {
		t.Errorf("ended as %s, code %d, message %q; want %s, %d, %q", e.Status, got, e.Message, status, code, message)
	}
}
