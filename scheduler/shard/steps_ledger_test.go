package shard

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
)

// updates returns what the records and the events of the runs say, as ingest writes it.
func (w *stepWorld) updates() (all []logstore.Update) {
	for _, r := range w.records {
		if err := r.Each(func(d journal.Decided) {
			u := logstore.Update{
				Kind: runlog.KindRecorded, RunID: d.RunID, Job: d.Job, Version: d.Version, Attempt: d.Attempt, Total: d.Total, Cause: d.Cause, At: r.At,
				Status: d.Status, Reason: d.Reason, By: d.By, Parent: d.Parent, Step: d.Step, Until: d.Until, Count: d.Count,
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
			w.fail("%v", err)
		}
	}
	for _, e := range w.events {
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

// judged returns what the ledger says is wrong if the history has these updates, a line for each run and step.
func (w *stepWorld) judged(updates []logstore.Update) (wrong []string) {
	store, err := sqlite.Open(w.t.Context(), filepath.Join(w.t.TempDir(), "log.db"))
	if err != nil {
		w.fail("%v", err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			w.fail("%v", err)
		}
	}()
	if err := store.WriteRuns(w.t.Context(), "all", updates); err != nil {
		w.fail("%v", err)
	}
	cursor := *w.trig.cursor
	cursor.Done = noon.Add(w.now + time.Hour)
	e := ledger.Evidence{
		Job: "g/a", Cursor: &cursor, Store: store, Since: noon.Add(-time.Hour), Ingested: true, Versions: []*bus.JobEntry{{Version: *w.version, Revision: 1}},
	}
	if _, err := e.Judge(w.t.Context(), noon, cursor.Done, func(e *outcome.Entry) bool {
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
		w.fail("%v", err)
	}
	return wrong
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
		want := fmt.Sprintf("step %s of %s: %s", step, p.id, reason.StepNothingKnown)
		if wrong := strings.Join(w.judged(left), "\n"); !strings.Contains(wrong, want) {
			w.fail("nothing is known of the end of %s of %s any more, and the ledger says:\n%s", step, p.id, wrong)
		}
		noticed++
	}
	if noticed < 20 {
		t.Errorf("only %d histories had a step to lose", noticed)
	}
}
