package shard

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
)

// updatesOf returns what records and events of runs say, as ingest writes it.
func updatesOf(t *testing.T, records []*journal.Record, events []*bus.Event) (all []logstore.Update) {
	t.Helper()
	for _, r := range records {
		if err := r.Each(func(d journal.Decided) {
			u := logstore.Update{
				Kind: runlog.KindRecorded, RunID: d.RunID, Job: d.Job, Version: d.Version, Attempt: d.Attempt, Total: d.Total, Cause: d.Cause, At: r.At,
				Status: d.Status, Reason: d.Reason, By: d.By, Parent: d.Parent, Step: d.Step, Wait: d.Wait, Until: d.Until, Count: d.Count,
			}
			if len(d.Result) > 0 {
				end := u
				end.Kind, end.FinishedAt, end.Result = runlog.KindFinished, r.At, d.Result
				all = append(all, end)
			}
			if d.Status == job.StatusRunning {
				u.Kind, u.StartedAt = runlog.KindStarted, r.At
			}
			if d.Retry {
				u.Kind, u.Message, u.FinishedAt, u.Retry = runlog.KindFinished, d.Reason, r.At, true
			}
			all = append(all, u)
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range events {
		u := logstore.Update{
			Kind: runlog.KindFinished, RunID: e.RunID, Job: e.Job, Version: e.Version, Attempt: e.Attempt, Cause: e.Cause, At: e.At, CommittedAt: e.CommittedAt,
			Status: e.Status, FinishedAt: e.At, Result: e.Result, Retry: e.Retry,
		}
		if e.Total > 0 {
			u.Piece, u.Total = runlog.PieceAt(e.Index), e.Total
		}
		all = append(all, u)
	}
	return all
}

// judgeSteps returns what the ledger says is wrong with the runs of a version, of which the history has these updates
// and the shard of which has come to an instant: a line for each run and step.
func judgeSteps(t *testing.T, v *job.Version, updates []logstore.Update, done time.Time) (wrong []string) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := store.WriteRuns(t.Context(), "all", updates); err != nil {
		t.Fatal(err)
	}
	e := ledger.Evidence{
		Job: v.Job.Job, Cursor: &journal.Cursor{Shard: simShard, Done: done, JobsSeq: 1}, Store: store, Since: noon.Add(-time.Hour), Ingested: true,
		Versions: []*bus.JobEntry{{Version: *v, Revision: 1}},
	}
	if _, err := e.Judge(t.Context(), noon, done, func(e *outcome.Entry) bool {
		if e.Outcome == outcome.Discrepancy {
			wrong = append(wrong, fmt.Sprintf("run %s: %s", e.RunID, e.Reason))
		}
		for _, s := range e.Steps {
			if s.Outcome == outcome.StepDiscrepancy {
				wrong = append(wrong, fmt.Sprintf("step %s of %s: %s", s.Step, e.RunID, s.Reason))
			}
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return wrong
}

// updates returns what the history of the world has.
func (w *stepWorld) updates() []logstore.Update { return updatesOf(w.t, w.records, w.events) }

// judged returns what the ledger says an hour later is wrong if the history has these updates.
func (w *stepWorld) judged(updates []logstore.Update) []string {
	return judgeSteps(w.t, w.version, updates, noon.Add(w.now+time.Hour))
}

func TestTheLedgerFindsRandomWorkflowsClean(t *testing.T) {
	for seed := range histories(200) {
		w := newStepWorld(t, seed)
		w.run()
		if wrong := w.judged(w.updates()); len(wrong) > 0 {
			w.fail("the ledger says:\n%s", strings.Join(wrong, "\n"))
		}
	}
}

// The end of a step is lost from the history: the line of a record, or the event.
func TestTheLedgerNoticesTheLossOfAnyEndOfAStep(t *testing.T) {
	noticed := 0
	for seed := range histories(200) {
		w := newStepWorld(t, seed)
		w.run()
		if w.cancelled {
			continue
		}
		p := w.plays[w.rng.IntN(len(w.plays))]
		step := w.version.Steps[w.rng.IntN(len(w.version.Steps))].Name
		if p.round[step] > 0 {
			continue // the round before would count
		}
		lost := job.StepRunID(p.id, step)
		var left []logstore.Update
		for _, u := range w.updates() {
			if u.RunID != lost || !u.Status.Final() || u.Piece != runlog.Whole {
				left = append(left, u)
			}
		}
		want := fmt.Sprintf("step %s of %s: %s", step, p.id, finding.StepNothingKnown)
		if wrong := strings.Join(w.judged(left), "\n"); !strings.Contains(wrong, want) {
			w.fail("nothing is known of the end of %s of %s any more, and the ledger says:\n%s", step, p.id, wrong)
		}
		noticed++
	}
	if noticed < 20 {
		t.Errorf("only %d histories had a step to lose", noticed)
	}
}

// The item that says how far a run has come is deleted from the stream by hand, and the owner dies. The run does not end
// any more, though its steps do.
func TestTheLedgerNoticesTheLossOfWhatARunHasComeTo(t *testing.T) {
	f := newFlow(t, after("a"), after("b", "a"), after("c", "b"))
	var v *job.Version
	f.fire(func(put *job.Version) { v = put })
	f.ends("a", job.StatusSucceeded, "")
	maps.DeleteFunc(f.trig.deferred, func(_ uint64, d *journal.Deferred) bool { return d.Kind == journal.DeferredSteps })
	f.succeed()
	f.wantSaid("run lost: " + reason.WorkflowUnknown.String())
	f.ends("b", job.StatusSucceeded, "") // an executor has it all the same
	f.wantOut()
	f.wantOver()
	f.now += time.Hour
	id := runAt(time.Second)
	want := []string{
		fmt.Sprintf("run %s: %s", id, finding.StepsContradict.With("c")), fmt.Sprintf("step c of %s: %s", id, finding.StepNothingKnown),
	}
	if wrong := judgeSteps(t, v, updatesOf(t, f.records, f.events), noon.Add(f.now)); !slices.Equal(wrong, want) {
		t.Errorf("the ledger says %v, want %v", wrong, want)
	}
}

// The item of a step that is out is deleted from the stream by hand, and the owner dies.
func TestAStepWhoseItemIsGoneIsLost(t *testing.T) {
	f := newFlow(t, after("a"), after("b", "a:end"), after("c", "a"))
	f.fire()
	maps.DeleteFunc(f.trig.deferred, func(_ uint64, d *journal.Deferred) bool { return d.Kind == journal.DeferredAlive })
	f.succeed()
	f.wantSaid("a lost: "+reason.StepUnknown.String(), "c skipped: it runs on success of step a, which ended as lost")
	f.ends("b", job.StatusSucceeded, "")
	if !strings.Contains(strings.Join(f.said, "\n"), "run failed") {
		t.Errorf("the run goes on: %q", f.said)
	}
	f.wantOver()
}
