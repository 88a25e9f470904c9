package ledger_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/logstore"
)

func TestARunThatWasAcceptedAndNeverBeganIsADiscrepancy(t *testing.T) {
	w := newWorld(t, job.Schedule{Cron: "0 * * * *"})
	w.wrote(60, job.StatusPending)
	accepted := func(minute int, s job.Status, why string) job.RunID {
		id := job.LaterRunID(job.NewRunID(noon), at(minute).UnixMilli())
		w.wrote(minute, s, func(u *logstore.Update) { u.RunID, u.Cause, u.Reason, u.At = id, job.CauseAPI, why, at(0) })
		return id
	}
	waits := func(minute int) string { return reason.StepWaitsUntil.With(at(minute)) }
	lost := accepted(30, job.StatusQueued, waits(30))
	accepted(40, job.StatusQueued, reason.JobPaused.String())
	accepted(41, job.StatusPending, "")
	accepted(42, job.StatusCancelled, "cancelled")
	lostToo := accepted(70, job.StatusQueued, waits(70))
	accepted(117, job.StatusQueued, waits(117)) // maybe it is about to begin
	accepted(130, job.StatusQueued, waits(130))
	judged := func() (all []string) {
		if _, err := w.Judge(t.Context(), at(1), at(200), func(e *outcome.Entry) bool {
			if e.Outcome != outcome.Undecided {
				all = append(all, e.FireTime.Format("15:04 ")+string(e.RunID)+" "+string(e.Outcome)+" "+string(e.Reason))
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	const why = " discrepancy it was accepted, and neither began nor ended, though its shard has come up to 2026-01-05T14:00:00Z"
	fired := "13:00 " + string(job.FireRunID(report, at(60).UnixMilli(), job.CauseSchedule)) + " pending "
	due := "14:00 " + string(job.FireRunID(report, at(120).UnixMilli(), job.CauseSchedule)) + " discrepancy nothing is known of it, though its shard has come up to 2026-01-05T14:00:00Z"
	if d := cmp.Diff([]string{"12:30 " + string(lost) + why, fired, "13:10 " + string(lostToo) + why, due}, judged()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	w.Waits = func(_ context.Context, id job.RunID) (bool, error) { return id == lost, nil } // a pause holds it
	if d := cmp.Diff([]string{fired, "13:10 " + string(lostToo) + why, due}, judged()); d != "" {
		t.Errorf("with one that a pause holds (-want +got):\n%s", d)
	}
	w.Ingested = false // what became of them may be in records that are on their way
	if got := judged(); len(got) != 2 {
		t.Errorf("before all is in the history: %q", got)
	}
}
