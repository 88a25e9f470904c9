package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/ingest"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
)

// benchSlots is how many runs the executors of a bench do at once, and benchLeast how
// many each of them does at least.
const (
	benchSlots = 1024
	benchLeast = 64
)

// benchRun has jobs fire, with executors that do nothing for each, and takes the time until the last run
// is stored as succeeded; with a rate, also how late handlers begin.
func benchRun(ctx context.Context, o benchOptions) (*benchResult, error) {
	switch {
	case !slices.Contains(job.Routes, job.Route(o.route)):
		return nil, cli.Usage(fmt.Errorf("--route %q must be one of %v", o.route, job.Routes))
	case o.instances < 1:
		return nil, cli.Usage(fmt.Errorf("--instances %d must be at least 1", o.instances))
	case o.slots < 0:
		return nil, cli.Usage(fmt.Errorf("--slots %d must be at least 0", o.slots))
	case o.slots == 0:
		o.slots = slotsOf(o.instances)
	}
	if o.executor == "" {
		return measureRuns(ctx, o)
	}
	own := o
	own.executor = ""
	builtIn, err := measureRuns(ctx, own)
	if err != nil {
		return nil, err
	}
	r, err := measureRuns(ctx, o)
	if err != nil {
		return nil, err
	}
	r.BuiltInRate, r.BuiltInMicros = builtIn.Rate, builtIn.CPUMicros
	return r, nil
}

