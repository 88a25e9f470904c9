package webapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"carillon/bus"
	"carillon/job"
	"carillon/job/runlog"
	"carillon/webapi/access"
	"carillon/webapi/auditlog"
	"carillon/webapi/problem"
)

// Defaults of what comes with a job; the contract states them.
const (
	shownFires = 5
	shownRuns  = 10
)

// GetJob answers GET /jobs/{group}/{name}.
func (h *handlers) GetJob(ctx context.Context, r GetJobRequestObject) (GetJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	entry, err := h.conn.GetJob(ctx, name)
	if err != nil {
		return nil, err
	}
	item, err := h.jobItem(ctx, entry, valueOr(r.Params.Fires, shownFires), valueOr(r.Params.Runs, shownRuns))
	if err != nil {
		return nil, err
	}
	item.Warnings = h.view.Warnings(ctx, &entry.Job)
	return GetJob200JSONResponse{Body: item, Headers: GetJob200ResponseHeaders{ETag: etag(item.Revision)}}, nil
}

// PutJob answers PUT /jobs/{group}/{name}.
func (h *handlers) PutJob(ctx context.Context, r PutJobRequestObject) (PutJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	if r.Body.Job != name {
		return nil, problem.Invalid("job", fmt.Sprintf("%q must be %q, as in the path", r.Body.Job, name))
	}
	edit, err := editOf(access.Author(ctx), r.Params.Note, r.Params.IfMatch, r.Params.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	result, err := h.saveJob(ctx, *r.Body, edit, r.Params.DryRun)
	if err != nil {
		return nil, err
	}
	tag := etag(result.Revision)
	if result.Result == PutJobResultResultCreated && !result.DryRun {
		return PutJob201JSONResponse{Body: result, Headers: PutJob201ResponseHeaders{ETag: tag}}, nil
	}
	return PutJob200JSONResponse{Body: result, Headers: PutJob200ResponseHeaders{ETag: tag}}, nil
}

// saveJob saves a job as the caller wishes it, or with dry tells what saving it would change. edit
// says on what condition.
func (h *handlers) saveJob(ctx context.Context, wish job.Job, edit bus.Edit, dry bool) (PutJobResult, error) {
	result := PutJobResult{Changes: []FieldChange{}, DryRun: dry}
	wish, err := canonical(wish)
	if err != nil {
		return result, err
	}
	was, err := h.conn.GetJob(ctx, wish.Job)
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return result, err
	}
	if wish, err = mayPut(ctx, was, wish, &edit); err != nil {
		return result, err
	}
	if result.Warnings, err = h.view.CheckJob(ctx, &wish); err != nil {
		return result, err
	}
	if err := h.checkChildren(ctx, was, wish); err != nil {
		return result, err
	}
	if dry {
		return dryRun(was, wish, edit, result)
	}
	entry, changed, err := h.conn.PutJob(ctx, wish, edit)
	if err != nil {
		return result, problem.Conditional(edit, err)
	}
	var before any
	if was != nil {
		before = was.Job
	}
	if err := auditlog.Describe(ctx, changed, edit.Note, before, entry.Job); err != nil {
		return result, err
	}
	if err := h.index.wrote(entry); err != nil {
		return result, err
	}
	result.Definition, result.Revision = entry.Version, entry.Revision
	switch {
	case !changed:
		result.Result = PutJobResultResultUnchanged
	case was == nil:
		result.Result = PutJobResultResultCreated
	default:
		result.Result = PutJobResultResultChanged
		result.Changes, err = auditlog.Diff(was.Job, entry.Job)
	}
	return result, err
}

// mayPut returns wish with what is stored where it has what the caller may not see.
// Then the edit is to replace exactly that version.
func mayPut(ctx context.Context, was *bus.JobEntry, wish job.Job, edit *bus.Edit) (job.Job, error) {
	theirs := access.Who(ctx).Access
	if was == nil {
		return access.Restored(theirs, nil, wish)
	}
	whole, err := access.Restored(theirs, &was.Job, wish)
	if err == nil && edit.IfRevision == 0 && !edit.IfAbsent && !reflect.DeepEqual(whole, wish) {
		edit.IfRevision = was.Revision
	}
	return whole, err
}

