package standin_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/ingest"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
	"github.com/carillon-scheduler/carillon/logstore/standin"
)

var start = time.Date(2026, time.January, 5, 3, 0, 0, 0, time.UTC)

const (
	shards          = 8
	report job.Name = "billing/report"
	// noticed is how long it takes until a store is known to be away, and what the streams have is read.
	noticed = 25 * time.Second
	// longAgo is longer than what a stand-in has of the time before.
	longAgo = 70 * time.Minute
)

// world is a broker, a history that may go away, and what stands in for it.
type world struct {
	t       *testing.T
	broker  *bustest.Broker
	conn    *cluster.Conn
	history *mortal
	store   *standin.Store
	opened  atomic.Int32 // stand-ins
	closed  atomic.Int32
}

// mortal is a store that answers nothing while it is away.
type mortal struct {
	logstore.Store
	away atomic.Bool
}

var errAway = errors.New("connection refused")

func (m *mortal) do() error {
	if m.away.Load() {
		return errAway
	}
	return nil
}

func (m *mortal) Stats(ctx context.Context) (logstore.Stats, error) {
	if err := m.do(); err != nil {
		return logstore.Stats{}, err
	}
	return m.Store.Stats(ctx)
}

func (m *mortal) WriteRuns(ctx context.Context, token string, updates []logstore.Update) error {
	return errors.Join(m.do(), m.unlessAway(func() error { return m.Store.WriteRuns(ctx, token, updates) }))
}

func (m *mortal) WriteLines(ctx context.Context, token string, lines []runlog.Line) error {
	return errors.Join(m.do(), m.unlessAway(func() error { return m.Store.WriteLines(ctx, token, lines) }))
}

func (m *mortal) unlessAway(write func() error) error {
	if m.away.Load() {
		return nil
	}
	return write()
}

func (m *mortal) Run(ctx context.Context, id job.RunID) ([]runlog.Run, error) {
	if err := m.do(); err != nil {
		return nil, err
	}
	return m.Store.Run(ctx, id)
}

func (m *mortal) Runs(ctx context.Context, f logstore.RunFilter) (logstore.RunPage, error) {
	if err := m.do(); err != nil {
		return logstore.RunPage{}, err
	}
	return m.Store.Runs(ctx, f)
}

// closing is a store that tells when it is closed.
type closing struct {
	logstore.Store
	closed *atomic.Int32
}

func (c closing) Close() error {
	c.closed.Add(1)
	return c.Store.Close()
}

func run(t *testing.T, f func(w *world)) {
	t.Helper()
	bustest.Run(t, start, func(t *testing.T) {
		w := &world{t: t, broker: bustest.NewBroker(t)}
		w.conn = clustertest.Setup(t, w.broker, "test", shards)
		kept, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
		w.check(err)
		t.Cleanup(func() { w.check(kept.Close()) })
		w.history = &mortal{Store: kept}
		w.store = standin.New(w.connect("api"), w.history, standin.Config{Open: func(ctx context.Context) (logstore.Store, error) {
			s, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), strconv.Itoa(int(w.opened.Add(1)))))
			return closing{s, &w.closed}, err
		}})
		in, err := ingest.New(w.connect("ingest"), w.history, ingest.Config{})
		w.check(err)
		w.live(in.Run)
		time.Sleep(time.Second)
		f(w)
	})
}

// watch begins to look after the history: what comes before it takes a test little time,
// however long it lasts.
func (w *world) watch() {
	w.live(w.store.Watch)
	time.Sleep(time.Second)
}

// live runs something until the test is over.
func (w *world) live(run func(context.Context) error) {
	ctx, stop := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	w.t.Cleanup(func() {
		stop()
		w.check(<-done)
	})
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) connect(name string) *cluster.Conn {
	w.t.Helper()
	return clustertest.Open(w.t, w.broker, name)
}

func (w *world) publish(m *nats.Msg, err error) {
	w.t.Helper()
	w.check(err)
	_, err = w.conn.JS.PublishMsg(w.t.Context(), m)
	w.check(err)
}

// trigger is that of a run that fires now.
func trigger(name job.Name) *bus.Trigger {
	now := time.Now().UTC()
	return &bus.Trigger{
		TriggerBody: bus.TriggerBody{Delivery: job.AtLeastOnce, Task: job.Task{Shell: "true"}},
		RunID:       job.FireRunID(name, now.UnixMilli(), job.CauseSchedule), Job: name, Version: 3, Shard: name.Shard(shards), Attempt: 1,
		Cause: job.CauseSchedule, FireTime: now, CommittedAt: now,
	}
}

