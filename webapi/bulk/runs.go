package bulk

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
	"github.com/carillon-scheduler/carillon/webapi/runs"
)

// maxReason bounds why a run is cancelled, in bytes; the contract states it.
const maxReason = 500

// ofAction are the statuses of runs that an action is for, where a filter names none.
var ofAction = map[api.RunBulkAction][]api.Status{
	api.RunBulkActionCancel: {job.StatusPending, job.StatusQueued, job.StatusRunning},
	api.RunBulkActionRerun:  {job.StatusFailed, job.StatusTimedOut, job.StatusCancelled, job.StatusLost},
	api.RunBulkActionMark:   {job.StatusFailed, job.StatusTimedOut, job.StatusCancelled, job.StatusLost},
}

// Runs does to each of some runs what a request of its own would do.
func (m *Bulk) Runs(ctx context.Context, b *api.RunBulk) (api.RunBulkResult, error) {
	limit, err := bulkPage(len(b.Runs), "runs", b.Filter != nil, b.Cursor, b.Limit)
	if err = errors.Join(err, checkRunBulk(b)); err != nil {
		return api.RunBulkResult{}, err
	}
	if b.Key == "" {
		b.Key = string(job.NewRunID(time.Now()))
	}
	result := api.RunBulkResult{Action: string(b.Action), DryRun: b.DryRun}
	ids := once(b.Runs)
	if b.Filter != nil {
		filter, err := runs.Filter(ctx, m.catalog.Search(), filterParams(b, limit))
		if err != nil {
			return api.RunBulkResult{}, err
		}
		found, err := m.store.Runs(ctx, filter)
		if err != nil {
			return api.RunBulkResult{}, problem.StoreAway(err)
		}
		for i := range found.Runs {
			ids = append(ids, found.Runs[i].RunID)
		}
		result.Next = found.Next
	}
	result.Items = make([]api.RunBulkItem, len(ids))
	for i, id := range ids {
		result.Items[i].RunID = id
	}
	step := func(ctx context.Context, i int) (bulkStep, error) { return m.runStep(ctx, b, &result.Items[i]) }
	m.each(ctx, len(ids), b.DryRun, step, func(i int, outcome api.BulkOutcome, why *api.Problem) {
		result.Items[i].Result, result.Items[i].Problem = outcome, why
	})
	return result, nil
}

// checkRunBulk reports what does not go together in a request.
func checkRunBulk(b *api.RunBulk) error {
	rerun := b.Action == api.RunBulkActionRerun
	errs := []error{
		onlyFor("force", b.Force && b.Action != api.RunBulkActionCancel, "cancel"),
		onlyFor("as", b.As != "" && b.Action != api.RunBulkActionMark, "mark"),
		onlyFor("version", b.Version != "" && !rerun, "rerun"),
		onlyFor("pieces", b.Pieces != "" && !rerun, "rerun"),
		onlyFor("key", b.Key != "" && !rerun, "rerun"),
		onlyFor("note", b.Note != "" && rerun, "cancel or mark"),
	}
	switch {
	case b.Action == api.RunBulkActionMark:
		errs = append(errs, job.CheckMark(b.As, b.Note))
	case len(b.Note) > maxReason:
		errs = append(errs, job.Invalid("note", "has %d bytes; of cancel at most %d are kept", len(b.Note), maxReason))
	}
	return errors.Join(errs...)
}

// filterParams returns what a list of the runs would be asked for with.
func filterParams(b *api.RunBulk, limit int) *api.ListRunsParams {
	f := b.Filter
	p := &api.ListRunsParams{
		Job: f.Job, Group: f.Group, Owner: f.Owner, Tag: f.Tag, Status: f.Status, Cause: f.Cause, Instance: f.Instance, Version: f.Version, From: f.From, To: f.To,
		Parent: f.Parent, RerunOf: f.RerunOf, MinAttempt: f.MinAttempt, Error: f.Error, Cursor: b.Cursor, Limit: limit,
	}
	if len(p.Status) == 0 {
		p.Status = ofAction[b.Action]
	}
	return p
}

// runStep returns what a request does to the run of an item, as the history has it.
func (m *Bulk) runStep(ctx context.Context, b *api.RunBulk, item *api.RunBulkItem) (bulkStep, error) {
	attempts, err := m.runs.Attempts(ctx, string(item.RunID))
	if err != nil {
		return bulkStep{}, err
	}
	run := &attempts[0]
	s := bulkStep{group: run.Job.Group(), names: map[string]string{"run_id": string(run.RunID)}}
	if access.Who(ctx).Access.May(access.Permits["getRun"].Role, s.group) {
		item.Job, item.Status = run.Job, run.RunStatus()
	}
	switch b.Action {
	case api.RunBulkActionCancel:
		s.operation = "cancelRun"
		s.do = checkedRun(run, runs.MayCancel, func(ctx context.Context) error {
			found, err := m.runs.Cancel(ctx, run.RunID, run.Job, b.Note, b.Force)
			if err == nil {
				item.Status = found // its owner knows best
			}
			return err
		})
	case api.RunBulkActionRerun:
		s.operation = "rerunRun"
		if b.DryRun {
			if item.ReranAs, err = m.rerunOf(ctx, run.RunID); err != nil {
				return bulkStep{}, err
			}
		}
		s.do = checkedRun(run, runs.MayRerun, func(ctx context.Context) error {
			accepted, err := m.runs.Rerun(ctx, attempts, &api.RerunRequest{Version: b.Version, Pieces: b.Pieces, Key: b.Key})
			item.RerunRunID = accepted.RunID
			return err
		})
	case api.RunBulkActionMark:
		s.operation = "markRun"
		s.do = checkedRun(run, runs.MayMark, func(ctx context.Context) error {
			_, err := m.runs.Mark(ctx, run, b.As, b.Note)
			return err
		})
	}
	return s, nil
}

// rerunOf returns the newest rerun of a run; "" when there is none.
func (m *Bulk) rerunOf(ctx context.Context, id job.RunID) (job.RunID, error) {
	filter, err := runs.Filter(ctx, m.catalog.Search(), &api.ListRunsParams{RerunOf: string(id), Limit: 1})
	if err != nil {
		return "", err
	}
	found, err := m.store.Runs(ctx, filter)
	if err != nil || len(found.Runs) == 0 {
		return "", problem.StoreAway(err)
	}
	return found.Runs[0].RunID, nil
}

// checkedRun returns what is done to a run whose state allows it.
func checkedRun(run *runlog.Run, allows func(*runlog.Run) error, change func(context.Context) error) func(context.Context, bool) (bool, error) {
	return func(ctx context.Context, dryRun bool) (bool, error) {
		if err := allows(run); err != nil {
			return false, err
		}
		if !dryRun {
			if err := change(ctx); err != nil {
				return false, err
			}
		}
		return true, nil
	}
}
