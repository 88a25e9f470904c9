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
	"carillon/bus/cluster"
	"carillon/job"
	"carillon/job/runlog"
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
	item.Warnings = h.warningsOf(ctx, &entry.Job)
	return GetJob200JSONResponse{Body: item, Headers: GetJob200ResponseHeaders{ETag: etag(item.Revision)}}, nil
}

// PutJob answers PUT /jobs/{group}/{name}.
func (h *handlers) PutJob(ctx context.Context, r PutJobRequestObject) (PutJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	wish, err := canonical(*r.Body)
	if err != nil {
		return nil, err
	}
	if wish.Job != name {
		return nil, invalid("job", fmt.Sprintf("%q must be %q, as in the path", wish.Job, name))
	}
	edit, err := editOf(author(ctx), r.Params.Note, r.Params.IfMatch, r.Params.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	was, err := h.conn.GetJob(ctx, name)
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return nil, err
	}
	if wish, err = mayPut(ctx, was, wish, &edit); err != nil {
		return nil, err
	}
	warnings, err := h.checkHandler(ctx, &wish, h.present())
	if err != nil {
		return nil, err
	}
	if err := h.checkChildren(ctx, was, wish); err != nil {
		return nil, err
	}
	result := PutJobResult{Changes: []FieldChange{}, Warnings: warnings, DryRun: r.Params.DryRun}
	if r.Params.DryRun {
		return dryRun(was, wish, edit, result)
	}
	entry, changed, err := h.conn.PutJob(ctx, wish, edit)
	if err != nil {
		return nil, conditional(edit, err)
	}
	var before any
	if was != nil {
		before = was.Job
	}
	if err := describe(ctx, changed, r.Params.Note, before, entry.Job); err != nil {
		return nil, err
	}
	if err := h.index.wrote(entry); err != nil {
		return nil, err
	}
	result.Definition, result.Revision = entry.Version, entry.Revision
	headers := etag(entry.Revision)
	switch {
	case !changed:
		result.Result = PutJobResultResultUnchanged
	case was == nil:
		result.Result = PutJobResultResultCreated
		return PutJob201JSONResponse{Body: result, Headers: PutJob201ResponseHeaders{ETag: headers}}, nil
	default:
		result.Result = PutJobResultResultChanged
		if result.Changes, err = diff(was.Job, entry.Job); err != nil {
			return nil, err
		}
	}
	return PutJob200JSONResponse{Body: result, Headers: PutJob200ResponseHeaders{ETag: headers}}, nil
}

// mayPut returns wish with what is stored where it has what the caller may not see.
// Then the edit is to replace exactly that version.
func mayPut(ctx context.Context, was *bus.JobEntry, wish job.Job, edit *cluster.Edit) (job.Job, error) {
	access := whoIs(ctx).Access
	if was == nil {
		return restored(access, nil, wish)
	}
	whole, err := restored(access, &was.Job, wish)
	if err == nil && edit.IfRevision == 0 && !edit.IfAbsent && !reflect.DeepEqual(whole, wish) {
		edit.IfRevision = was.Revision
	}
	return whole, err
}

// dryRun tells what saving wish in the place of was, which may be nil, would change.
func dryRun(was *bus.JobEntry, wish job.Job, e cluster.Edit, result PutJobResult) (PutJobResponseObject, error) {
	switch {
	case e.IfAbsent && was != nil:
		return nil, fmt.Errorf("%w: job %s exists already", errPrecondition, wish.Job)
	case e.IfRevision != 0 && (was == nil || was.Revision != e.IfRevision):
		return nil, fmt.Errorf("%w: job %s: revision %d is no longer the present one", errPrecondition, wish.Job, e.IfRevision)
	case was == nil:
		result.Result = PutJobResultResultCreated
		result.Definition = job.Version{Job: wish, Version: 1, EffectiveFrom: e.At.UTC().Truncate(time.Millisecond), Author: e.Author, Note: e.Note}
		return PutJob200JSONResponse{Body: result, Headers: PutJob200ResponseHeaders{ETag: etag(0)}}, nil
	}
	changes, err := diff(was.Job, wish)
	if err != nil {
		return nil, err
	}
	result.Result, result.Changes, result.Definition, result.Revision = PutJobResultResultUnchanged, changes, was.Version, was.Revision
	if len(changes) > 0 {
		result.Result = PutJobResultResultChanged
		result.Definition.Job = wish
		result.Definition.Version++
		result.Definition.EffectiveFrom = e.At.UTC().Truncate(time.Millisecond)
		result.Definition.Author, result.Definition.Note = e.Author, e.Note
	}
	return PutJob200JSONResponse{Body: result, Headers: PutJob200ResponseHeaders{ETag: etag(was.Revision)}}, nil
}

// DeleteJob answers DELETE /jobs/{group}/{name}.
func (h *handlers) DeleteJob(ctx context.Context, r DeleteJobRequestObject) (DeleteJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	if err := h.deleteJob(ctx, name, r.Params.IfMatch); err != nil {
		return nil, err
	}
	return DeleteJob204Response{}, nil
}

func (h *handlers) deleteJob(ctx context.Context, name job.Name, ifMatch string) error {
	_, err := h.editJob(ctx, name, "", ifMatch, func(v *job.Version) { v.Deleted = true })
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
func (h *handlers) editJob(ctx context.Context, name job.Name, note, ifMatch string, change func(*job.Version)) (*bus.JobEntry, error) {
	edit, err := editOf(author(ctx), note, ifMatch, "")
	if err != nil {
		return nil, err
	}
	entry, err := h.conn.EditJob(ctx, name, edit, change)
	if err != nil {
		return nil, conditional(edit, err)
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
		err = h.markSilent(ctx, slices.Collect(maps.Values(last))...)
	}
	if err != nil {
		h.log.WarnContext(ctx, "last runs are not known", "error", err)
		return nil
	}
	return last
}
