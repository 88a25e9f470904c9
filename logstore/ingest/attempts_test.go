package ingest_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
)

// outcome publishes a record of one outcome of f's run.
func (w *world) outcome(f fire, after time.Duration, o journal.Outcome) {
	w.t.Helper()
	o.Cause, o.FireTime, o.Jobs = job.CauseSchedule, f.time(), []string{journal.JobVersion(f.job, 3)}
	r := &journal.Record{Shard: 1, Epoch: 1, Commit: fmt.Sprint(f, after), Node: "a", At: f.time().Add(after), Outcomes: []journal.Outcome{o}}
	w.publish(r.Msg())
}

// ended returns f's finished event of an attempt, so long after the fire.
func (f fire) ended(attempt int, status job.Status, after time.Duration) *bus.Event {
	e := f.finished(status)
	e.Attempt, e.At, e.FinishedAt, e.StartedAt = attempt, f.time().Add(after), f.time().Add(after), f.time().Add(after-5*time.Millisecond)
	return e
}

func (w *world) wantRun(f fire, want ...string) {
	w.t.Helper()
	attempts, err := w.store.Run(w.t.Context(), f.id())
	if err != nil {
		w.t.Fatal(err)
	}
	var got []string
	for _, r := range attempts {
		line := fmt.Sprintf("#%d %s", r.Attempt, r.Status)
		if r.Retrying {
			line += ", to be tried again"
		}
		if !r.FinishedAt.IsZero() {
			line += fmt.Sprintf(" after %v", r.FinishedAt.Sub(f.time()))
		}
		got = append(got, line+": "+string(r.Reason))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("the run differs (-want +got):\n%s", diff)
	}
}

func TestEachAttemptOfARunIsInTheHistory(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		f := fire{report, 0}
		w.record(f)
		first := f.ended(1, job.StatusFailed, time.Second)
		first.Retry = true
		w.say(first)
		time.Sleep(time.Minute)
		w.wantRun(f, "#1 failed, to be tried again after 1s: ")
		w.outcome(f, 2*time.Second, journal.Outcome{Status: job.StatusQueued, Attempt: 2, Reason: "attempt 1 failed; the next is due 10s later"})
		time.Sleep(time.Minute)
		w.wantRun(f, "#2 queued: attempt 1 failed; the next is due 10s later", "#1 failed after 1s: ")
		second := f.ended(2, job.StatusFailed, 15*time.Second)
		second.Retry = true
		w.say(second)
		w.outcome(f, 12*time.Second, journal.Outcome{Status: job.StatusPending, Attempt: 2})
		w.outcome(f, 16*time.Second, journal.Outcome{Status: job.StatusFailed, Attempt: 2, Reason: "there is no further attempt"})
		lines := f.log("one", "two")
		lines.Attempt = 2
		w.print(lines)
		time.Sleep(time.Minute)
		w.wantRun(f, "#2 failed after 15s: there is no further attempt", "#1 failed after 1s: ")
		w.wantRows(1)
		got, err := w.store.Lines(w.t.Context(), logstore.LineFilter{RunID: f.id(), Attempt: 2})
		if err != nil || len(got) != 2 {
			w.t.Errorf("the second attempt has the lines %+v, with %v", got, err)
		}
	})
}

// The owner ends an attempt that is done in pieces, and has another follow, in one record.
func TestAnAttemptInPiecesHasAnEndWhenAnotherFollows(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		f := fire{report, 0}
		w.outcome(f, ms(4), journal.Outcome{Status: job.StatusPending, Total: 2})
		w.outcome(f, time.Second, journal.Outcome{Status: job.StatusFailed, Total: 2, Retry: true, Reason: "1 of 2 pieces succeeded; 1 failed"})
		w.outcome(f, time.Second, journal.Outcome{Status: job.StatusQueued, Total: 2, Attempt: 2, Reason: "attempt 2 repeats 1 of them"})
		time.Sleep(time.Minute)
		attempts, err := w.store.Run(w.t.Context(), f.id())
		if err != nil || len(attempts) != 2 {
			w.t.Fatalf("the run has the attempts %+v, with %v", attempts, err)
		}
		if first := attempts[1]; first.Status != job.StatusFailed || first.Retrying || !first.FinishedAt.Equal(f.time().Add(time.Second)) || first.Message != "1 of 2 pieces succeeded; 1 failed" {
			w.t.Errorf("the first attempt is %+v", first)
		}
		if newest := attempts[0]; newest.RunStatus() != job.StatusQueued {
			w.t.Errorf("the run is %s; want queued", newest.RunStatus())
		}
	})
}

