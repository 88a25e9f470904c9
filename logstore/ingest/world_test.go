package ingest_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/ingest"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
)

var start = time.Date(2026, time.January, 5, 3, 0, 0, 0, time.UTC)

const (
	shards            = 8
	report   job.Name = "billing/report"
	settled           = 300 * time.Millisecond // within which the store has what was published
	leaseEnd          = jet.LeaseTTL + 2*jet.LeaseRenew
)

// world is a broker and a store, in a bubble.
type world struct {
	t      *testing.T
	broker *bustest.Broker
	conn   *cluster.Conn
	store  *spy
	// maxBatch bounds what ingesters that start write at once; 0 is the default.
	maxBatch int
}

func run(t *testing.T, f func(w *world)) {
	t.Helper()
	runPartitioned(t, 1, f)
}

// runPartitioned is run on a bus with so many partitions.
func runPartitioned(t *testing.T, n bus.Partitions, f func(w *world)) {
	t.Helper()
	bustest.Run(t, start, func(t *testing.T) {
		w := &world{t: t, broker: bustest.NewBroker(t)}
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
		w.store = &spy{Store: store}
		w.conn = clustertest.SetupAs(t, w.broker, "test", cluster.Assets{Shards: shards, Partitions: n})
		f(w)
	})
}

func (w *world) connect(name string) *cluster.Conn {
	w.t.Helper()
	return clustertest.Open(w.t, w.broker, name)
}

// ingester is one process that ingests.
type ingester struct {
	w       *world
	conn    *cluster.Conn
	metrics *prometheus.Registry
	cancel  context.CancelFunc
	done    chan struct{}
	err     error // of Run; set when done is closed
}