// measureRuns measures the runs of the executors in this process, beside the bus alone, or of
// foreign ones.
func measureRuns(ctx context.Context, o benchOptions) (*benchResult, error) {
	w, err := o.world(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	w.route, w.change = job.Route(o.route), o.change
	r := &benchResult{Jobs: o.jobs}
	history, err := sqlite.Open(ctx, filepath.Join(w.dir, "history.db"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = history.Close() }()
	store := &writtenStore{Store: history}
	parts, stop := context.WithCancel(ctx)
	defer stop()
	var others *foreign
	var ended [2]<-chan error
	if o.executor == "" {
		if !o.bare {
			if r.RawRate, r.RawMicros, err = w.rawRuns(ctx, min(o.jobs*o.pieces(), 100_000)); err != nil {
				return nil, err
			}
		}
		handler := o.handler
		if handler == nil {
			handler = func(context.Context, *executor.Run) (any, error) { return nil, nil }
		}
		ended[0], err = w.startExecutors(parts, "bench", o.instances, o.slots, handler)
	} else if others, err = w.startForeign(ctx, o.executor, o.instances, o.slots); err == nil {
		defer func() { _ = others.stop(ctx) }() // again, after an error
	}
	if err != nil {
		return nil, err
	}
	if ended[1], err = w.startIngest(parts, store); err != nil {
		return nil, err
	}
	if o.rate > 0 && !o.bare {
		late, err := w.rawStarts(ctx, o.rate, 10)
		if err != nil {
			return nil, err
		}
		r.RawP50, r.RawP99, r.RawMax = late.quantiles()
	}
	if err := w.timeRuns(ctx, o, store, others, r); err != nil {
		return nil, err
	}
	if others != nil {
		err = others.stop(ctx)
	}
	stop()
	return r, errors.Join(err, drain(ended[0]), drain(ended[1]))
}

// pieces returns how many pieces a run has. Each piece is an attempt.
func (o benchOptions) pieces() int {
	if job.Route(o.route) == job.RouteBroadcast {
		return o.instances
	}
	return 1
}

// timeRuns saves the jobs, starts a node, and notes in r what their runs take.
func (w *benchWorld) timeRuns(ctx context.Context, o benchOptions, store *writtenStore, others *foreign, r *benchResult) error {
	l, err := o.load()
	if err != nil {
		return err
	}
	if err := w.seed(ctx, o.jobs, l.from.Add(-time.Millisecond), l.schedule); err != nil {
		return err
	}
	nodes, err := w.startNodes(ctx, max(1, o.nodes))
	if err != nil {
		return err
	}
	if err := begin(ctx, l.from, 0); err != nil {
		return err
	}
	before := others.cpu()
	meter, err := startMeter(o.profile)
	if err != nil {
		return err
	}
	defer meter.stop()
	if err := w.stored(ctx, store, l); err != nil {
		return err
	}
	r.Count, r.Seconds = l.runs*o.pieces(), time.Since(l.from).Seconds()
	r.Rate = float64(r.Count) / r.Seconds
	_, used := meter.stop()
	r.CPUMicros, r.ExecutorMicros = each(used, r.Count), each(others.cpu()-before, r.Count)
	r.RSS = rssMB()
	for _, n := range nodes {
		if err := n.close(); err != nil {
			return err
		}
	}
	if o.rate > 0 {
		first, all, err := starts(ctx, store, l.from)
		if err != nil {
			return err
		}
		r.FirstP50, r.FirstP99, _ = first.quantiles()
		r.P50, r.P99, r.Max = all.quantiles()
	}
	return r.judge(ctx, store, l)
}

// drain waits until all have ended for which there is room in the channel, and returns
// the first error.
func drain(ended <-chan error) (err error) {
	for range cap(ended) {
		if e := <-ended; err == nil {
			err = e
		}
	}
	return err
}

// writtenStore is a store that counts the writes of runs.
type writtenStore struct {
	logstore.Store
	writes atomic.Int64
}

func (s *writtenStore) WriteRuns(ctx context.Context, token string, updates []logstore.Update) error {
	defer s.writes.Add(1)
	return s.Store.WriteRuns(ctx, token, updates)
}

// stored waits until all runs of a load are stored as succeeded. Counting rows takes time
// from what is measured, so it does so only when ingest has moved all events, no more come, and
// there is something new.
func (w *benchWorld) stored(ctx context.Context, store *writtenStore, l load) error {
	before, counted := uint64(0), int64(0)
	return poll(ctx, func() (bool, error) {
		if err := pause.For(ctx, 20*time.Millisecond); err != nil {
			return false, err
		}
		moved, last := uint64(0), uint64(0)
		for _, stream := range w.conn.Evts() {
			end, err := w.conn.LastSeq(ctx, stream)
			if err != nil {
				return false, err
			}
			upTo, err := w.conn.Ingest().EventsMoved(ctx, stream)
			if err != nil {
				return false, err
			}
			moved, last = moved+upTo, last+end
		}
		idle := last > 0 && last == before && moved == last
		writes := store.writes.Load()
		if before = last; !idle || writes == counted {
			return false, nil
		}
		counted = writes
		counts, err := store.Counts(ctx, logstore.RunFilter{From: l.from, Causes: job.CountedCauses})
		return counts[job.StatusSucceeded] >= l.runs, err
	})
}

// startIngest starts it. The channel has what it returns when it has ended.
func (w *benchWorld) startIngest(ctx context.Context, store logstore.Store) (<-chan error, error) {
	conn, err := w.connect(ctx, "ingest")
	if err != nil {
		return nil, err
	}
	in, err := ingest.New(conn, store, ingest.Config{Logger: warnings()})
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- in.Run(ctx); conn.NC.Close() }()
	return ended, nil
}

// warnings returns a logger for parts whose warnings make a figure doubtful. It writes to stderr.
func warnings() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// judge counts the runs of a load that did not succeed, and those that were done more than once.
func (r *benchResult) judge(ctx context.Context, store logstore.Store, l load) error {
	counts, err := store.Counts(ctx, logstore.RunFilter{From: l.from, Causes: job.CountedCauses})
	if err != nil {
		return err
	}
	for status, n := range counts {
		if status != job.StatusSucceeded {
			r.Lost += n
		}
	}
	r.Doubled = max(0, counts[job.StatusSucceeded]-l.runs)
	return nil
}

// slotsOf returns how many runs each of so many executors does at once.
func slotsOf(instances int) int { return max(benchSlots/instances, benchLeast) }

// startExecutors starts the executors of a group, each on a connection of its own. The
// channel has room for one value of each, which it sends when it has ended.
func (w *benchWorld) startExecutors(ctx context.Context, group string, instances, slots int, noop executor.HandlerFunc) (<-chan error, error) {
	ended := make(chan error, instances)
	for i := range instances {
		name := group + "-" + strconv.Itoa(i)
		conn, err := w.connect(ctx, name)
		if err != nil {
			return nil, err
		}
		e, err := executor.New(conn.Conn, executor.Config{Group: group, Instance: name, Slots: slots, Grace: -1})
		if err != nil {
			return nil, err
		}
		e.Handle("noop", noop)
		go func() { ended <- e.Run(ctx); conn.NC.Close() }()
	}
	return ended, nil
}

// rawRuns measures what of a run is the bus alone, with n messages: published in
// batches, consumed and acknowledged, and two events published for each. It returns
// how many a second, and the CPU of each in microseconds.
func (w *benchWorld) rawRuns(ctx context.Context, n int) (rate, cpu float64, err error) {
	cons, err := w.rawStream(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = w.conn.JS.DeleteStream(context.WithoutCancel(ctx), "RAW") }()
	_, err = w.conn.JS.CreateStream(ctx, jetstream.StreamConfig{
		Name: "RAWEVT", Subjects: []string{"rawevt"}, Storage: jetstream.FileStorage, Compression: jetstream.S2Compression, Duplicates: 30 * time.Second,
		Replicas: len(w.servers),
	})
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = w.conn.JS.DeleteStream(context.WithoutCancel(ctx), "RAWEVT") }()
	meter, err := startMeter("")
	if err != nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	published := make(chan error, 1)
	go func() {
		err := w.rawPublish(ctx, n)
		if err != nil {
			cancel(err) // else those that it has not published would be waited for
		}
		published <- err
	}()
	event := sampleTrigger() // an event is about as long as a trigger
	for got := 0; got < n; {
		if ctx.Err() != nil {
			return 0, 0, context.Cause(ctx)
		}
		batch, err := cons.Fetch(1000, jetstream.FetchMaxWait(time.Second))
		if err != nil {
			return 0, 0, err
		}
		for m := range batch.Messages() {
			for k := range 2 {
				if _, err := w.conn.JS.PublishAsync("rawevt", event, jetstream.WithMsgID(strconv.Itoa(2*got+k)), jetstream.WithStallWait(time.Minute)); err != nil {
					return 0, 0, err
				}
			}
			if err := m.Ack(); err != nil {
				return 0, 0, err
			}
			got++
		}
	}
	select {
	case <-w.conn.JS.PublishAsyncComplete():
	case <-ctx.Done():
		return 0, 0, context.Cause(ctx)
	}
	elapsed, used := meter.stop()
	return float64(n) / elapsed.Seconds(), each(used, n), <-published
}