func TestEndsWithoutAnExecutorAreInTheHistory(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		child := fire{report, 1}
		w.outcome(child, ms(5), journal.Outcome{Status: job.StatusQueued, Reason: "it waits for 1 earlier run", ParentRun: fire{report, 0}.id()})
		w.outcome(child, time.Second, journal.Outcome{Status: job.StatusCancelled, Reason: "called off by ann"})
		missed := fire{report, 2}
		w.record(missed)
		time.Sleep(2 * time.Hour)
		w.say(missed.ended(1, job.StatusMissed, time.Hour))
		time.Sleep(time.Minute)
		w.wantRun(child, "#1 cancelled after 1s: called off by ann")
		w.wantRun(missed, "#1 missed after 1h0m0s: ")
		page, err := w.store.Runs(w.t.Context(), logstore.RunFilter{Parent: fire{report, 0}.id()})
		if err != nil || len(page.Runs) != 1 || page.Runs[0].RunID != child.id() {
			w.t.Errorf("the children are %+v, with %v", page.Runs, err)
		}
	})
}

func TestARunInPiecesBeginsWithItsFirstPieceAndEndsWithItsRecord(t *testing.T) {
	run(t, func(w *world) {
		f := fire{report, 0}
		for i := range 3 {
			e := f.ended(1, job.StatusSucceeded, time.Duration(10-i)*time.Second)
			e.Index, e.Total, e.Instance = i, 4, fmt.Sprintf("worker-%d", i)
			w.say(e)
			lines := f.log(fmt.Sprintf("this is piece %d", i))
			lines.Index, lines.Total = i, 4
			w.print(lines)
		}
		w.outcome(f, ms(5), journal.Outcome{Status: job.StatusPending, Total: 4})
		w.start("a")
		time.Sleep(time.Minute)
		w.wantRun(f, "#1 running: ")
		w.wantRows(1)
		runs, err := w.store.Run(w.t.Context(), f.id())
		if err != nil || runs[0].Total != 4 || !runs[0].StartedAt.Equal(f.time().Add(8*time.Second-ms(5))) {
			w.t.Errorf("the run is %+v, with %v; want 4 pieces, begun with the last one that was told", runs, err)
		}
		page, err := w.store.Pieces(w.t.Context(), logstore.PieceFilter{RunID: f.id()})
		if err != nil || len(page.Pieces) != 3 || page.Counts[job.StatusSucceeded] != 3 || page.Pieces[2].Instance != "worker-2" {
			w.t.Errorf("the pieces are %+v, with %v", page, err)
		}
		lines, err := w.store.Lines(w.t.Context(), logstore.LineFilter{RunID: f.id(), Attempt: 1, Piece: runlog.PieceAt(1)})
		if err != nil || len(lines) != 1 || lines[0].Text != "this is piece 1" {
			w.t.Errorf("the second piece has the lines %+v, with %v", lines, err)
		}
		w.outcome(f, 12*time.Second, journal.Outcome{Status: job.StatusSucceeded})
		time.Sleep(time.Minute)
		w.wantRun(f, "#1 succeeded after 12s: ")
	})
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// Nobody reports the start and the end of a run that is done in steps: records tell both.
func TestAWorkflowRunsFromItsFirstStepToTheEndOfItsLast(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		f := fire{report, 0}
		w.record(f)
		w.outcome(f, time.Second, journal.Outcome{Status: job.StatusRunning})
		time.Sleep(time.Second)
		w.wantRun(f, "#1 running: ")
		w.outcome(f, time.Minute, journal.Outcome{Status: job.StatusFailed, Reason: "1 of 2 steps ended badly: a"})
		time.Sleep(time.Second)
		w.wantRun(f, "#1 failed after 1m0s: 1 of 2 steps ended badly: a")
		attempts, err := w.store.Run(w.t.Context(), f.id())
		if err != nil || !attempts[0].StartedAt.Equal(f.time().Add(time.Second)) {
			t.Errorf("the run began at %v, %v; want a second after its fire", attempts, err)
		}
	})
}

func TestAStepThatSomebodyHasResolvedSaysWhoAndWhatItReturns(t *testing.T) {
	run(t, func(w *world) {
		in := w.start("a")
		f, whole := fire{report, 0}, fire{report, 1}
		resolved := reason.Join(reason.StepResolved.With("ann"), "by hand")
		w.outcome(f, 2*time.Second, journal.Outcome{
			Status: job.StatusSucceeded, Reason: resolved, By: "ann", ParentRun: whole.id(), Step: "load", Result: json.RawMessage(`{"rows":3}`),
		})
		time.Sleep(time.Minute)
		attempts, err := w.store.Run(w.t.Context(), f.id())
		if err != nil || len(attempts) != 1 {
			w.t.Fatal(attempts, err)
		}
		at := f.time().Add(2 * time.Second)
		want := runlog.Run{
			RunID: f.id(), Job: report, Version: 3, Attempt: 1, Status: job.StatusSucceeded, Cause: job.CauseSchedule, Parent: whole.id(), Step: "load",
			FireTime: f.time(), CommittedAt: at, FinishedAt: at, Reason: reason.Text(resolved), By: "ann", Result: json.RawMessage(`{"rows":3}`), Count: 1,
		}
		if diff := cmp.Diff(want, attempts[0]); diff != "" {
			w.t.Errorf("the run differs (-want +got):\n%s", diff)
		}
		if n := in.counter("carillon_runs_total", "status", "succeeded"); n != 1 {
			w.t.Errorf("%v ends are counted", n)
		}
	})
}