// fire commits a run.
func (w *world) fire() *bus.Trigger {
	w.t.Helper()
	time.Sleep(time.Millisecond) // no two of one instant
	t := trigger(report)
	r := &journal.Record{Shard: t.Shard, Epoch: 1, Commit: string(t.RunID), Node: "a", At: t.CommittedAt, Outcomes: []journal.Outcome{
		{Status: job.StatusPending, Cause: t.Cause, FireTime: t.FireTime, Jobs: []string{journal.JobVersion(report, t.Version)}},
	}}
	w.publish(r.Msg())
	return t
}

// finish tells of a run's end, and of a line that it has printed.
func (w *world) finish(t *bus.Trigger) {
	w.t.Helper()
	e := bus.EventOf(t, bus.EventFinished, time.Now().UTC())
	e.Status, e.Instance, e.Delivery, e.StartedAt, e.FinishedAt = job.StatusSucceeded, "worker-1", 1, t.CommittedAt, e.At
	w.publish(bustest.Event(w.conn.Tokens(), e))
	l := &bus.Log{RunID: t.RunID, Job: report, Attempt: 1, Instance: "worker-1", Lines: []bus.LogLine{
		{Seq: 1, At: e.At, Level: bus.LevelInfo, Output: bus.OutputStdout, Text: "the quick brown fox"},
	}}
	w.publish(bustest.Log(w.conn.Tokens(), l))
}

// want wants runs to have a status, each, as an answer that may be partial has them, and
// returns what it says of that.
func (w *world) want(status job.Status, runs ...*bus.Trigger) *runlog.Partial {
	w.t.Helper()
	ctx, witness := logstore.AcceptPartial(w.t.Context())
	for _, t := range runs {
		found, err := w.store.Run(ctx, t.RunID)
		if err != nil || found[0].Status != status {
			w.t.Errorf("the run of %s is %+v, with %v; want it %s", t.FireTime, found, err, status)
		}
	}
	return witness.Partial()
}

func TestWhileTheStoreIsAwayTheStreamsAnswer(t *testing.T) {
	run(t, func(w *world) {
		t := w.t
		old := w.fire()
		w.finish(old)
		time.Sleep(20 * time.Minute)
		recent := w.fire()
		w.finish(recent)
		time.Sleep(10 * time.Minute)
		w.watch()
		if p := w.want(job.StatusSucceeded, old, recent); p != nil {
			t.Errorf("with the store there, an answer is partial: %+v", p)
		}

		w.history.away.Store(true)
		wentAway := time.Now()
		ended, goesOn := w.fire(), w.fire()
		w.finish(ended)
		time.Sleep(noticed)
		p := w.want(job.StatusSucceeded, recent, ended)
		if p == nil || p.Since.After(wentAway.Add(-59*time.Minute)) || time.Since(p.AsOf) > 3*time.Second {
			t.Fatalf("the answer is partial as %+v; want an hour up to now", p)
		}
		later := w.fire()
		time.Sleep(3 * time.Second)
		w.want(job.StatusPending, goesOn, later)
		w.finish(later)
		time.Sleep(3 * time.Second)
		w.want(job.StatusSucceeded, later)

		ctx, _ := logstore.AcceptPartial(t.Context())
		if lines, err := w.store.Lines(ctx, logstore.LineFilter{RunID: later.RunID, Attempt: 1}); err != nil || len(lines) != 1 {
			t.Errorf("the log is %v, with %v", lines, err)
		}
		if page, err := w.store.Search(ctx, logstore.SearchFilter{Text: "quick", Limit: 10}); err != nil || len(page.Lines) != 4 {
			t.Errorf("%d lines are found, with %v; want 4", len(page.Lines), err)
		}
		if page, err := w.store.Runs(ctx, logstore.RunFilter{Limit: 10}); err != nil || len(page.Runs) != 5 {
			t.Errorf("%d runs are listed, with %v; want 5", len(page.Runs), err)
		}
	})
}

// A run may have begun long before the store went away, and go on.
func TestRunsThatAreAliveAreKnownHoweverOldTheyAre(t *testing.T) {
	run(t, func(w *world) {
		waits := trigger(report)
		runs := trigger("billing/other")
		for _, alive := range []*bus.Trigger{waits, runs} {
			data, err := json.Marshal(alive)
			w.publish(bus.NewMessage(bus.SubjectTrigger(alive.Shard, alive.Job.Group()), bus.MessageTrigger, data), err)
		}
		e := bus.EventOf(runs, bus.EventStarted, time.Now().UTC())
		e.Instance, e.Delivery, e.StartedAt = "worker-1", 1, e.At
		w.publish(bustest.Event(w.conn.Tokens(), e))
		expected, begun := trigger("billing/expected"), trigger("billing/begun")
		for _, elsewhere := range []*bus.Trigger{expected, begun} {
			state := &journal.PingState{}
			if elsewhere == begun {
				state.Host, state.StartedAt = "web1", time.Now().UTC()
			}
			body, err := elsewhere.Encode()
			if err != nil {
				w.t.Fatal(err)
			}
			d := journal.Deferred{Kind: journal.DeferredExpected, Job: elsewhere.Job, Reported: state, Trigger: bus.AppendTrigger(nil, elsewhere, body)}
			w.publish(d.Msg(elsewhere.Shard))
		}
		time.Sleep(longAgo)
		w.watch()

		w.history.away.Store(true)
		time.Sleep(noticed)
		w.want(job.StatusPending, waits)
		w.want(job.StatusRunning, runs)
		w.want(job.StatusQueued, expected)
		w.want(job.StatusRunning, begun)
	})
}