// rawStream makes a stream of triggers and a consumer as a group has one.
func (w *benchWorld) rawStream(ctx context.Context) (jetstream.Consumer, error) {
	stream, err := w.conn.JS.CreateStream(ctx, jetstream.StreamConfig{
		Name: "RAW", Subjects: []string{"raw.*.any.*"}, Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
		AllowAtomicPublish: true, Discard: jetstream.DiscardNew, MaxBytes: 8 << 30, Replicas: len(w.servers),
	})
	if err != nil {
		return nil, err
	}
	return stream.CreateConsumer(ctx, jetstream.ConsumerConfig{Durable: "raw", AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: 50000})
}

// rawStarts measures what of the time until a handler begins is the bus alone: on each of some whole
// seconds, n messages are published in batches, pulled and decoded. It returns how late they are by then.
func (w *benchWorld) rawStarts(ctx context.Context, n, seconds int) (*lateness, error) {
	cons, err := w.rawStream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.conn.JS.DeleteStream(context.WithoutCancel(ctx), "RAW") }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	from := time.Now().Truncate(time.Second).Add(2 * time.Second)
	go func() {
		for i := range seconds {
			if pause.For(ctx, time.Until(from.Add(time.Duration(i)*time.Second))) != nil {
				return
			}
			if err := w.rawPublish(ctx, n); err != nil {
				cancel(err)
			}
		}
	}()
	late := &lateness{}
	for len(late.all) < seconds*n {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		batch, err := cons.Fetch(1000, jetstream.FetchMaxWait(time.Second))
		if err != nil {
			return nil, err
		}
		for m := range batch.Messages() {
			if _, err := bus.DecodeTrigger(m.Headers(), m.Data()); err != nil {
				return nil, err
			}
			due := from.Add(time.Duration(len(late.all)/n) * time.Second) // each second is over before the next begins
			late.all = append(late.all, float32(time.Since(due).Seconds()*1000))
			if err := m.Ack(); err != nil {
				return nil, err
			}
		}
	}
	return late, nil
}

func (w *benchWorld) rawPublish(ctx context.Context, n int) error {
	sample := sampleTrigger()
	for sent := 0; sent < n; sent += bus.MaxBatch {
		if _, err := w.conn.PublishBatch(ctx, rawBatch(sample, min(bus.MaxBatch, n-sent))); err != nil {
			return err
		}
	}
	return nil
}
