package orphans_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

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
	"github.com/carillon-scheduler/carillon/scheduler/orphans"
)

const name job.Name = "g/a"

// world is a broker, a history that is ingested, and a finder.
type world struct {
	*testing.T
	broker *bustest.Broker
	conn   *cluster.Conn
	store  logstore.Store
	finder *orphans.Finder
}

func run(t *testing.T, f func(w *world)) {
	t.Helper()
	bustest.Run(t, time.Date(2026, time.January, 5, 3, 0, 0, 0, time.UTC), func(t *testing.T) {
		w := &world{T: t, broker: bustest.NewBroker(t)}
		var err error
		w.conn = clustertest.Setup(t, w.broker, "test", 4)
		w.check(w.conn.Groups().Setup(t.Context(), cluster.Group{Group: "g", HasRouted: true}))
		w.store, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"))
		w.check(err)
		t.Cleanup(func() { w.check(w.store.Close()) })
		w.finder, err = orphans.New(w.conn, w.store, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
		w.check(err)
		f(w)
	})
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// ingest moves what is on the streams into the history until the returned function is
// called.
func (w *world) ingest() (stop func()) {
	w.Helper()
	in, err := ingest.New(w.conn, w.store, ingest.Config{Node: "n", Metrics: prometheus.NewRegistry()})
	w.check(err)
	ctx, cancel := context.WithCancel(w.Context())
	done := make(chan error, 1)
	go func() { done <- in.Run(ctx) }()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			w.check(<-done)
		}
	}
	w.Cleanup(stop)
	return stop
}

// trigger stores a trigger of a run that nobody watches, and its record.
func (w *world) trigger() *bus.Trigger {
	w.Helper()
	return w.triggerWith(func(*bus.Trigger) {})
}

// triggerWith is trigger of one with time limits.
func (w *world) triggerWith(change func(*bus.Trigger)) *bus.Trigger {
	w.Helper()
	now := time.Now()
	id := job.NewRunID(now)
	t := &bus.Trigger{
		RunID: id, Job: name, Version: 3, Shard: name.Shard(4), Attempt: 1, Cause: job.CauseManual, FireTime: id.Time(), CommittedAt: now,
	}
	change(t)
	t.Task = job.Task{Handler: "h"}
	body, err := t.Encode()
	w.check(err)
	w.publish(bus.NewMessage(bus.SubjectTrigger(t.Shard, "g"), bus.MessageTrigger, bus.AppendTrigger(nil, t, body)))
	m, err := (&journal.Record{Shard: t.Shard, Epoch: 1, Commit: "1.1", Node: "n", At: now, Outcomes: []journal.Outcome{{
		Status: job.StatusPending, Cause: t.Cause, FireTime: t.FireTime, Jobs: []string{journal.JobVersion(name, 3)}, RunIDs: []job.RunID{id},
	}}}).Msg()
	w.check(err)
	w.publish(m)
	return t
}

func (w *world) publish(m *nats.Msg) {
	w.Helper()
	_, err := w.conn.JS.PublishMsg(w.Context(), m)
	w.check(err)
}

// answer takes a trigger off the stream and reports nothing.
func (w *world) answer() {
	w.Helper()
	c, err := w.conn.JS.Consumer(w.Context(), bus.StreamTrig, bus.ConsumerAny("g"))
	w.check(err)
	m, err := c.Next(jetstream.FetchMaxWait(time.Second))
	w.check(err)
	w.check(m.Ack())
}

// rounds lets a minute pass and the finder look, so often.
func (w *world) rounds(n int) {
	w.Helper()
	for range n {
		time.Sleep(time.Minute)
		w.check(w.finder.Round(w.Context()))
	}
	time.Sleep(5 * time.Second)
}

func (w *world) status(id job.RunID) job.Status {
	w.Helper()
	attempts, err := w.store.Run(w.Context(), id)
	w.check(err)
	return attempts[0].RunStatus()
}

func TestARunWhoseTriggerMayBeOfALaterVersionIsNotLostInTheHistory(t *testing.T) {
	run(t, func(w *world) {
		w.ingest()
		tr := w.trigger()
		w.answer()
		w.publish(bus.NewMessage(bus.SubjectTrigger(tr.Shard, "g"), "trigger.v2", []byte(`{"v2":true}`)))
		w.rounds(2)
		if got := w.status(tr.RunID); got != job.StatusPending {
			t.Errorf("the run is %s", got)
		}
	})
}

func TestARunThatNobodyHasIsLostInTheHistory(t *testing.T) {
	run(t, func(w *world) {
		w.ingest()
		lost := w.trigger()
		w.answer()
		alive := w.trigger()
		w.rounds(2)
		if got := w.status(lost.RunID); got != job.StatusLost {
			t.Errorf("the run whose trigger has gone is %s", got)
		}
		if got := w.status(alive.RunID); got != job.StatusPending {
			t.Errorf("the run whose trigger is there is %s", got)
		}
	})
}

// A NATS server that was cut off may believe for a moment that it still leads the stream of triggers.
func TestARunIsNotLostInTheHistoryThoughADeposedLeaderDoesNotHaveIt(t *testing.T) {
	run(t, func(w *world) {
		w.ingest()
		r := w.trigger()
		time.Sleep(time.Minute)
		w.broker.Depose("test")
		w.check(w.finder.Round(w.Context()))
		w.broker.Heal("test")
		w.rounds(1)
		if got := w.status(r.RunID); got != job.StatusPending {
			t.Errorf("the run whose trigger is there is %s", got)
		}
	})
}

