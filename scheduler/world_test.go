package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/scheduler"
)

// start is when worlds begin, unless a test says otherwise.
var start = time.Date(2026, time.January, 5, 0, 0, 30, 0, time.UTC)

// world is a broker with scheduler nodes, in a bubble.
type world struct {
	tracer trace.TracerProvider
	log    *slog.Logger // of nodes that are started; nil is none
	t      *testing.T
	broker *bustest.Broker
	conn   *cluster.Conn
	nodes  map[string]*node
	assets cluster.Assets
	skews  map[string]time.Duration // by how much the clocks of nodes are wrong
	mu     sync.Mutex               // of skews
	// claimSkew is by how much the clocks of nodes are wrong at the moment at which they claim a shard.
	claimSkew time.Duration

	groupWaiting int           // how many runs of a group may wait; 0 is the default
	keepEvents   time.Duration // for how long events stay that all have read; 0 is the default
}

type node struct {
	*scheduler.Scheduler
	conn    *cluster.Conn
	metrics *prometheus.Registry
	stop    context.CancelFunc
	done    chan error
}

func run(t *testing.T, f func(w *world)) {
	t.Helper()
	runAt(t, start, 8, f)
}

func runAt(t *testing.T, at time.Time, shards int, f func(w *world)) {
	t.Helper()
	runPartitioned(t, at, shards, 1, f)
}

// runPartitioned is runAt on a broker with so many partitions.
func runPartitioned(t *testing.T, at time.Time, shards int, n bus.Partitions, f func(w *world)) {
	t.Helper()
	bustest.Run(t, at, func(t *testing.T) {
		w := &world{t: t, broker: bustest.NewBroker(t), nodes: map[string]*node{}}
		w.conn = w.connect("test")
		w.assets = cluster.Assets{Shards: shards, Partitions: n, TrigBytes: 256 << 20, EvtBytes: 64 << 20, LogBytes: 64 << 20}
		w.setup()
		f(w)
	})
}

func (w *world) setup() {
	w.t.Helper()
	if err := w.conn.Setup(w.t.Context(), w.assets); err != nil {
		w.t.Fatal(err)
	}
}

// limit sets how large a stream may be, as an operator does.
func (w *world) limit(stream string, most int64) {
	w.t.Helper()
	info, err := w.conn.Info(w.t.Context(), stream)
	if err != nil {
		w.t.Fatal(err)
	}
	info.Config.MaxBytes = most
	if _, err := w.conn.JS.UpdateStream(w.t.Context(), info.Config); err != nil {
		w.t.Fatal(err)
	}
}

// state returns the state of a stream.
func (w *world) state(stream string) jetstream.StreamState {
	w.t.Helper()
	s, err := w.conn.JS.Stream(w.t.Context(), stream)
	if err != nil {
		w.t.Fatal(err)
	}
	return s.CachedInfo().State
}

func (w *world) connect(name string) *cluster.Conn {
	w.t.Helper()
	return w.connectBy(name, w.broker.Dialer(name))
}

