package logstoretest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// joined shows that further parents of a run are on its timeline, each once, and nowhere else.
func joined(t *testing.T, s logstore.Store) {
	r := newRun()
	parents := []job.RunID{"019ca8a0-3efb-7c4e-a410-42ae38c1c984", "019ca8a0-3efc-7c4e-a410-42ae38c1c984"}
	join := func(parent job.RunID) logstore.Update {
		u := r.update(runlog.KindJoined, ms(5))
		u.Status, u.Parent = job.StatusPending, parent
		return u
	}
	write(t, s, r.record(job.StatusPending, ms(5), ""), join(parents[1]), join(parents[0]), join(parents[0]), r.finished(job.StatusSucceeded, "worker-1", time.Second))
	if err := s.WriteRuns(t.Context(), "TEST:again", []logstore.Update{join(parents[1])}); err != nil { // under another token, too
		t.Fatal(err)
	}
	if run := getRun(t, s, r.id())[0]; run.Parent != "" || run.Status != job.StatusSucceeded {
		t.Errorf("a joined parent changes the run: %+v", run)
	}
	changes, err := s.Changes(t.Context(), r.id(), runlog.Whole)
	if err != nil {
		t.Fatal(err)
	}
	var got []runlog.Change
	for _, c := range changes {
		if c.Kind == runlog.KindJoined {
			got = append(got, c)
		}
	}
	var want []runlog.Change
	for _, parent := range parents {
		u := join(parent)
		want = append(want, runlog.Change{RunID: u.RunID, Job: u.Job, Attempt: 1, At: u.At, Kind: runlog.KindJoined, Status: job.StatusPending, Parent: parent})
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err := s.WriteRuns(t.Context(), "", []logstore.Update{join("")}); err == nil {
		t.Error("a joined update without a parent was taken")
	}
}
