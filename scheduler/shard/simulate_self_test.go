package shard

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// These tests are of the simulator itself: what it takes for right.

func TestRunsWaitInTheOrderOfTheirItems(t *testing.T) {
	w := newWorld(rand.NewPCG(0, 1))
	runs := []*life{{id: job.NewRunID(noon), order: 2}, {id: job.NewRunID(noon), order: 1}}
	b := &stored{}
	for _, r := range runs {
		trigger, err := json.Marshal(&bus.Trigger{RunID: r.id, Job: w.names[0]})
		if err != nil {
			t.Fatal(err)
		}
		b.deferred = append(b.deferred, &journal.Deferred{Kind: journal.DeferredQueued, Job: w.names[0], Trigger: trigger})
		w.lives.byRun[r.id] = r
	}

	w.lives.noteQueued(b)

	if runs[0].order != 1 || runs[1].order != 2 {
		t.Errorf("the run of the first item is number %d, that of the second number %d", runs[0].order, runs[1].order)
	}
}

func TestFiresOfOneBatchWaitInTheOrderOfTheirFireTimes(t *testing.T) {
	w := newWorld(rand.NewPCG(0, 1))
	queue := func(fire int64) *life {
		l := journal.Decided{
			RunID: job.NewRunID(noon), Job: w.names[0], Version: 1, Attempt: 1, Cause: job.CauseSchedule, Status: job.StatusQueued,
			FireTime: instant(fire), Reason: "it waits for 1 earlier run",
		}
		w.lives.begins(l, true, "")
		return w.lives.byRun[l.RunID]
	}
	later, earlier := queue(2000), queue(1000) // as a record has them that joins the fires of several jobs

	if !w.lives.precedes(earlier, later) || w.lives.precedes(later, earlier) {
		t.Error("the later fire comes first")
	}
	w.lives.before = w.lives.queued // in batches after that, what counts is the order of the items
	if w.lives.precedes(earlier, later) || !w.lives.precedes(later, earlier) {
		t.Error("the order of the items does not count")
	}
}

func TestARunThatLeavesTheQueueWaitsBehindThoseThatLackAnInstanceAlready(t *testing.T) {
	w := newWorld(rand.NewPCG(0, 1))
	name := w.names[0]
	line := func(id job.RunID, cause job.Cause, s job.Status, reason string) journal.Decided {
		return journal.Decided{RunID: id, Job: name, Attempt: 1, Cause: cause, Status: s, Reason: reason}
	}
	asked, filled := job.NewRunID(noon), job.NewRunID(noon)
	lack := "it waits until an instance of executor group g0 is online that does such tasks"
	w.lives.begins(line(asked, job.CauseManual, job.StatusQueued, "it waits for 1 earlier run"), true, "")
	w.lives.begins(line(filled, job.CauseBackfill, job.StatusQueued, lack), true, "")

	w.lives.goesOn(line(asked, job.CauseManual, job.StatusQueued, lack), 1, nil)
	w.lives.goesOn(line(filled, job.CauseBackfill, job.StatusPending, ""), 2, nil)

	if r := w.lives.byRun[filled]; r.status != job.StatusPending {
		t.Errorf("the run that has waited for an instance longer is %s", r.status)
	}
}
