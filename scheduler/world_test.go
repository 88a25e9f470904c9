package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"carillon/bus"
	"carillon/bus/bustest"
	"carillon/job"
	"carillon/scheduler"
)

// start is when worlds begin, unless a test says otherwise.
var start = time.Date(2026, time.January, 5, 0, 0, 30, 0, time.UTC)

// world is a broker with scheduler nodes, in a bubble.
type world struct {
	t      *testing.T
	broker *bustest.Broker
	conn   *bus.Conn
	nodes  map[string]*node
}

type node struct {
	*scheduler.Scheduler
	conn *bus.Conn
	stop context.CancelFunc
	done chan error
}

func run(t *testing.T, f func(w *world)) { runAt(t, start, 8, f) }

func runAt(t *testing.T, at time.Time, shards int, f func(w *world)) {
	t.Helper()
	bustest.Run(t, at, func(t *testing.T) {
		w := &world{t: t, broker: bustest.NewBroker(t), nodes: map[string]*node{}}
		w.conn = w.connect("test")
		if err := w.conn.Setup(t.Context(), bus.Assets{Shards: shards, TrigBytes: 256 << 20, EvtBytes: 64 << 20, LogBytes: 64 << 20}); err != nil {
			t.Fatal(err)
		}
		f(w)
		for name := range w.nodes {
			w.stopNode(name)
		}
	})
}

func (w *world) connect(name string) *bus.Conn {
	w.t.Helper()
	conn, err := bus.Connect(bus.Config{Name: name, Options: []nats.Option{nats.InProcessServer(w.broker.Dialer(name))}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(conn.NC.Close)
	return conn
}

func (w *world) startNode(name string) *node {
	w.t.Helper()
	conn := w.connect(name)
	if err := conn.Open(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	var log *slog.Logger
	if os.Getenv("CARILLON_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	s, err := scheduler.New(conn, scheduler.Config{Node: name, Logger: log})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(w.t.Context())
	n := &node{Scheduler: s, conn: conn, stop: stop, done: make(chan error, 1)}
	w.nodes[name] = n
	go func() { n.done <- s.Run(ctx) }()
	return n
}

// stopNode stops a node in an orderly way and waits for it.
func (w *world) stopNode(name string) {
	w.t.Helper()
	n := w.nodes[name]
	delete(w.nodes, name)
	n.stop()
	if err := <-n.done; err != nil {
		w.t.Errorf("node %s: %v", name, err)
	}
	n.conn.NC.Close()
}

// put saves a job as of now.
func (w *world) put(name job.Name, s job.Schedule, change ...func(*job.Job)) {
	w.t.Helper()
	j := job.Job{Job: name, Schedule: s, Task: job.Task{Handler: "h"}}
	for _, c := range change {
		c(&j)
	}
	j = j.WithDefaults()
	if err := j.Validate(); err != nil {
		w.t.Fatal(err)
	}
	if _, _, err := w.conn.PutJob(w.t.Context(), j, bus.Edit{At: time.Now()}); err != nil {
		w.t.Fatal(err)
	}
}

func cron(text string) job.Schedule { return job.Schedule{Cron: text} }

// decided returns what the records say, oldest first, as "job fire-time status cause".
func (w *world) decided() []string {
	w.t.Helper()
	var all []string
	err := w.conn.Scan(w.t.Context(), bus.StreamTrig, "rec.*", func(m *bus.Stored) bool {
		r, err := bus.DecodeRecord(m.Header, m.Data)
		if err != nil {
			w.t.Fatal(err)
		}
		if err := r.Each(func(d bus.Decided) {
			line := fmt.Sprintf("%s %s %s %s", d.Job, d.FireTime.Format("15:04:05"), d.Status, d.Cause)
			if d.Count > 1 {
				line += fmt.Sprintf(" x%d", d.Count)
			}
			all = append(all, line)
		}); err != nil {
			w.t.Fatal(err)
		}
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// triggers returns the ids of the runs whose triggers are on the stream.
func (w *world) triggers() []job.RunID {
	w.t.Helper()
	var ids []job.RunID
	err := w.conn.Scan(w.t.Context(), bus.StreamTrig, "trig.>", func(m *bus.Stored) bool {
		tr, err := bus.DecodeTrigger(m.Header, m.Data)
		if err != nil {
			w.t.Fatal(err)
		}
		ids = append(ids, tr.RunID)
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return ids
}

func (w *world) wantDecided(want ...string) {
	w.t.Helper()
	got := w.decided()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.t.Errorf("decided:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	ids := w.triggers()
	slices.Sort(ids)
	if n := len(ids); n != len(slices.Compact(ids)) {
		w.t.Errorf("a run was triggered twice: %v", ids)
	}
}
