package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/internal/condition"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/cron"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// StepTolerance is how long after the end of a workflow's run the end of a step may come into the history. The
// executor tells it on another stream than the scheduler tells that of the run.
const StepTolerance = time.Minute

// judgeSteps adds what became of the steps of the run of an entry, if that is one of a workflow. An entry whose
// steps contradict their graph becomes a discrepancy.
func (v Evidence) judgeSteps(ctx context.Context, e *outcome.Entry) error {
	switch e.Outcome { //nolint:exhaustive // in the others there was no run
	case outcome.Ran, outcome.CaughtUp, outcome.Pending:
	case outcome.Skipped:
		if !skippedBySteps(e.Reason) {
			return nil
		}
	default:
		return nil
	}
	of := v.version(e.Version)
	if of == nil || len(of.Steps) == 0 {
		return nil
	}
	run, err := v.attempt(ctx, e.RunID)
	if err != nil || run == nil { // it has been deleted since
		return err
	}
	j := &graphJudge{of: of, run: run}
	j.settled = v.Ingested && j.run.RunStatus().Final() && j.run.FinishedAt.Add(StepTolerance).Before(v.Cursor.DoneFor(v.Job))
	j.good = func(r *runlog.Run) (int, error) { return v.goodPieces(ctx, r.RunID) }
	j.result = func(r *runlog.Run) (json.RawMessage, error) { return v.result(ctx, r) }
	if v.Ingested {
		j.until = v.Cursor.DoneFor(v.Job)
	}
	if j.rows, err = v.stepRows(ctx, j.run); err != nil {
		return err
	}
	j.holds = func(s *job.Step) (bool, error, error) { return v.holds(ctx, j, s) }
	j.origin = func(id job.RunID) (*runlog.Run, error) { return v.attempt(ctx, id) }
	steps, wrong := j.judge()
	e.Steps = steps
	if wrong != "" {
		contradict(e, wrong)
	}
	return nil
}

// skippedBySteps reports whether a run counts as skipped because all of its steps were.
func skippedBySteps(why reason.Text) bool {
	return reason.Read(string(why)).Code == reason.StepsSkipped.Code
}

// version returns a version that is kept, nil if it is not.
func (v Evidence) version(number int) *job.Job {
	for _, entry := range v.Versions {
		if entry.Version.Version == number {
			return &entry.Job
		}
	}
	return nil
}

// stepRows returns the newest attempts of the runs of a run's steps.
func (v Evidence) stepRows(ctx context.Context, run *runlog.Run) (map[job.RunID]*runlog.Run, error) {
	rows := map[job.RunID]*runlog.Run{}
	all, err := v.all(ctx, logstore.RunFilter{
		Causes: []job.Cause{job.CauseStep, job.CauseParent}, Parent: run.RunID,
		From: run.FireTime, To: run.FireTime.Add(time.Millisecond), Limit: logstore.MaxRuns,
	})
	for i := range all {
		if r := &all[i]; r.Step != "" && (r.Job == v.Job || r.Cause == job.CauseParent) { // a called run, or one of its own
			rows[r.RunID] = r
		}
	}
	return rows, err
}

// holds evaluates the condition of a step with what the history has of its sources. unknown says why it
// cannot be evaluated, err why it cannot be computed.
func (v Evidence) holds(ctx context.Context, j *graphJudge, s *job.Step) (holds bool, unknown, err error) {
	c, err := condition.Parse(s.If)
	if err != nil {
		return false, err, nil
	}
	zone, err := cron.LoadZone(j.of.Schedule.Zone)
	if err != nil {
		return false, err, nil
	}
	if c.ReadsParams() && !j.run.Cause.Scheduled() { // any other may have been given its own
		return false, errors.New(finding.StepParamsUnknown.String()), nil
	}
	params, err := job.ParamsAt(j.of.Params, j.run.FireTime, zone.Location())
	if err != nil {
		return false, err, nil
	}
	values := condition.Values{Params: params, Results: map[string]json.RawMessage{}, Status: map[string]string{}}
	for _, name := range c.Steps() {
		r := j.row(name)
		if r == nil {
			return false, errors.New(finding.StepNothingKnown.String()), nil
		}
		values.Status[name] = string(r.StepStatus())
	}
	for _, name := range c.Results() {
		if values.Status[name] != string(job.StatusSucceeded) {
			continue
		}
		if values.Results[name], err = v.result(ctx, j.row(name)); err != nil {
			return false, err, nil
		}
	}
	holds, err = c.Holds(values)
	return holds, nil, err
}

// result returns what the run of a step has returned, or the one from which it was taken over. Lists do not have it.
func (v Evidence) result(ctx context.Context, r *runlog.Run) (json.RawMessage, error) {
	id := r.RunID
	if said := reason.Read(string(r.Reason)); said.Code == reason.StepTaken.Code {
		id = job.RunID(said.Params["run_id"])
	}
	of, err := v.attempt(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case of == nil:
		return nil, errors.New(finding.StepNothingKnown.String())
	}
	return of.Result, nil
}

// goodPieces returns how many pieces of a run have succeeded.
func (v Evidence) goodPieces(ctx context.Context, id job.RunID) (int, error) {
	page, err := v.Store.Pieces(ctx, logstore.PieceFilter{RunID: id, Limit: 1})
	if err != nil {
		return 0, fmt.Errorf("%w: read pieces of run %s: %w", job.ErrUnavailable, id, err)
	}
	return page.Counts[job.StatusSucceeded], nil
}

// attempt returns the newest attempt of a run, nil if the history has none.
func (v Evidence) attempt(ctx context.Context, id job.RunID) (*runlog.Run, error) {
	attempts, err := v.Store.Run(ctx, id)
	switch {
	case errors.Is(err, job.ErrNotFound):
		return nil, nil //nolint:nilnil // as documented
	case err != nil:
		return nil, fmt.Errorf("%w: read run %s: %w", job.ErrUnavailable, id, err)
	}
	return &attempts[0], nil
}
