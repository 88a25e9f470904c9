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

// marks shows that what people say of a run is on its timeline, and nowhere else.
func marks(t *testing.T, s logstore.Store) {
	r := newRun()
	write(t, s, r.record(job.StatusPending, ms(5), ""), r.finished(job.StatusFailed, "worker-1", time.Second))
	before := getRun(t, s, r.id())
	mark := func(as job.Mark, note string, after time.Duration) logstore.Update {
		u := r.update(runlog.KindMarked, after)
		u.Status, u.Mark, u.Reason, u.By = job.StatusFailed, as, note, "ann"
		return u
	}
	first, second := mark(job.MarkHandled, "the disk was full", time.Hour), mark(job.MarkSucceeded, "sent by hand", 2*time.Hour)
	write(t, s, second, first, first)
	if err := s.WriteRuns(t.Context(), "TEST:again", []logstore.Update{second, first}); err != nil { // under another token, too
		t.Fatal(err)
	}
	if d := cmp.Diff(before, getRun(t, s, r.id())); d != "" {
		t.Errorf("a mark changes the run: %s", d)
	}
	changes, err := s.Changes(t.Context(), r.id(), runlog.Whole)
	if err != nil {
		t.Fatal(err)
	}
	var got []runlog.Change
	for _, c := range changes {
		if c.Kind == runlog.KindMarked {
			got = append(got, c)
		}
	}
	change := func(u logstore.Update) runlog.Change {
		return runlog.Change{RunID: u.RunID, Job: u.Job, Attempt: 1, At: u.At, Kind: runlog.KindMarked, Status: job.StatusFailed, Detail: reason.Text(u.Reason), Mark: u.Mark, By: "ann"}
	}
	if d := cmp.Diff([]runlog.Change{change(first), change(second)}, got); d != "" {
		t.Error(d)
	}
	counts, err := s.Counts(t.Context(), logstore.RunFilter{Jobs: []job.Name{r.job}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[job.Status]int{job.StatusFailed: 1}, counts); d != "" {
		t.Errorf("a mark counts: %s", d)
	}
	wrong := mark("forgiven", "x", time.Hour)
	if err := s.WriteRuns(t.Context(), "", []logstore.Update{wrong}); err == nil {
		t.Error("a mark that is none was taken")
	}
}
