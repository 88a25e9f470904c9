package sdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/schema"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/scheduler/dispatch"
)

var began = time.Date(2026, time.January, 5, 2, 0, 0, 0, time.UTC)

// world is a bus, on virtual time, with the group "g" on it, and a witness who sees
// what is stored.
type world struct {
	t      *testing.T
	broker *bustest.Broker
	conn   *cluster.Conn // the witness's
	assets cluster.Assets
	n      int // triggers published
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := newWorldWithoutServers(t)
	w.dispatcher()
	return w
}

func newWorldWithoutServers(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, broker: bustest.NewBroker(t),
		assets: cluster.Assets{Shards: 4, TrigBytes: 4 << 20, EvtBytes: 512 << 10, LogBytes: 64 << 20},
	}
	w.conn = w.connect("witness")
	if err := w.conn.Setup(t.Context(), w.assets); err != nil {
		t.Fatal(err)
	}
	if err := w.conn.Groups().Setup(t.Context(), cluster.Group{Group: "g", HasRouted: true}); err != nil {
		t.Fatal(err)
	}
	return w
}

// dispatcher runs one, as servers do: triggers that come again are judged there.
func (w *world) dispatcher() {
	w.t.Helper()
	conn := w.connect("server")
	if err := conn.Open(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	d, err := dispatch.New(conn, dispatch.Config{Node: "node"})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(w.t.Context())
	over := make(chan struct{})
	go func() { defer close(over); d.Run(ctx) }()
	w.t.Cleanup(func() { stop(); <-over })
}

// connect returns a connection as programs make it, subject to name's partitions.
func (w *world) connect(name string) *cluster.Conn {
	w.t.Helper()
	return clustertest.Connect(w.t, w.broker, name)
}

// instance is an executor that runs.
type instance struct {
	*executor.Executor
	log  *bytes.Buffer // what it logged; read it while the executor is idle
	stop func()        // asks it to stop and waits until it has
	halt func()        // asks it to stop
	over chan struct{} // closed when it has
}

// start runs an executor whose handlers register adds.
func (w *world) start(name string, cfg executor.Config, register func(e *executor.Executor)) *instance {
	w.t.Helper()
	return w.startOn(w.opened(name), name, cfg, register)
}

// opened returns a connection for an executor. From its first request on, a connection
// listens to all inboxes of one prefix, and the server can no more tell that one of them is
// abandoned: as in programs.
func (w *world) opened(name string) *cluster.Conn {
	w.t.Helper()
	conn := w.connect(name)
	if err := conn.Open(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// startOn is start on a connection that was made before, maybe while NATS was there.
func (w *world) startOn(conn *cluster.Conn, name string, cfg executor.Config, register func(e *executor.Executor)) *instance {
	w.t.Helper()
	var log bytes.Buffer
	cfg.Group, cfg.Instance, cfg.Schemas = "g", name, schema.JSON{}
	cfg.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	e, err := executor.New(conn.Conn, cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	register(e)
	ctx, halt := context.WithCancel(w.t.Context())
	i := &instance{Executor: e, log: &log, halt: halt, over: make(chan struct{})}
	go func() {
		defer close(i.over)
		if err := e.Run(ctx); err != nil {
			w.t.Errorf("executor %s: %v", name, err)
		}
	}()
	i.stop = func() { halt(); <-i.over }
	w.t.Cleanup(i.stop)
	synctest.Wait()
	return i
}

// handler is a registration of one handler, "h".
func handler(f executor.HandlerFunc) func(*executor.Executor) {
	return func(e *executor.Executor) { e.Handle("h", f) }
}

// trigger publishes a trigger for handler h, changed by change, and returns it.
func (w *world) trigger(change ...func(*bus.Trigger)) *bus.Trigger {
	w.t.Helper()
	w.n++
	name := job.Name("g/job")
	now := time.Now().UTC().Truncate(time.Millisecond)
	fire := now.Add(time.Duration(w.n) * time.Millisecond) // each of its own
	t := &bus.Trigger{
		RunID: job.FireRunID(name, fire.UnixMilli(), job.CauseSchedule), Job: name, Version: 3, Shard: name.Shard(w.assets.Shards),
		Attempt: 1, Cause: job.CauseSchedule, FireTime: fire, CommittedAt: now,
		TriggerBody: bus.TriggerBody{Task: job.Task{Handler: "h"}},
	}
	for _, f := range change {
		f(t)
	}
	body, err := t.Encode()
	if err != nil {
		w.t.Fatal(err)
	}
	subject := bus.SubjectTrigger(t.Shard, "g")
	if t.Routed() {
		subject = bus.SubjectRouted(t.Shard, "g")
	}
	m := bustest.Trigger(w.conn.Tokens(), subject, t, body)
	if _, err := w.conn.JS.PublishMsg(w.t.Context(), m); err != nil {
		w.t.Fatal(err)
	}
	return t
}

func atMostOnce(t *bus.Trigger) { t.Delivery = job.AtMostOnce }

func timeout(d time.Duration) func(*bus.Trigger) {
	return func(t *bus.Trigger) { t.Timeout = job.Duration(d) }
}

// events returns what EVT holds.
func (w *world) events() []*bus.Event {
	w.t.Helper()
	var all []*bus.Event
	err := w.conn.Scan(w.t.Context(), bus.StreamEvt, "evt.*.g", func(s *jet.Stored) bool {
		for e, err := range w.conn.Events().Decode(s.Subject, s.Header, s.Data, s.At) {
			if err != nil {
				w.t.Error(err)
				continue
			}
			all = append(all, e)
		}
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// finished returns the only finished event of a run.
func (w *world) finished(id job.RunID) *bus.Event {
	w.t.Helper()
	var found []*bus.Event
	for _, e := range w.events() {
		if e.RunID == id && e.Kind == bus.EventFinished {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		w.t.Fatalf("run %s has %d finished events, want 1", id, len(found))
	}
	return found[0]
}

// wantStatus checks the final status of a run, and that its message has a text.
func (w *world) wantStatus(id job.RunID, status job.Status, message string) {
	w.t.Helper()
	if e := w.finished(id); e.Status != status || !strings.Contains(e.Message, message) {
		w.t.Errorf("run ended as %s with message %q, want %s with %q", e.Status, e.Message, status, message)
	}
}

// wantTriggers checks how many triggers are not acknowledged.
func (w *world) wantTriggers(want int) {
	w.t.Helper()
	synctest.Wait() // until the server has deleted what was acknowledged
	got := 0
	if err := w.conn.Scan(w.t.Context(), bus.StreamTrig, "trig.>", func(*jet.Stored) bool { got++; return true }); err != nil {
		w.t.Fatal(err)
	}
	if got != want {
		w.t.Errorf("triggers on the bus: %d, want %d", got, want)
	}
}

// lines returns what LOG holds of a run.
func (w *world) lines(id job.RunID) []bus.LogLine {
	w.t.Helper()
	var all []bus.LogLine
	err := w.conn.Scan(w.t.Context(), bus.StreamLog, "log.g", func(s *jet.Stored) bool {
		l, err := w.conn.Events().DecodeLog(s.Subject, s.Header, s.Data)
		if err != nil {
			w.t.Error(err)
		} else if l.RunID == id {
			all = append(all, l.Lines...)
		}
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// kill asks the group to end a run, and returns who answered, "" for nobody.
func (w *world) kill(id job.RunID) string {
	w.t.Helper()
	body, err := json.Marshal(bus.KillRequest{RunID: id, By: "ann", Reason: "wrong day"})
	if err != nil {
		w.t.Fatal(err)
	}
	who := ""
	err = w.conn.Instances().Ask(w.t.Context(), "g", bus.VerbKill, body, time.Second, func(r *fleet.InstanceReply) bool {
		if r.Answer == fleet.AnswerAccepted {
			who = r.Instance
		}
		return true
	})
	if err != nil {
		w.t.Error(err)
	}
	return who
}

// change changes the settings of a stream.
func (w *world) change(stream string, change func(*jetstream.StreamConfig)) {
	w.t.Helper()
	s, err := w.conn.JS.Stream(w.t.Context(), stream)
	if err != nil {
		w.t.Fatal(err)
	}
	cfg := s.CachedInfo().Config
	change(&cfg)
	if _, err := w.conn.JS.UpdateStream(w.t.Context(), cfg); err != nil {
		w.t.Fatal(err)
	}
}

// address returns where an instance takes requests.
func (w *world) address(instance string) bus.Address {
	w.t.Helper()
	beat, err := w.conn.Instances().Heartbeat(w.t.Context(), "g", instance)
	if err != nil {
		w.t.Fatal(err)
	}
	return beat.Address()
}

// counter counts the runs that are being done, and the most there were at once.
type counter struct {
	mu              sync.Mutex
	now, most, runs int
}

func (c *counter) enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now++
	c.runs++
	c.most = max(c.most, c.now)
}

func (c *counter) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now--
}

func (c *counter) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs
}

// sleeper returns a handler that sleeps, or returns its context's cause.
func (c *counter) sleeper(d time.Duration) executor.HandlerFunc {
	return func(ctx context.Context, _ *executor.Run) (any, error) {
		c.enter()
		defer c.leave()
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
