package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/scheduler/dispatch"
)

var start = time.Date(2026, time.January, 5, 2, 0, 0, 0, time.UTC)

// world is a bus, on virtual time, with the group "g" on it.
type world struct {
	t      *testing.T
	broker *bustest.Broker
	conn   *cluster.Conn
	n      int // triggers published

	mu   sync.Mutex
	runs []string // "instance job", as they begin
}

const shards = 4

func run(t *testing.T, f func(w *world)) {
	t.Helper()
	runPartitioned(t, 1, f)
}

// runPartitioned is run on a bus with so many partitions.
func runPartitioned(t *testing.T, n bus.Partitions, f func(w *world)) {
	t.Helper()
	bustest.Run(t, start, func(t *testing.T) {
		w := &world{t: t, broker: bustest.NewBroker(t)}
		w.conn = clustertest.SetupAs(t, w.broker, "test", cluster.Assets{Shards: shards, Partitions: n})
		w.group("g")
		f(w)
	})
}

func (w *world) group(name string) {
	w.t.Helper()
	if err := errors.Join(w.conn.Groups().Route(w.t.Context(), name), w.conn.Groups().Setup(w.t.Context(), cluster.Group{Group: name, HasRouted: true})); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) connect(name string) *cluster.Conn {
	w.t.Helper()
	return clustertest.Open(w.t, w.broker, name)
}