// dryRun tells what saving wish in the place of was, which may be nil, would change.
func dryRun(was *bus.JobEntry, wish job.Job, e bus.Edit, result PutJobResult) (PutJobResult, error) {
	switch {
	case e.IfAbsent && was != nil:
		return result, fmt.Errorf("%w: job %s exists already", problem.ErrPrecondition, wish.Job)
	case e.IfRevision != 0 && (was == nil || was.Revision != e.IfRevision):
		return result, fmt.Errorf("%w: job %s: revision %d is no longer the present one", problem.ErrPrecondition, wish.Job, e.IfRevision)
	case was == nil:
		result.Result = PutJobResultResultCreated
		result.Definition = job.Version{Job: wish, Version: 1, EffectiveFrom: e.At.UTC().Truncate(time.Millisecond), Author: e.Author, Note: e.Note}
		return result, nil
	}
	changes, err := auditlog.Diff(was.Job, wish)
	if err != nil {
		return result, err
	}
	result.Result, result.Changes, result.Definition, result.Revision = PutJobResultResultUnchanged, changes, was.Version, was.Revision
	if len(changes) > 0 {
		result.Result = PutJobResultResultChanged
		result.Definition.Job = wish
		result.Definition.Version++
		result.Definition.EffectiveFrom = e.At.UTC().Truncate(time.Millisecond)
		result.Definition.Author, result.Definition.Note = e.Author, e.Note
	}
	return result, nil
}

// DeleteJob answers DELETE /jobs/{group}/{name}.
func (h *handlers) DeleteJob(ctx context.Context, r DeleteJobRequestObject) (DeleteJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	edit, err := editOf(access.Author(ctx), "", r.Params.IfMatch, "")
	if err != nil {
		return nil, err
	}
	return DeleteJob204Response{}, h.deleteJob(ctx, name, edit)
}

// deleteJob deletes a job, on the condition that edit states.
func (h *handlers) deleteJob(ctx context.Context, name job.Name, edit bus.Edit) error {
	_, err := h.editJob(ctx, name, edit, func(v *job.Version) { v.Deleted = true })
	return err
}

// ListJobVersions answers GET /jobs/{group}/{name}/versions.
func (h *handlers) ListJobVersions(ctx context.Context, r ListJobVersionsRequestObject) (ListJobVersionsResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	entries, err := h.conn.JobVersions(ctx, name)
	if err != nil {
		return nil, err
	}
	list := VersionList{Items: make([]JobVersion, 0, len(entries))}
	for _, e := range slices.Backward(entries) {
		list.Items = append(list.Items, e.Version)
	}
	return ListJobVersions200JSONResponse(list), nil
}

// editJob changes a job's present version, and has the index know before it returns.
func (h *handlers) editJob(ctx context.Context, name job.Name, edit bus.Edit, change func(*job.Version)) (*bus.JobEntry, error) {
	entry, err := h.conn.EditJob(ctx, name, edit, change)
	if err != nil {
		return nil, problem.Conditional(edit, err)
	}
	return entry, h.index.wrote(entry)
}

// jobItem returns a job with its next fires and last runs.
func (h *handlers) jobItem(ctx context.Context, entry *bus.JobEntry, fires, runs int) (JobItem, error) {
	items, err := h.jobItems(ctx, []*bus.JobEntry{entry}, fires, runs, false)
	if err != nil {
		return JobItem{}, err
	}
	return items[0], nil
}

// jobItems returns jobs with their next fires and last runs, and with how they did in the
// last seven days if that is wanted.
func (h *handlers) jobItems(ctx context.Context, entries []*bus.JobEntry, fires, runs int, week bool) ([]JobItem, error) {
	names := make([]job.Name, len(entries))
	for i, e := range entries {
		names[i] = e.Job.Job
	}
	last := h.lastRuns(ctx, names, runs)
	figures := map[job.Name]JobWeek(nil)
	if week {
		figures = h.week.known(ctx)
	}
	forecast := newForecast(h.conn, time.Now())
	items := make([]JobItem, len(entries))
	for i, e := range entries {
		next, err := forecast.next(ctx, e, fires)
		if err != nil {
			return nil, err
		}
		items[i] = JobItem{Definition: e.Version, Revision: e.Revision, NextFires: next}
		if last != nil {
			items[i].LastRuns = append([]Run{}, last[e.Job.Job]...)
		}
		if figures != nil {
			items[i].Week = new(figures[e.Job.Job])
		}
	}
	return items, nil
}

// lastRunsTimeout is how long a list of jobs waits for what it can do without.
const lastRunsTimeout = 3 * time.Second

// lastRuns returns the newest n runs of each job, or nil when the log store does not
// answer: jobs must be seen, and can be paused, while it is away.
func (h *handlers) lastRuns(ctx context.Context, names []job.Name, n int) map[job.Name][]runlog.Run {
	if n == 0 || len(names) == 0 {
		return map[job.Name][]runlog.Run{}
	}
	ctx, cancel := context.WithTimeout(ctx, lastRunsTimeout)
	defer cancel()
	last, err := h.store.LastRuns(ctx, names, n)
	if err == nil {
		err = h.view.MarkSilent(ctx, slices.Collect(maps.Values(last))...)
	}
	if err != nil {
		h.log.WarnContext(ctx, "last runs are not known", "error", err)
		return nil
	}
	return last
}
