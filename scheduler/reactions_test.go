package scheduler_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// lines returns what the records say of the runs of a job, oldest first, as "attempt
// status".
func (w *world) lines(name job.Name) []string {
	w.t.Helper()
	var all []string
	w.records(func(_ *journal.Record, d journal.Decided) {
		if d.Job == name {
			all = append(all, fmt.Sprintf("%d %s", d.Attempt, d.Status))
		}
	})
	return all
}

// ends returns how the attempts of job g/a ended, oldest first, in the same words.
func (w *world) ends() []string {
	w.t.Helper()
	var all []string
	for _, e := range w.events() {
		if e.Job == "g/a" && e.Kind == bus.EventFinished {
			all = append(all, fmt.Sprintf("%d %s", e.Attempt, e.Status))
		}
	}
	return all
}

func (w *world) wantLines(name job.Name, want ...string) {
	w.t.Helper()
	if got := w.lines(name); !slices.Equal(got, want) {
		w.t.Errorf("%s: recorded %q, want %q", name, got, want)
	}
}

func TestAFailedRunIsTriedAgainWhoeverOwnsItsShard(t *testing.T) {
	run(t, func(w *world) {
		w.executeAs(func(tr *bus.Trigger) (time.Duration, job.Status) {
			if tr.Attempt < 3 {
				return time.Second, job.StatusFailed
			}
			return time.Second, job.StatusSucceeded
		})
		w.startNode("a")
		w.put("g/a", job.Schedule{}, func(j *job.Job) {
			j.Retry = job.Retry{Limit: 4, Backoff: job.BackoffConstant, Delay: job.Duration(20 * time.Second)}
		})
		time.Sleep(time.Second)
		if _, err := w.trigger(job.NewRunID(time.Now()), "g/a"); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		w.killNode("a") // the run waits for its second attempt
		w.startNode("b")
		time.Sleep(time.Minute)
		w.wantLines("g/a", "1 pending", "2 queued", "2 pending", "3 queued", "3 pending")
		if got, want := w.ends(), []string{"1 failed", "2 failed", "3 succeeded"}; !slices.Equal(got, want) {
			w.t.Errorf("attempts ended %q, want %q", got, want)
		}
		w.wantNothingLeft()
	})
}

// wantNothingLeft checks that no deferred item is on the stream but those that only
// remember, for a while, which runs were asked for.
func (w *world) wantNothingLeft() {
	w.t.Helper()
	w.scan(bus.SubjectAllDeferred, func(m *jet.Stored) {
		if d, err := journal.DecodeDeferred(m.Header, m.Data); err != nil || d.Kind != journal.DeferredAsked {
			w.t.Errorf("left on the stream: %s, %v", m.Data, err)
		}
	})
}

func TestRunsOfAJobWaitForOneAnother(t *testing.T) {
	run(t, func(w *world) {
		fires := make(chan time.Time, 64)
		w.executeAs(func(tr *bus.Trigger) (time.Duration, job.Status) {
			fires <- tr.FireTime
			return 2 * time.Second, job.StatusSucceeded
		})
		w.startNode("a")
		until := start.Add(8 * time.Second)
		w.put("g/a", job.Schedule{Cron: "* * * * * ?", Until: &until}, func(j *job.Job) {
			j.Overlap = job.Overlap{Policy: job.OverlapQueue, Queue: 3}
		})
		time.Sleep(4 * time.Second)
		w.stopNode("a")
		w.startNode("b")
		time.Sleep(time.Minute)
		var begun []time.Time
		for range len(fires) {
			begun = append(begun, <-fires)
		}
		if !slices.IsSortedFunc(begun, time.Time.Compare) {
			w.t.Errorf("runs overtook one another: %v", begun)
		}
		skipped := 0
		for _, f := range w.fires("g/a", time.Second) {
			if f.Status == job.StatusSkipped {
				skipped++
			}
		}
		if fired := len(begun) + skipped; fired != 8 || skipped == 0 || skipped > 3 {
			w.t.Errorf("%d runs, and %d skipped, of 8 fires; want all, and some skipped as three may wait", len(begun), skipped)
		}
		w.wantNothingLeft()
	})
}

