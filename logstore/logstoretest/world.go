package logstoretest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// epoch is the fire time of most runs of the suite.
var epoch = time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)

const report job.Name = "billing/report"

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// run is a scheduled run, of which the suite derives what the bus would say.
type run struct {
	job     job.Name
	fire    time.Time
	attempt int
	version int
}

func newRun() run { return run{job: report, fire: epoch, attempt: 1, version: 3} }

func (r run) of(name job.Name) run      { r.job = name; return r }
func (r run) at(fire time.Time) run     { r.fire = fire; return r }
func (r run) try(attempt int) run       { r.attempt = attempt; return r }
func (r run) ofVersion(version int) run { r.version = version; return r }

func (r run) id() job.RunID {
	return job.FireRunID(r.job, r.fire.UnixMilli(), job.CauseSchedule)
}

func (r run) update(kind runlog.Kind, after time.Duration) logstore.Update {
	return logstore.Update{
		Kind: kind, RunID: r.id(), Job: r.job, Version: r.version, Attempt: r.attempt, Cause: job.CauseSchedule,
		At: r.fire.Add(after), CommittedAt: r.fire.Add(ms(5)),
	}
}

func (r run) recorded(status job.Status) logstore.Update {
	u := r.update(runlog.KindRecorded, ms(5))
	u.Status = status
	return u
}

func (r run) started(instance string, delivery int, after time.Duration) logstore.Update {
	u := r.update(runlog.KindStarted, after)
	u.Instance, u.Delivery, u.StartedAt = instance, delivery, u.At
	return u
}

func (r run) progress(percent float64, text string, after time.Duration) logstore.Update {
	u := r.update(runlog.KindProgress, after)
	u.Instance, u.Delivery, u.StartedAt, u.Progress, u.ProgressText = "worker-1", 1, r.fire.Add(ms(10)), percent, text
	return u
}

func (r run) finished(status job.Status, instance string, after time.Duration) logstore.Update {
	u := r.update(runlog.KindFinished, after)
	u.Status, u.Instance, u.Delivery, u.StartedAt, u.FinishedAt = status, instance, 1, r.fire.Add(ms(10)), u.At
	return u
}

// row is the run's row of history as far as its record tells.
func (r run) row(status job.Status) runlog.Run {
	return runlog.Run{
		RunID: r.id(), Job: r.job, Version: r.version, Attempt: r.attempt, Status: status, Cause: job.CauseSchedule,
		FireTime: r.fire, CommittedAt: r.fire.Add(ms(5)), Count: 1,
	}
}

// writes counts batches, so that each has a token of its own.
type writes struct {
	store logstore.Store
	n     int
}

func (w *writes) token() string {
	w.n++
	return fmt.Sprintf("TEST:%d-%d", w.n, w.n)
}

func (w *writes) runs(t *testing.T, updates ...logstore.Update) {
	t.Helper()
	if err := w.store.WriteRuns(t.Context(), w.token()+tokenOf(updates...), updates); err != nil {
		t.Fatal(err)
	}
}

func (w *writes) lines(t *testing.T, lines ...runlog.Line) {
	t.Helper()
	if err := w.store.WriteLines(t.Context(), w.token(), lines); err != nil {
		t.Fatal(err)
	}
}

// tokenOf names a batch by what is in it: a repeat has the same token.
func tokenOf(updates ...logstore.Update) string {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, updates)
	return fmt.Sprintf("TEST:%d", h.Sum64())
}

// write writes each update in a batch of its own.
func write(t *testing.T, s logstore.Store, updates ...logstore.Update) {
	t.Helper()
	for _, u := range updates {
		if err := s.WriteRuns(t.Context(), tokenOf(u), []logstore.Update{u}); err != nil {
			t.Fatal(err)
		}
	}
}

// writeInTwo writes every other update in one batch, and then the others in another: so most runs
// change that are there, at the cost of two writes.
func writeInTwo(t *testing.T, s logstore.Store, updates ...logstore.Update) {
	t.Helper()
	var batches [2][]logstore.Update
	for i, u := range updates {
		batches[i%2] = append(batches[i%2], u)
	}
	w := &writes{store: s}
	for _, b := range batches {
		w.runs(t, b...)
	}
}

func getRun(t *testing.T, s logstore.Store, id job.RunID) []runlog.Run {
	t.Helper()
	runs, err := s.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func wantRun(t *testing.T, s logstore.Store, want ...runlog.Run) {
	t.Helper()
	if diff := cmp.Diff(want, getRun(t, s, want[0].RunID), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("run differs (-want +got):\n%s", diff)
	}
}

// timeline returns a run's changes in a line each: how long after its fire time,
// what, and by whom.
func timeline(t *testing.T, s logstore.Store, r run) []string {
	t.Helper()
	changes, err := s.Changes(t.Context(), r.id(), runlog.Whole)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range changes {
		if c.RunID != r.id() || c.Job != r.job {
			t.Errorf("a change is of %s of %s", c.RunID, c.Job)
		}
		line := fmt.Sprintf("%d: +%v %s %s", c.Attempt, c.At.Sub(r.fire), c.Kind, c.Status)
		if c.Instance != "" {
			line += fmt.Sprintf(" %s/%d", c.Instance, c.Delivery)
		}
		if c.Kind == runlog.KindProgress {
			line += fmt.Sprintf(" %g%%", c.Progress)
		}
		if c.Detail != "" {
			line += ": " + string(c.Detail)
		}
		lines = append(lines, line)
	}
	return lines
}

func wantTimeline(t *testing.T, s logstore.Store, r run, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, timeline(t, s, r)); diff != "" {
		t.Errorf("timeline differs (-want +got):\n%s", diff)
	}
}

func wantInvalid(t *testing.T, err error, field string) {
	t.Helper()
	var invalid *job.InvalidError
	if !errors.As(err, &invalid) || invalid.Field != field {
		t.Errorf("the error is %v; want an *InvalidError for %s", err, field)
	}
}

func list(t *testing.T, s logstore.Store, f logstore.RunFilter) logstore.RunPage {
	t.Helper()
	page, err := s.Runs(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return page
}