func TestWhatIsOlderThanTheStreamsTellIsNotTakenForWhatNeverWas(t *testing.T) {
	run(t, func(w *world) {
		t := w.t
		old := w.fire()
		w.finish(old)
		time.Sleep(longAgo)
		w.watch()
		w.history.away.Store(true)
		time.Sleep(noticed)

		ctx, _ := logstore.AcceptPartial(t.Context())
		if _, err := w.store.Run(ctx, old.RunID); !errors.Is(err, job.ErrUnavailable) {
			t.Errorf("of an old run the error is %v; want that the store is away", err)
		}
		if _, err := w.store.Lines(ctx, logstore.LineFilter{RunID: old.RunID, Attempt: 1}); !errors.Is(err, job.ErrUnavailable) {
			t.Errorf("of an old run's log the error is %v; want that the store is away", err)
		}
		if _, err := w.store.Run(ctx, job.NewRunID(time.Now())); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("of a new run that never was the error is %v; want that it is not found", err)
		}
		// Who has not said that this will do gets nothing from the streams.
		if _, err := w.store.Run(t.Context(), old.RunID); !errors.Is(err, errAway) {
			t.Errorf("without consent the error is %v; want the store's", err)
		}
		if page, err := w.store.Runs(t.Context(), logstore.RunFilter{Limit: 10}); err == nil {
			t.Errorf("without consent there are %d runs", len(page.Runs))
		}
	})
}

func TestTheStoreAnswersAgainOnceItHasWhatWaited(t *testing.T) {
	run(t, func(w *world) {
		t := w.t
		old := w.fire()
		w.finish(old)
		time.Sleep(longAgo)
		w.watch()
		for n := range int32(2) {
			w.history.away.Store(true)
			time.Sleep(noticed)
			missed := w.fire()
			w.finish(missed)
			time.Sleep(time.Minute)
			if p := w.want(job.StatusSucceeded, missed); p == nil || w.store.StandIn() == nil {
				t.Fatal("nobody stands in")
			}
			w.history.away.Store(false)
			time.Sleep(time.Minute) // ingest waits ten seconds between its tries
			if p := w.want(job.StatusSucceeded, old, missed); p != nil || w.store.StandIn() != nil {
				t.Errorf("the store is back, and the answer is partial: %+v", p)
			}
			if opened, closed := w.opened.Load(), w.closed.Load(); opened != n+1 || closed != n+1 {
				t.Errorf("%d stand-ins were made, and %d thrown away; want %d", opened, closed, n+1)
			}
		}
	})
}

func TestAStoreThatIsStartedAgainNeedsNoStandIn(t *testing.T) {
	run(t, func(w *world) {
		t := w.t
		w.watch()
		for range 10 {
			w.history.away.Store(true)
			time.Sleep(2 * time.Second)
			w.history.away.Store(false)
			time.Sleep(2 * time.Second)
		}
		if opened := w.opened.Load(); opened != 0 {
			t.Errorf("%d stand-ins were made", opened)
		}
	})
}

// What the store answers is whole up to the oldest message that waits.
func TestAStoreThatIsBehindSaysSinceWhen(t *testing.T) {
	run(t, func(w *world) {
		t := w.t
		old := w.fire()
		w.finish(old)
		time.Sleep(longAgo)
		w.watch()
		w.broker.Partition("ingest")
		waitsSince := time.Now()
		w.finish(w.fire())
		time.Sleep(time.Minute)
		p := w.want(job.StatusSucceeded, old)
		if p == nil || !p.Since.IsZero() || p.AsOf.Sub(waitsSince).Abs() > time.Second {
			t.Errorf("the answer says %+v; want that nothing since %s is in it", p, waitsSince)
		}
		w.broker.Heal("ingest")
		time.Sleep(time.Minute)
		if p := w.want(job.StatusSucceeded, old); p != nil {
			t.Errorf("the store has caught up, and the answer says %+v", p)
		}
	})
}