func TestANewerRunReplacesTheOneThatRuns(t *testing.T) {
	run(t, func(w *world) {
		w.execute(30 * time.Second)
		w.startNode("a")
		until := start.Add(20 * time.Second)
		w.put("g/a", job.Schedule{Cron: "*/10 * * * * ?", Until: &until}, func(j *job.Job) { j.Overlap.Policy = job.OverlapReplace })
		time.Sleep(2 * time.Minute)
		if got, want := w.ends(), []string{"1 cancelled", "1 succeeded"}; !slices.Equal(got, want) {
			w.t.Errorf("runs ended %q, want %q", got, want)
		}
		w.wantNothingLeft()
	})
}

func TestAChildRunsOnceAfterItsParentWhicheverShardItIsIn(t *testing.T) {
	run(t, func(w *world) {
		w.executeAs(func(tr *bus.Trigger) (time.Duration, job.Status) {
			if tr.Job == "g/bad" {
				return time.Second, job.StatusFailed
			}
			return time.Second, job.StatusSucceeded
		})
		w.startNode("a")
		w.startNode("b") // the shards are spread over both
		time.Sleep(10 * time.Second)
		var children []job.Child
		for i := range 8 {
			name := job.Name(fmt.Sprintf("g/child-%d", i))
			w.put(name, job.Schedule{})
			children = append(children, job.Child{Job: name})
		}
		w.put("g/cleanup", job.Schedule{})
		w.put("g/parent", job.Schedule{}, func(j *job.Job) { j.Children = children })
		w.put("g/bad", job.Schedule{}, func(j *job.Job) {
			j.Children = []job.Child{{Job: "g/child-2"}, {Job: "g/cleanup", On: job.OnFailure}}
		})
		time.Sleep(time.Second)
		for _, name := range []job.Name{"g/parent", "g/bad"} {
			if _, err := w.trigger(job.NewRunID(time.Now()), name); err != nil {
				w.t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Minute)
		for _, c := range children {
			w.wantLines(c.Job, "1 pending")
		}
		w.wantLines("g/cleanup", "1 pending")
		w.wantNothingLeft()
	})
}

func TestAJobIsPausedWhenItFailsTooOften(t *testing.T) {
	run(t, func(w *world) {
		w.executeAs(func(*bus.Trigger) (time.Duration, job.Status) { return 0, job.StatusFailed })
		w.startNode("first")
		w.put("g/a", cron("*/10 * * * * ?"), func(j *job.Job) { j.PauseAfter = 3 })
		time.Sleep(25 * time.Second) // two failures
		w.killNode("first")
		w.startNode("b")
		time.Sleep(time.Minute)
		entry, err := w.conn.Jobs().Get(w.t.Context(), "g/a")
		if err != nil || !entry.Paused || entry.Author != "carillon" || !strings.Contains(entry.Note, "3 runs in a row") {
			w.t.Errorf("job %+v, %v; want it paused, with a note", entry, err)
		}
		if n := len(w.ends()); n != 3 {
			w.t.Errorf("%d runs, want 3", n)
		}
		w.wantNothingLeft()
	})
}

func TestARunThatWaitsCanBeCancelled(t *testing.T) {
	run(t, func(w *world) {
		w.execute(time.Minute)
		w.startNode("a")
		w.put("g/a", job.Schedule{}, func(j *job.Job) { j.Overlap.Policy = job.OverlapQueue })
		time.Sleep(time.Second)
		first, second := job.NewRunID(time.Now()), job.NewRunID(time.Now())
		if reply, err := w.trigger(first, "g/a"); err != nil || reply.Status != job.StatusPending {
			w.t.Fatalf("%+v, %v", reply, err)
		}
		if reply, err := w.trigger(second, "g/a"); err != nil || reply.Status != job.StatusQueued || reply.Reason == "" {
			w.t.Fatalf("%+v, %v; want it queued, with a reason", reply, err)
		}
		reply, err := w.cancel(second)
		if err != nil || reply.Found != job.StatusQueued {
			w.t.Fatalf("%+v, %v; want it found queued", reply, err)
		}
		time.Sleep(2 * time.Minute)
		w.wantLines("g/a", "1 pending", "1 queued", "1 cancelled")
		w.wantNothingLeft()
	})
}

func TestARunThatNobodyBeginsInTimeIsMissed(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{}, func(j *job.Job) { j.StartWithin = job.Duration(30 * time.Second) })
		time.Sleep(time.Second)
		if _, err := w.trigger(job.NewRunID(time.Now()), "g/a"); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(34 * time.Second)
		w.wantLines("g/a", "1 pending")
		time.Sleep(2 * time.Second)
		w.wantLines("g/a", "1 pending", "1 missed")
		notices := 0 // for the alerter, of what has ended only
		err := w.conn.Scan(w.t.Context(), bus.StreamTrig, bus.SubjectNotices, func(m *jet.Stored) bool {
			r, err := journal.DecodeRecord(m.Header, m.Data)
			if err != nil || len(r.Outcomes) != 1 || r.Outcomes[0].Status != job.StatusMissed {
				w.t.Errorf("notice %s: %v", m.Data, err)
			}
			notices++
			return true
		})
		if err != nil || notices != 1 {
			w.t.Errorf("%d notices: %v", notices, err)
		}
	})
}

