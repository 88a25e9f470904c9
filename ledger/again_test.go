package ledger_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// putWorkflow saves a workflow of two steps that has no schedule.
func (b *beat) putWorkflow(name job.Name) {
	b.Helper()
	j := job.Job{Job: name, Steps: []job.Step{stepAfter("a"), stepAfter("b", "a")}}.WithDefaults()
	_, _, err := b.conn.Jobs().Put(b.Context(), j, cluster.Edit{At: time.Now().Add(-time.Millisecond)})
	b.check(err)
}

// flowed has the history say that runs of a workflow have begun and, if so, have ended, the second step of each so.
func (b *beat) flowed(name job.Name, cause job.Cause, ended bool, last job.Status, ids ...job.RunID) {
	b.Helper()
	var updates []logstore.Update
	for _, id := range ids {
		u := logstore.Update{Kind: runlog.KindStarted, RunID: id, Job: name, Version: 1, Attempt: 1, Cause: cause, At: id.Time(), StartedAt: id.Time()}
		updates = append(updates, u)
		u.Kind, u.Status = runlog.KindRecorded, job.StatusSucceeded
		if ended {
			updates = append(updates, u)
		}
		for step, status := range map[string]job.Status{"a": job.StatusSucceeded, "b": last} {
			s := u
			s.RunID, s.Cause, s.Parent, s.Step, s.Status = job.StepRunID(id, step), job.CauseStep, id, step, status
			updates = append(updates, s)
		}
	}
	b.check(b.store.WriteRuns(b.Context(), "", updates))
}

func TestAPatrolJudgesTheStepsOfARunOnceItHasEnded(t *testing.T) {
	onPatrol(t, func(b *beat) {
		b.putWorkflow("flow/a")
		bad, good := job.NewRunID(at(5)), job.NewRunID(at(6))
		b.flowed("flow/a", job.CauseManual, false, job.StatusPending, bad, good)
		b.decided(10)
		b.round()
		b.flowed("flow/a", job.CauseManual, true, job.StatusSkipped, bad)
		b.flowed("flow/a", job.CauseManual, true, job.StatusSucceeded, good)
		b.decided(20)
		b.round("flow/a 12:05")
	})
}

// A rerun has the fire time of the run that it repeats, which may be days ago.
func TestAPatrolJudgesRerunsOfThePast(t *testing.T) {
	onPatrol(t, func(b *beat) {
		b.putWorkflow("flow/a")
		b.decided(10)
		b.round()
		b.flowed("flow/a", job.CauseRerun, true, job.StatusSkipped, job.NewRunID(at(-7*24*60)))
		b.decided(20)
		b.round("flow/a 12:00")
	})
}

// So many runs are judged in several rounds, and then from the beginning again.
func TestAPatrolGoesOnWithManyRunsInTheNextRound(t *testing.T) {
	onPatrol(t, func(b *beat) {
		b.putWorkflow("flow/a")
		b.putWorkflow("flow/b")
		many := make([]job.RunID, 700)
		for i := range many {
			many[i] = job.NewRunID(at(-100).Add(time.Duration(i) * time.Second))
		}
		b.flowed("flow/a", job.CauseManual, true, job.StatusSucceeded, many...)
		b.decided(10)
		b.round()
		b.flowed("flow/a", job.CauseManual, true, job.StatusSkipped, job.NewRunID(at(-100)))
		b.flowed("flow/b", job.CauseManual, true, job.StatusSkipped, job.NewRunID(at(-100)))
		b.decided(20)
		b.round("flow/b 10:20")
		b.decided(30)
		b.round("flow/b 10:20", "flow/a 10:20") // as they were found
	})
}
