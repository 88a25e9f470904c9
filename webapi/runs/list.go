package runs

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/nodes"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Names returns texts as names of jobs.
func Names(texts []string) []job.Name {
	all := make([]job.Name, len(texts))
	for i, text := range texts {
		all[i] = job.Name(text)
	}
	return all
}

// List returns a page of the runs that a request selects.
func (rs *Runs) List(ctx context.Context, p *api.ListRunsParams) (api.RunPage, error) {
	filter, err := Filter(ctx, rs.catalog.Search(), p)
	if err != nil {
		return api.RunPage{}, err
	}
	found, err := rs.store.Runs(ctx, filter)
	if err != nil {
		return api.RunPage{}, problem.StoreAway(err)
	}
	if err := rs.explain(ctx, found.Runs); err != nil {
		return api.RunPage{}, err
	}
	return api.RunPage{Items: append([]api.Run{}, found.Runs...), Next: found.Next}, nil
}

// explain adds to listed runs what instances and groups say of those that are alive.
func (rs *Runs) explain(ctx context.Context, listed []runlog.Run) error {
	markOnHold(listed)
	if err := rs.view.MarkSilent(ctx, listed); err != nil {
		return err
	}
	if err := logstore.MarkHeld(ctx, rs.store, listed); err != nil {
		return problem.StoreAway(err)
	}
	return rs.view.MarkWaiting(ctx, listed)
}

// Causes returns those that a request selects: without any, all but tests.
func Causes(asked []job.Cause) []job.Cause {
	if len(asked) == 0 {
		return job.CountedCauses
	}
	return asked
}

// Filter returns what runs a request selects. The search is of the jobs that have an owner or a tag.
func Filter(ctx context.Context, jobs *catalog.Search, p *api.ListRunsParams) (logstore.RunFilter, error) {
	filter := logstore.RunFilter{
		Group: p.Group, Statuses: p.Status, Causes: Causes(p.Cause), Instance: p.Instance, Version: p.Version,
		From: p.From.UTC(), To: p.To.UTC(), Limit: cmp.Or(p.Limit, pageSize), Cursor: p.Cursor,
		Parent: job.RunID(p.Parent), AllAttempts: p.Attempts == api.ListRunsParamsAttemptsAll, MinAttempt: p.MinAttempt, Error: p.Error,
	}
	if p.Sort != "" {
		by, falling := strings.CutPrefix(string(p.Sort), "-")
		if by == "fire_time" {
			by = string(logstore.SortFire)
		}
		filter.Sort = logstore.RunOrder{By: logstore.SortKey(by), Rising: !falling}
	}
	if err := withoutWaiting(&filter, p.Waiting); err != nil {
		return filter, err
	}
	if p.RerunOf != "" {
		if p.Parent != "" || len(p.Cause) > 0 {
			return filter, &job.InvalidError{Field: "rerun_of", Reason: "leaves no room for parent and cause: leave them out"}
		}
		filter.Parent, filter.Causes = job.RunID(p.RerunOf), []job.Cause{job.CauseRerun}
	}
	var err error
	if filter.Jobs, err = jobs.Within(ctx, catalog.Of{Group: p.Group, Owner: p.Owner, Tag: p.Tag}, Names(p.Job)); err != nil {
		return filter, err
	}
	return filter, filter.Validate()
}

// Detail returns a run with its attempts, its timeline and what it was given.
func (rs *Runs) Detail(ctx context.Context, id string) (api.RunDetail, error) {
	attempts, err := rs.Attempts(ctx, id)
	if err != nil {
		return api.RunDetail{}, err
	}
	changes, err := rs.store.Changes(ctx, attempts[0].RunID, runlog.Whole)
	if err != nil {
		return api.RunDetail{}, problem.StoreAway(err)
	}
	if err := rs.view.MarkSilent(ctx, attempts); err != nil {
		return api.RunDetail{}, err
	}
	newest := &attempts[0]
	markOnHold(attempts[:1])
	if err := logstore.MarkHeld(ctx, rs.store, attempts[:1]); err != nil {
		return api.RunDetail{}, problem.StoreAway(err)
	}
	if err := rs.view.MarkWaiting(ctx, attempts[:1]); err != nil {
		return api.RunDetail{}, err
	}
	if err := rs.countLines(ctx, attempts); err != nil {
		return api.RunDetail{}, problem.StoreAway(err)
	}
	asking, cancel := context.WithTimeout(ctx, nodes.CompletionTimeout)
	defer cancel()
	given, err := rs.overrides(asking, newest)
	if err != nil && rs.view.WithoutBus(ctx, err) != nil {
		return api.RunDetail{}, err
	}
	detail := api.RunDetail{
		RunID: newest.RunID, Job: newest.Job, Status: newest.RunStatus(), Params: given.Params, Labels: given.Labels,
		Attempts: attempts, Changes: append([]api.Change{}, changes...), Mark: markOf(changes),
		Error: logstore.FailureOf(newest),
	}
	if newest.Cause == job.CauseRerun {
		detail.RerunOf = newest.Parent
	}
	detail.Steps, err = rs.countSteps(asking, newest)
	if err != nil && rs.view.WithoutBus(ctx, err) != nil {
		return api.RunDetail{}, err
	}
	return detail, nil
}

// countLines raises the numbers of log lines to what is stored. Lines may come after the end that told a
// number, and an executor that died told none.
func (rs *Runs) countLines(ctx context.Context, attempts []runlog.Run) error {
	last, err := rs.history.LastLines(ctx, attempts[0].RunID, attempts[0].Job)
	if err != nil {
		return err
	}
	for i := range attempts {
		r := &attempts[i]
		if seq := last[r.Attempt]; seq > 0 && r.Instance != "" {
			r.LogLines = max(r.LogLines, int((seq-1)%bus.LogBlock+1))
		}
	}
	return nil
}

// Attempts returns all attempts of a run, the newest first. A run that another server has accepted may be
// on its way to the history: for that it waits, at most 3 s, in a slot of the caller's. Errors:
// job.ErrInvalid, job.ErrNotFound, access.ErrOthers, problem.ErrTooMany if too many of the caller's requests
// wait, and job.ErrUnavailable while the history lacks records.
func (rs *Runs) Attempts(ctx context.Context, text string) ([]runlog.Run, error) {
	attempts, err := rs.Stored(ctx, text)
	if !errors.Is(err, job.ErrNotFound) || errors.Is(err, access.ErrOthers) {
		return attempts, err
	}
	slot, err := access.Of(ctx).Wait(ctx)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	switch complete, err := rs.ledger.Ingested(ctx); {
	case err != nil:
		return nil, err
	case !complete:
		return nil, problem.Explain(job.ErrUnavailable, finding.NotInHistoryYet.String())
	}
	return rs.Stored(ctx, text)
}

// Stored returns what the history has of a run by now, the newest attempt first, or what this server has
// accepted. Errors: job.ErrInvalid, job.ErrNotFound, access.ErrOthers, job.ErrUnavailable.
func (rs *Runs) Stored(ctx context.Context, text string) ([]runlog.Run, error) {
	id, err := job.ParseRunID(text)
	if err != nil {
		return nil, err
	}
	attempts, err := rs.store.Run(ctx, id)
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	return attempts, nil
}