func TestAChildMayHaveItsParentsResult(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/child", job.Schedule{}, func(j *job.Job) { j.Params = json.RawMessage(`"own"`) })
		w.put("g/a", job.Schedule{}, func(j *job.Job) { j.Children = []job.Child{{Job: "g/child", PassResult: true}} })
		time.Sleep(time.Second)
		id := job.NewRunID(time.Now())
		if _, err := w.trigger(id, "g/a"); err != nil {
			w.t.Fatal(err)
		}
		for _, tr := range w.pending() {
			e := bus.EventOf(tr, bus.EventFinished, time.Now())
			e.Status, e.Result = job.StatusSucceeded, json.RawMessage(`{"rows":7}`)
			(&executor{w: w, conn: w.conn}).say(w.t.Context(), e, w.conn.Tokens().Trigger(tr, tr.Retry.Limit > 0, time.Now()), "")
		}
		time.Sleep(5 * time.Second)
		found := false
		for _, tr := range w.pending() {
			if tr.Job == "g/child" {
				found = true
				if tr.ParentRun != id || tr.Depth != 1 || string(tr.Params) != `{"rows":7}` {
					w.t.Errorf("child's trigger %+v", tr)
				}
			}
		}
		if !found {
			w.t.Error("the child was not triggered")
		}
	})
}

// pending returns the triggers that are on the stream.
func (w *world) pending() []*bus.Trigger {
	w.t.Helper()
	synctest.Wait() // until the server has deleted what was acknowledged
	var all []*bus.Trigger
	err := w.conn.Scan(w.t.Context(), bus.StreamTrig, "trig.>", func(m *jet.Stored) bool {
		tr, err := bus.DecodeTrigger(m.Header, m.Data)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, tr)
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

func TestAnItemThatNobodyNudgesForIsSeenWithinSeconds(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/child", job.Schedule{})
		time.Sleep(10 * time.Second)
		for n := range 3 {
			letter := &journal.Deferred{Kind: journal.DeferredChild, Job: "g/child", Parent: &journal.ParentEnd{
				Job: "g/parent", RunID: job.NewRunID(time.Now()), Status: job.StatusSucceeded, At: time.Now(), Depth: 1,
			}}
			m, err := letter.Msg(job.Name("g/child").Shard(w.assets.Shards))
			if err == nil {
				_, err = w.conn.JS.PublishMsg(w.t.Context(), m)
			}
			if err != nil {
				w.t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
			if got := len(w.triggers()); got != n+1 {
				w.t.Errorf("%d items have made %d runs", n+1, got)
			}
		}
	})
}
