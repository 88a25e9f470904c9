package webapi

import (
	"context"
	"errors"
	"time"

	"carillon/job"
)

// ChangeJobs answers POST /jobs/bulk.
func (h *handlers) ChangeJobs(ctx context.Context, r ChangeJobsRequestObject) (ChangeJobsResponseObject, error) {
	b := r.Body
	limit, err := bulkPage(len(b.Jobs), "jobs", b.Filter != nil, b.Cursor, b.Limit)
	pauses := b.Action == JobBulkActionPause || b.Action == JobBulkActionResume
	err = errors.Join(err, onlyFor("note", b.Note != "" && !pauses, "pause or resume"), onlyFor("run_id", b.RunID != "" && b.Action != JobBulkActionRun, "run"))
	err = errors.Join(err, checkUntil(b.Action == JobBulkActionPause, b.Until, time.Now()))
	if b.RunID == "" {
		b.RunID = job.NewRunID(time.Now())
	} else if _, bad := job.ParseRunID(string(b.RunID)); bad != nil {
		err = errors.Join(err, bad)
	}
	if err != nil {
		return nil, err
	}
	result := JobBulkResult{Action: string(b.Action), DryRun: b.DryRun}
	names := once(b.Jobs)
	result.Total = len(names)
	if b.Filter != nil {
		q, err := h.jobQuery(ctx, jobFilter{b.Filter.Group, b.Filter.Q, b.Filter.Paused, b.Filter.Last}, b.Cursor, limit)
		if err != nil {
			return nil, err
		}
		found, total, more, err := h.index.find(ctx, q)
		if err != nil {
			return nil, explain(err, "the jobs are not loaded yet")
		}
		for _, entry := range found {
			names = append(names, entry.Job.Job)
		}
		if result.Total = total; more {
			result.Next = string(names[len(names)-1])
		}
	}
	result.Items = make([]JobBulkItem, len(names))
	for i, name := range names {
		result.Items[i].Job = name
	}
	step := func(_ context.Context, i int) (bulkStep, error) { return h.jobStep(b, &result.Items[i]) }
	h.bulk(ctx, len(names), b.DryRun, step, func(i int, outcome BulkOutcome, problem *Problem) {
		result.Items[i].Result, result.Items[i].Problem = outcome, problem
	})
	return ChangeJobs200JSONResponse(result), nil
}

// jobStep returns what a request does to the job of an item.
func (h *handlers) jobStep(b *JobBulk, item *JobBulkItem) (bulkStep, error) {
	name, err := job.ParseName(string(item.Job))
	if err != nil {
		return bulkStep{}, err
	}
	s := bulkStep{group: name.Group(), names: map[string]string{"group": name.Group(), "name": name.Short()}}
	// exists says of a dry run that the job is there, which is all that it takes.
	exists := func(ctx context.Context) (bool, error) {
		_, err := h.conn.GetJob(ctx, name)
		return err == nil, err
	}
	switch b.Action {
	case JobBulkActionPause, JobBulkActionResume:
		wish := wishedPause{paused: b.Action == JobBulkActionPause, until: b.Until, note: b.Note}
		s.operation = map[bool]string{true: "pauseJob", false: "resumeJob"}[wish.paused]
		s.do = func(ctx context.Context, dryRun bool) (bool, error) {
			if dryRun {
				entry, err := h.conn.GetJob(ctx, name)
				return err == nil && !wish.holds(&entry.Job, time.Now()), err
			}
			_, changed, err := h.pauseJob(ctx, name, "", wish)
			return changed, err
		}
	case JobBulkActionRun:
		s.operation = "runJob"
		s.do = func(ctx context.Context, dryRun bool) (bool, error) {
			if dryRun {
				return exists(ctx)
			}
			accepted, err := h.startJob(ctx, name, &RunRequest{RunID: job.BulkRunID(name, b.RunID), Cause: job.CauseManual})
			item.RunID = accepted.RunID
			return err == nil, err
		}
	case JobBulkActionDelete:
		s.operation = "deleteJob"
		s.do = func(ctx context.Context, dryRun bool) (bool, error) {
			if dryRun {
				return exists(ctx)
			}
			err := h.deleteJob(ctx, name, "")
			return err == nil, err
		}
	}
	return s, nil
}