// dispatcher runs one, and returns how to stop it in an orderly way and how to kill
// it.
func (w *world) dispatcher(node string, change ...func(*dispatch.Dispatcher)) (stop, kill func()) {
	w.t.Helper()
	conn := w.connect(node)
	if err := conn.Open(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	var log *slog.Logger
	if os.Getenv("CARILLON_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	d, err := dispatch.New(conn, dispatch.Config{Node: node, Logger: log})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range change {
		c(d)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	over := make(chan struct{})
	go func() { defer close(over); d.Run(ctx) }()
	stop = func() { cancel(); <-over }
	w.t.Cleanup(stop)
	synctest.Wait()
	return stop, func() { conn.NC.Close(); stop() }
}

// instance is an executor of some group.
type instance struct {
	*executor.Executor
	conn *cluster.Conn
	stop func()
	over chan struct{}
}

// executor runs one whose handler "h" takes so long.
func (w *world) executor(name string, takes time.Duration, change ...func(*executor.Config)) *instance {
	w.t.Helper()
	cfg := executor.Config{Group: "g", Instance: name, Slots: 4, Grace: -1}
	names := []string{"h"}
	for _, c := range change {
		c(&cfg)
	}
	if also, ok := cfg.Labels["handles"]; ok {
		names, cfg.Labels = append(names, also), nil
	}
	conn := w.connect(name)
	e, err := executor.New(conn.Conn, cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	h := executor.HandlerFunc(func(ctx context.Context, r *executor.Run) (any, error) {
		w.mu.Lock()
		w.runs = append(w.runs, name+" "+r.Job().Short())
		w.mu.Unlock()
		timer := time.NewTimer(takes)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	})
	for _, handler := range names {
		e.Handle(handler, h)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	i := &instance{Executor: e, conn: conn, over: make(chan struct{})}
	go func() {
		defer close(i.over)
		if err := e.Run(ctx); err != nil {
			w.t.Errorf("executor %s: %v", name, err)
		}
	}()
	i.stop = func() { cancel(); <-i.over }
	w.t.Cleanup(i.stop)
	synctest.Wait()
	return i
}

// die ends an instance as a crash does: the connection is gone before it can say
// anything.
func (i *instance) die() {
	i.conn.NC.Close()
	i.stop()
	synctest.Wait() // until the server knows that it has gone
}

func oneSlot(c *executor.Config) { c.Slots = 1 }

func labels(l job.Labels) func(*executor.Config) { return func(c *executor.Config) { c.Labels = l } }

// handles adds a handler of that name, which does what "h" does.
func handles(name string) func(*executor.Config) {
	return func(c *executor.Config) { c.Labels = job.Labels{"handles": name} }
}

func of(group string) func(*executor.Config) { return func(c *executor.Config) { c.Group = group } }

// trigger publishes a routed trigger for handler h.
func (w *world) trigger(r job.Route, change ...func(*bus.Trigger)) *bus.Trigger {
	w.t.Helper()
	w.n++
	now := time.Now().UTC().Truncate(time.Millisecond)
	t := &bus.Trigger{
		Job: "g/job", Version: 1, Attempt: 1, Cause: job.CauseSchedule, FireTime: now, CommittedAt: now,
		TriggerBody: bus.TriggerBody{Delivery: job.AtLeastOnce, Route: r, Task: job.Task{Handler: "h"}},
	}
	for _, c := range change {
		c(t)
	}
	t.RunID, t.Shard = job.FireRunID(t.Job, now.UnixMilli()+int64(w.n), job.CauseSchedule), t.Job.Shard(shards)
	body, err := t.Encode()
	if err != nil {
		w.t.Fatal(err)
	}
	subject := bus.SubjectPriority(t.Shard, t.Priority, t.Job.Group())
	if !t.Routed() {
		subject = bus.SubjectTrigger(t.Shard, t.Job.Group())
	}
	m := bustest.Trigger(w.conn.Tokens(), subject, t, body)
	if _, err := w.conn.JS.PublishMsg(w.t.Context(), m); err != nil {
		w.t.Fatal(err)
	}
	return t
}

func atMostOnce(t *bus.Trigger) { t.Delivery = job.AtMostOnce }

func named(name job.Name) func(*bus.Trigger) { return func(t *bus.Trigger) { t.Job = name } }

// began returns which runs began since it was asked last.
func (w *world) began() string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.runs
	w.runs = nil
	return strings.Join(all, ", ")
}

func (w *world) wantBegan(want string) {
	w.t.Helper()
	if got := w.began(); got != want {
		w.t.Errorf("began: %q, want %q", got, want)
	}
}

// told returns what EVT says about a run, in order, without instants.
func (w *world) told(t *bus.Trigger) []string {
	w.t.Helper()
	var all []string
	err := w.conn.Scan(w.t.Context(), w.conn.EvtOf(t.Shard), "evt.>", func(s *jet.Stored) bool {
		for e, err := range w.conn.Events().Decode(s.Subject, s.Header, s.Data, s.At) {
			if err != nil {
				w.t.Error(err)
			} else if e.RunID == t.RunID {
				words := []string{string(e.Kind), string(e.Status), e.Instance, e.Message + e.RouteReason + e.Text}
				all = append(all, strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " "))
			}
		}
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// wantTold checks what EVT says about a run.
func (w *world) wantTold(t *bus.Trigger, want ...string) {
	w.t.Helper()
	if got := w.told(t); !slices.Equal(got, want) {
		w.t.Errorf("told:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// wantTriggers checks how many triggers are not acknowledged.
func (w *world) wantTriggers(want int) {
	w.t.Helper()
	synctest.Wait() // until the server has deleted what was acknowledged
	got := 0
	for _, stream := range w.conn.Trigs() {
		if err := w.conn.Scan(w.t.Context(), stream, "trig.>", func(*jet.Stored) bool { got++; return true }); err != nil {
			w.t.Fatal(err)
		}
	}
	if got != want {
		w.t.Errorf("triggers on the bus: %d, want %d", got, want)
	}
}

// ask sends a request to instance a, and returns its answer and state.
func (w *world) ask(verb string) string {
	w.t.Helper()
	beat, err := w.conn.Instances().Heartbeat(w.t.Context(), "g", "a")
	if err != nil {
		return err.Error()
	}
	reply, err := w.conn.AskInstance(w.t.Context(), beat.Address(), verb, nil, []byte("{}"), time.Second)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s, %s %d/%d", reply.Answer, reply.State, reply.Running, reply.Slots)
}

// heartbeat writes one, as an instance would.
func (w *world) heartbeat(i fleet.Instance) {
	w.t.Helper()
	data, err := json.Marshal(bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Instance: i})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.conn.JS.Publish(w.t.Context(), "$KV."+bus.BucketInst+"."+i.Key(), data); err != nil {
		w.t.Fatal(err)
	}
}

// takeFirst takes a trigger as an instance would that dies with it.
func (w *world) takeFirst(group string) {
	w.t.Helper()
	p := w.conn.NewPuller(1, slog.New(slog.DiscardHandler), bus.Consumer{Stream: bus.StreamTrig, Consumer: bus.ConsumerAny(group)})
	p.Ask(1)
	for m := range p.Inbox() {
		if p.Receive(m) {
			p.Release()
			return
		}
	}
}

// replyTo returns a message that is answered on a subject.
func (w *world) replyTo(subject string) *nats.Msg { return &nats.Msg{Reply: subject} }