func TestARunWhoseEndTheHistoryHasNotYetIsNotLost(t *testing.T) {
	run(t, func(w *world) {
		stop := w.ingest()
		r := w.trigger()
		time.Sleep(5 * time.Second)
		stop() // the store is away
		e := bus.EventOf(r, bus.EventFinished, time.Now())
		e.Status, e.FinishedAt, e.Instance = job.StatusSucceeded, e.At, "x"
		m, err := bustest.Event(w.conn.Tokens(), e)
		w.check(err)
		w.publish(m)
		w.answer()
		w.rounds(5)
		if got := w.status(r.RunID); got != job.StatusPending {
			t.Fatalf("the run is %s, and its end has not been moved", got)
		}
		w.ingest()
		w.rounds(3)
		if got := w.status(r.RunID); got != job.StatusSucceeded {
			t.Errorf("the run is %s, want succeeded", got)
		}
	})
}

// restart starts NATS again, with local as the user that servers of Carillon are.
func (w *world) restart(local string) {
	w.Helper()
	synctest.Wait()
	w.broker.Stop()
	w.broker.Configure("{user: local}", local)
	w.broker.Start()
	time.Sleep(10 * time.Second)
}

func TestARunIsNotLostBeforeItIsKnownHowFarTheHistoryMustCome(t *testing.T) {
	run(t, func(w *world) {
		stop := w.ingest()
		r := w.trigger()
		time.Sleep(5 * time.Second)
		stop() // the store is away
		e := bus.EventOf(r, bus.EventFinished, time.Now())
		e.Status, e.FinishedAt, e.Instance = job.StatusSucceeded, e.At, "x"
		m, err := bustest.Event(w.conn.Tokens(), e)
		w.check(err)
		w.publish(m)
		w.answer()
		time.Sleep(time.Minute)
		w.restart(`{user: local, permissions: {publish: {deny: ["$JS.API.STREAM.INFO.EVT"]}}}`) // whose leader does not answer
		if err := w.finder.Round(w.Context()); err == nil {
			t.Fatal("a round does not tell that a stream was away")
		}
		w.restart("{user: local}")
		w.rounds(3)
		if n, err := w.conn.LastSeq(w.Context(), bus.StreamEvt); err != nil || n != 1 {
			t.Errorf("EVT has %d events, %v; want the one that the run has succeeded", n, err)
		}
	})
}

func TestARunThatItsOwnerWatchesIsItsOwnersToEnd(t *testing.T) {
	run(t, func(w *world) {
		w.ingest()
		r := w.trigger()
		w.answer()
		m, err := (&journal.Deferred{Kind: journal.DeferredAlive, Job: name, Trigger: bus.AppendTrigger(nil, r, `{"task":{"handler":"h"}}`)}).Msg(r.Shard)
		w.check(err)
		w.publish(m)
		w.rounds(3)
		if got := w.status(r.RunID); got != job.StatusPending {
			t.Errorf("the run is %s", got)
		}
	})
}

func TestAStepThatWaitsIsNotLostWhileItsWorkflowIsAlive(t *testing.T) {
	run(t, func(w *world) {
		w.ingest()
		now := time.Now()
		whole := job.NewRunID(now)
		wait := runlog.Wait{Kind: runlog.WaitSignal, Since: now.UTC(), Signal: "paid"}
		step := job.StepRunID(whole, "paid")
		m, err := (&journal.Record{Shard: name.Shard(4), Epoch: 1, Commit: "1.1", Node: "n", At: now, Outcomes: []journal.Outcome{{
			Status: job.StatusQueued, Cause: job.CauseStep, FireTime: whole.Time(), Jobs: []string{journal.JobVersion(name, 3)}, RunIDs: []job.RunID{step},
			ParentRun: whole, Step: "paid", Wait: &wait,
		}}}).Msg()
		w.check(err)
		w.publish(m)
		m, err = (&journal.Deferred{Kind: journal.DeferredSteps, Job: name, RunID: whole, Steps: &journal.Steps{States: "w", Waits: map[string]runlog.Wait{"paid": wait}}}).Msg(name.Shard(4))
		w.check(err)
		w.publish(m)
		w.rounds(3)
		if got := w.status(step); got != job.StatusQueued {
			t.Errorf("the step is %s", got)
		}
	})
}

func TestARunThatWaitsForItsTimeIsNotLost(t *testing.T) {
	run(t, func(w *world) {
		w.ingest()
		now := time.Now().UTC()
		var ids []job.RunID
		for _, due := range []time.Time{now.Add(time.Minute), now.Add(2 * time.Minute), now.AddDate(0, 11, 0)} {
			ids = append(ids, job.LaterRunID(job.NewRunID(now), due.UnixMilli()))
			m, err := (&journal.Record{Shard: name.Shard(4), Epoch: 1, Commit: "1.1", Node: "n", At: now, Outcomes: []journal.Outcome{{
				Status: job.StatusQueued, Cause: job.CauseAPI, Reason: "the job is paused", FireTime: due,
				Jobs: []string{journal.JobVersion(name, 3)}, RunIDs: ids[len(ids)-1:],
			}}}).Msg()
			w.check(err)
			w.publish(m)
		}
		// The first one is held by a pause; the item of the second one was lost.
		m, err := (&journal.Deferred{
			Kind: journal.DeferredWaiting, Job: name, RunID: ids[0], Due: ids[0].Time(), Since: now, Version: 3, Wish: &journal.Wish{Cause: job.CauseAPI},
		}).Msg(name.Shard(4))
		w.check(err)
		w.publish(m)
		w.rounds(6)
		for i, want := range []job.Status{job.StatusQueued, job.StatusLost, job.StatusQueued} {
			if got := w.status(ids[i]); got != want {
				t.Errorf("run %d, due at %s, is %s; want %s", i, ids[i].Time(), got, want)
			}
		}
	})
}