func (w *world) start(name string) *ingester {
	w.t.Helper()
	in := &ingester{w: w, conn: w.connect(name), metrics: prometheus.NewRegistry(), done: make(chan struct{})}
	if err := in.conn.Open(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	var log *slog.Logger
	if os.Getenv("CARILLON_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	worker, err := ingest.New(in.conn, w.store, ingest.Config{Node: name, MaxBatch: w.maxBatch, Logger: log, Metrics: in.metrics})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	in.cancel = cancel
	go func() {
		defer close(in.done)
		in.err = worker.Run(ctx)
	}()
	w.t.Cleanup(in.stop)
	return in
}

// stop ends the ingester in an orderly way, if it is still at work.
func (in *ingester) stop() {
	in.cancel()
	<-in.done
	if in.err != nil {
		in.w.t.Errorf("Run returns %v after an orderly stop", in.err)
	}
}

// crash ends the ingester so that the bus hears nothing more from it.
func (in *ingester) crash() {
	in.conn.NC.Close()
	in.cancel()
}

// crashAfterWrite makes the ingester crash when its next write is done, before it
// can acknowledge anything. What it returns tells the write's token.
func (in *ingester) crashAfterWrite() (token func() string) {
	var first atomic.Pointer[string]
	in.w.store.hook(nil, func(written string) {
		if first.CompareAndSwap(nil, &written) {
			in.crash()
		}
	})
	return func() string {
		in.w.t.Helper()
		if first.Load() == nil {
			in.w.t.Fatal("nothing was written")
		}
		return *first.Load()
	}
}

// counter returns the sum of a counter's or gauge's series with the given labels.
func (in *ingester) counter(name string, labels ...string) float64 {
	in.w.t.Helper()
	families, err := in.metrics.Gather()
	if err != nil {
		in.w.t.Fatal(err)
	}
	sum := 0.0
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
	series:
		for _, m := range family.GetMetric() {
			for i := 0; i < len(labels); i += 2 {
				found := false
				for _, l := range m.GetLabel() {
					found = found || l.GetName() == labels[i] && l.GetValue() == labels[i+1]
				}
				if !found {
					continue series
				}
			}
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return sum
}

// spy is a store that notes tokens and does what a test asks before and after a
// write.
type spy struct {
	logstore.Store

	mu     sync.Mutex // guards what is below
	tokens []string   // of writes that the store took
	again  []string   // of writes that came as repeats
	before func(token string) error
	after  func(token string)
}

func (s *spy) do(token string, write func() error) error {
	s.mu.Lock()
	before, after := s.before, s.after
	s.mu.Unlock()
	if before != nil {
		if err := before(token); err != nil {
			return err
		}
	}
	if err := write(); err != nil {
		return err
	}
	s.mu.Lock()
	s.tokens = append(s.tokens, token)
	s.mu.Unlock()
	if after != nil {
		after(token)
	}
	return nil
}

func (s *spy) WriteRuns(ctx context.Context, token string, updates []logstore.Update) error {
	return s.do(token, func() error { return s.Store.WriteRuns(ctx, token, updates) })
}

func (s *spy) WriteLines(ctx context.Context, token string, lines []runlog.Line) error {
	return s.do(token, func() error { return s.Store.WriteLines(ctx, token, lines) })
}

func (s *spy) WriteFacts(ctx context.Context, token string, facts []logstore.Fact) error {
	return s.do(token, func() error { return s.Store.WriteFacts(ctx, token, facts) })
}

// Repeats implements [logstore.Repeater].
func (s *spy) Repeats() logstore.Writer { return repeats{s} }

// repeats is the spy as it takes what may be there in part.
type repeats struct{ s *spy }

func (r repeats) WriteRuns(ctx context.Context, token string, updates []logstore.Update) error {
	r.note(token)
	return r.s.WriteRuns(ctx, token, updates)
}

func (r repeats) WriteLines(ctx context.Context, token string, lines []runlog.Line) error {
	r.note(token)
	return r.s.WriteLines(ctx, token, lines)
}

func (r repeats) WriteFacts(ctx context.Context, token string, facts []logstore.Fact) error {
	r.note(token)
	return r.s.WriteFacts(ctx, token, facts)
}

func (r repeats) note(token string) {
	r.s.mu.Lock()
	r.s.again = append(r.s.again, token)
	r.s.mu.Unlock()
}

// repeated returns the tokens of writes that came as repeats.
func (s *spy) repeated() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.again)
}

func (s *spy) hook(before func(token string) error, after func(token string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.after = before, after
}

// taken returns how often the store took each token.
func (s *spy) taken() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	times := map[string]int{}
	for _, token := range s.tokens {
		times[token]++
	}
	return times
}

func (w *world) publish(m *nats.Msg, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.conn.JS.PublishMsg(w.t.Context(), m); err != nil {
		w.t.Fatal(err)
	}
}

// say publishes an event, and print lines, as whoever was given the attempt does.
func (w *world) say(e *bus.Event) { w.t.Helper(); w.publish(bustest.Event(w.conn.Tokens(), e)) }
func (w *world) print(l *bus.Log) { w.t.Helper(); w.publish(bustest.Log(w.conn.Tokens(), l)) }

// fire is the n-th minute's fire of a job.
type fire struct {
	job job.Name
	n   int
}

func (f fire) time() time.Time { return start.Add(time.Duration(f.n) * time.Minute) }

func (f fire) id() job.RunID {
	return job.FireRunID(f.job, f.time().UnixMilli(), job.CauseSchedule)
}

func (w *world) record(fires ...fire) {
	w.t.Helper()
	r := &journal.Record{Shard: 1, Epoch: 1, Commit: fmt.Sprint(fires), Node: "a", At: fires[0].time().Add(5 * time.Millisecond)}
	for _, f := range fires {
		r.Outcomes = append(r.Outcomes, journal.Outcome{
			Status: job.StatusPending, Cause: job.CauseSchedule, FireTime: f.time(), Jobs: []string{journal.JobVersion(f.job, 3)},
		})
	}
	w.publish(r.Msg())
}

func (f fire) finished(status job.Status) *bus.Event {
	e := bus.EventOf(&bus.Trigger{
		RunID: f.id(), Job: f.job, Version: 3, Shard: f.job.Shard(shards), Attempt: 1, Cause: job.CauseSchedule,
		FireTime: f.time(), CommittedAt: f.time().Add(5 * time.Millisecond),
	}, bus.EventFinished, f.time().Add(20*time.Millisecond))
	e.Status, e.Instance, e.Delivery, e.StartedAt, e.FinishedAt = status, "worker-1", 1, f.time().Add(10*time.Millisecond), e.At
	return e
}

func (w *world) finish(f fire) { w.t.Helper(); w.say(f.finished(job.StatusSucceeded)) }

func (f fire) log(texts ...string) *bus.Log {
	l := &bus.Log{RunID: f.id(), Job: f.job, Attempt: 1, Instance: "worker-1"}
	for i, text := range texts {
		l.Lines = append(l.Lines, bus.LogLine{Seq: int64(i + 1), At: f.time(), Level: bus.LevelInfo, Output: bus.OutputStdout, Text: text})
	}
	return l
}

// whole publishes all that is to be said about a run.
func (w *world) whole(f fire) {
	w.t.Helper()
	w.record(f)
	w.finish(f)
	w.print(f.log("one", "two"))
}

// wantWhole reports unless the store has the runs of fires from to to of the report,
// succeeded and with their lines, and no others.
func (w *world) wantWhole(from, to int) {
	w.t.Helper()
	missing := 0
	for n := from; n <= to; n++ {
		f := fire{report, n}
		runs, err := w.store.Run(w.t.Context(), f.id())
		if err != nil || len(runs) != 1 || runs[0].Status != job.StatusSucceeded || runs[0].CommittedAt.IsZero() {
			missing++
			w.t.Logf("run %d is %+v, with %v", n, runs, err)
		}
		lines, err := w.store.Lines(w.t.Context(), logstore.LineFilter{RunID: f.id(), Attempt: 1})
		if err != nil || len(lines) != 2 {
			missing++
			w.t.Logf("run %d has %d lines, with %v", n, len(lines), err)
		}
	}
	if missing > 0 {
		w.t.Errorf("%d of the runs %d-%d are not whole", missing, from, to)
	}
}

// wantRows reports unless the store has n runs.
func (w *world) wantRows(n int) {
	w.t.Helper()
	counts, err := w.store.Counts(w.t.Context(), logstore.RunFilter{})
	if err != nil {
		w.t.Fatal(err)
	}
	got := 0
	for _, c := range counts {
		got += c
	}
	if got != n {
		w.t.Errorf("the store has %d runs, %v; want %d", got, counts, n)
	}
}

// unacknowledged returns how many messages of a stream ingest still owes.
func (w *world) unacknowledged(stream, consumer string) int {
	w.t.Helper()
	c, err := w.conn.JS.Consumer(w.t.Context(), stream, consumer)
	if err != nil {
		w.t.Fatal(err)
	}
	info := c.CachedInfo()
	return info.NumAckPending + int(info.NumPending)
}

func (w *world) wantUnacknowledged(trig, evt, logs int) {
	w.t.Helper()
	got := [3]int{w.unacknowledged(bus.StreamTrig, bus.ConsumerLedger), w.unacknowledged(bus.StreamEvt, bus.ConsumerEvents), w.unacknowledged(bus.StreamLog, bus.ConsumerLogs)}
	if got != [3]int{trig, evt, logs} {
		w.t.Errorf("on TRIG, EVT and LOG %v messages are not acknowledged; want %v", got, [3]int{trig, evt, logs})
	}
}