func (w *world) connectBy(name string, way nats.InProcessConnProvider) *cluster.Conn {
	w.t.Helper()
	conn, err := cluster.Connect(jet.Config{Name: name, Options: []nats.Option{nats.InProcessServer(way)}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(conn.NC.Close)
	return conn
}

func (w *world) startNode(name string) {
	w.t.Helper()
	conn := w.connect(name)
	if err := conn.Open(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.startNodeOn(name, conn)
}

// startNodeOn is startNode on a connection that the test has made and opened.
func (w *world) startNodeOn(name string, conn *cluster.Conn) {
	w.t.Helper()
	log := w.log
	if os.Getenv("CARILLON_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	metrics := prometheus.NewRegistry()
	s, err := scheduler.New(conn, scheduler.Config{Node: name, Logger: log, Registerer: metrics, Tracer: w.tracer, GroupWaiting: w.groupWaiting})
	if err != nil {
		w.t.Fatal(err)
	}
	if w.keepEvents > 0 {
		s.KeepEvents(w.keepEvents)
	}
	s.SkewClock(func() time.Duration {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.claimSkew != 0 && readsClockToClaim() {
			return w.claimSkew
		}
		return w.skews[name]
	})
	ctx, stop := context.WithCancel(w.t.Context())
	n := &node{Scheduler: s, conn: conn, metrics: metrics, stop: stop, done: make(chan error, 1)}
	w.nodes[name] = n
	go func() { n.done <- s.Run(ctx) }()
	w.t.Cleanup(func() {
		if w.nodes[name] == n {
			w.stopNode(name)
		}
	})
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

// killNode ends a node as a crash does: the connection is gone before it can say
// anything.
func (w *world) killNode(name string) {
	w.t.Helper()
	n := w.nodes[name]
	delete(w.nodes, name)
	n.conn.NC.Close()
	n.stop()
	if err := <-n.done; err != nil {
		w.t.Errorf("node %s: %v", name, err)
	}
}

// fire is a line of a record that stands for one fire, with when it was decided.
type fire struct {
	journal.Decided
	at    time.Time
	node  string
	epoch uint64
}

// fires returns what was decided about a job, a line a fire, by fire time. Fires that share a line
// must be every apart.
func (w *world) fires(name job.Name, every time.Duration) []fire {
	w.t.Helper()
	return w.firesOf(every, name)[name]
}

// firesOf is fires of many jobs, for which it reads the streams once.
func (w *world) firesOf(every time.Duration, jobs ...job.Name) map[job.Name][]fire {
	w.t.Helper()
	all := make(map[job.Name][]fire, len(jobs))
	for _, n := range jobs {
		all[n] = nil
	}
	w.records(func(r *journal.Record, d journal.Decided) {
		if _, asked := all[d.Job]; !asked {
			return
		}
		for i := range d.Count {
			one := d
			one.Count, one.FireTime = 1, d.FireTime.Add(time.Duration(i)*every)
			all[d.Job] = append(all[d.Job], fire{Decided: one, at: r.At, node: r.Node, epoch: r.Epoch})
		}
		if last := d.FireTime.Add(time.Duration(d.Count-1) * every); d.Count > 1 && !last.Equal(d.Until) {
			w.t.Errorf("%s: %d fires from %v to %v are not every %v", d.Job, d.Count, d.FireTime, d.Until, every)
		}
	})
	for _, fires := range all {
		slices.SortStableFunc(fires, func(a, b fire) int { return a.FireTime.Compare(b.FireTime) })
	}
	return all
}

// wantEachOnce checks that every fire of secondly jobs from first on was decided, in order,
// until a second ago, and none twice. It reads the streams once, whatever the number of jobs.
func (w *world) wantEachOnce(first time.Time, jobs ...job.Name) map[job.Name][]fire {
	w.t.Helper()
	all := w.firesOf(time.Second, jobs...)
	for _, n := range jobs {
		w.wantEverySecond(n, first, all[n])
	}
	w.wantTriggersOnce()
	return all
}

// wantTriggersOnce checks that no run was triggered twice.
func (w *world) wantTriggersOnce() {
	w.t.Helper()
	ids := w.triggers()
	slices.Sort(ids)
	if n := len(ids); n != len(slices.Compact(ids)) {
		w.t.Errorf("a run was triggered twice: %v", ids)
	}
}

// wantEverySecond checks that all fires of a secondly job are there, from next until a second ago.
func (w *world) wantEverySecond(name job.Name, next time.Time, all []fire) {
	w.t.Helper()
	for _, f := range all {
		if !f.FireTime.Equal(next) {
			w.t.Errorf("%s: decided %v, want %v", name, f.FireTime.Format(time.TimeOnly), next.Format(time.TimeOnly))
			return
		}
		next = next.Add(time.Second)
	}
	if time.Since(next) > time.Second {
		w.t.Errorf("%s: nothing decided from %v on, and it is %v", name, next.Format(time.TimeOnly), time.Now().UTC().Format(time.TimeOnly))
	}
}

// longest returns the greatest time from a fire's instant to the decision about it.
func longest(all []fire) (delay time.Duration) {
	for _, f := range all {
		delay = max(delay, f.at.Sub(f.FireTime))
	}
	return delay
}

// owned returns how many shards each node fires for, by name.
func (w *world) owned() map[string]int {
	m := map[string]int{}
	for name, n := range w.nodes {
		m[name] = n.Owned()
	}
	return m
}

// put saves a job as of now.
func (w *world) put(name job.Name, s job.Schedule, change ...func(*job.Job)) (revision uint64) {
	w.t.Helper()
	j := job.Job{Job: name, Schedule: s, Task: job.Task{Handler: "h"}}
	for _, c := range change {
		c(&j)
	}
	j = j.WithDefaults()
	if err := j.Validate(); err != nil {
		w.t.Fatal(err)
	}
	entry, _, err := w.conn.Jobs().Put(w.t.Context(), j, cluster.Edit{At: time.Now()})
	if err != nil {
		w.t.Fatal(err)
	}
	return entry.Revision
}

func cron(text string) job.Schedule { return job.Schedule{Cron: text} }

// tripwire is a way to the broker that calls trip when the client has written so many
// times.
type tripwire struct {
	nats.InProcessConnProvider
	left atomic.Int64
	trip func()
}

func (t *tripwire) InProcessConn() (net.Conn, error) {
	c, err := t.InProcessConnProvider.InProcessConn()
	return tripConn{c, t}, err
}

type tripConn struct {
	net.Conn
	t *tripwire
}

func (c tripConn) Write(p []byte) (int, error) {
	if c.t.left.Add(-1) == 0 {
		c.t.trip()
	}
	return c.Conn.Write(p)
}

// decided returns what the records say, oldest first, as "job fire-time status cause".
func (w *world) decided() []string {
	w.t.Helper()
	var all []string
	w.records(func(_ *journal.Record, d journal.Decided) {
		line := fmt.Sprintf("%s %s %s %s", d.Job, d.FireTime.Format("15:04:05"), d.Status, d.Cause)
		if d.Count > 1 {
			line += fmt.Sprintf(" x%d", d.Count)
		}
		all = append(all, line)
	})
	return all
}

// records calls yield for each line of each record, oldest first within a partition.
func (w *world) records(yield func(*journal.Record, journal.Decided)) {
	w.t.Helper()
	w.scan("rec.*", func(m *jet.Stored) {
		r, err := journal.DecodeRecord(m.Header, m.Data)
		if err != nil {
			w.t.Fatal(err)
		}
		if err := r.Each(func(d journal.Decided) { yield(r, d) }); err != nil {
			w.t.Fatal(err)
		}
	})
}

// triggers returns the ids of the runs whose triggers are on the stream.
func (w *world) triggers() []job.RunID {
	w.t.Helper()
	var ids []job.RunID
	w.scan("trig.>", func(m *jet.Stored) {
		tr, err := bus.DecodeTrigger(m.Header, m.Data)
		if err != nil {
			w.t.Fatal(err)
		}
		ids = append(ids, tr.RunID)
	})
	return ids
}

// scan calls yield for what the streams of triggers have on subjects that match filter.
func (w *world) scan(filter string, yield func(*jet.Stored)) {
	w.t.Helper()
	for _, stream := range w.conn.Trigs() {
		err := w.conn.Scan(w.t.Context(), stream, filter, func(m *jet.Stored) bool { yield(m); return true })
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) wantDecided(want ...string) {
	w.t.Helper()
	got := w.decided()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.t.Errorf("decided:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	w.wantTriggersOnce()
}
