package logstoretest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// holds shows that a row tells the last hold of a run, whatever the order in which it was told.
func holds(t *testing.T, s logstore.Store) {
	last := func(r run) *runlog.Hold {
		return &runlog.Hold{Since: r.fire.Add(time.Second), By: "bob", Note: "disk full", Change: 11}
	}
	orders := inAnyOrder(t, s, func(r run) []logstore.Update {
		held := r.record(job.StatusPending, ms(7), "")
		held.Hold = &runlog.Hold{Since: r.fire.Add(ms(7)), By: "ann", Change: 8}
		begun := func(after time.Duration, h *runlog.Hold) logstore.Update {
			u := r.update(runlog.KindStarted, after)
			u.StartedAt, u.Hold = u.At, h
			return u
		}
		resumed := *held.Hold
		resumed.ResumedAt, resumed.ResumedBy, resumed.Change = r.fire.Add(ms(9)), "bob", 9
		return []logstore.Update{r.recorded(job.StatusPending), held, begun(ms(9), &resumed), begun(time.Second, last(r)), r.record(job.StatusCancelled, time.Minute, "cancelled")}
	}, func(t *testing.T, r run) {
		t.Helper()
		got := getRun(t, s, r.id())[0]
		if diff := cmp.Diff(last(r), got.Hold); diff != "" || got.Status != job.StatusCancelled || !got.StartedAt.Equal(r.fire.Add(ms(9))) || !got.CommittedAt.Equal(r.fire.Add(ms(5))) {
			t.Errorf("%+v\n%s", got, diff)
		}
	})
	if orders == 0 {
		t.Error("nothing was tried")
	}
}

// holdChanges shows that each hold of a run and its end are on the timeline, once, and nowhere else.
func holdChanges(t *testing.T, s logstore.Store) {
	r := newRun()
	write(t, s, r.record(job.StatusPending, ms(5), ""))
	before := getRun(t, s, r.id())
	change := func(kind runlog.Kind, by, note string, after time.Duration) (logstore.Update, runlog.Change) {
		u := r.update(kind, after)
		u.Status, u.By, u.Reason = job.StatusPending, by, note
		return u, runlog.Change{RunID: u.RunID, Job: u.Job, Attempt: 1, At: u.At, Kind: kind, Status: u.Status, Detail: reason.Text(note), By: by}
	}
	held, wantHeld := change(runlog.KindOnHold, "ann", "disk is full", time.Minute)
	resumed, wantResumed := change(runlog.KindResumed, "bob", "", time.Hour)
	write(t, s, resumed, held, held)
	if err := s.WriteRuns(t.Context(), "TEST:again", []logstore.Update{held}); err != nil { // under another token, too
		t.Fatal(err)
	}
	if d := cmp.Diff(before, getRun(t, s, r.id())); d != "" {
		t.Errorf("a hold in the timeline changes the run: %s", d)
	}
	changes, err := s.Changes(t.Context(), r.id(), runlog.Whole)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]runlog.Change{wantHeld, wantResumed}, changes[1:]); d != "" {
		t.Error(d)
	}
	held.Status = job.StatusSucceeded
	wantInvalid(t, held.Validate(), "status")
}
