package bulk

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/trail"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
)

// mostPatched is how many jobs one request patches; the contract states it.
const mostPatched = 500

// patchOne is the operation that a patch does to each job: who may do that to a job may do it here.
const patchOne = "putJob"

// patched is a job to patch.
type patched struct {
	job     job.Name
	version int // that it must have; 0 is any
	back    int // the version to restore instead
}

// Patch changes fields of many jobs, or undoes such a change, or with dryRun says what that would change.
// All of it is one entry in the audit log, with the versions of each job. A job that is refused keeps no
// other from being changed.
func (m *Bulk) Patch(ctx context.Context, r *api.JobPatch, dryRun bool) (result api.JobPatchResult, err error) {
	result = api.JobPatchResult{DryRun: dryRun, Items: []api.JobPatchItem{}}
	var patch *catalog.Patch
	var jobs []patched
	switch {
	case r.Undo == "":
		if patch, err = catalog.DecodePatch(r.Patch); err == nil {
			jobs, err = m.toPatch(ctx, r)
		}
	case len(r.Jobs) > 0 || r.Filter != nil || len(r.Patch) > 0:
		err = job.Invalid("undo", "cannot be given together with jobs, filter or patch")
	default:
		jobs, err = m.toUndo(ctx, r.Undo)
	}
	if err != nil {
		return result, err
	}
	for _, p := range jobs {
		result.Items = append(result.Items, api.JobPatchItem{Job: p.job, Changes: []api.FieldChange{}})
	}
	step := func(_ context.Context, i int) (bulkStep, error) {
		name, err := job.ParseName(string(jobs[i].job))
		return bulkStep{operation: patchOne, group: name.Group(), do: func(ctx context.Context, _ bool) (bool, error) {
			return m.patchJob(auditlog.Unrecorded(ctx), jobs[i], patch, r.Note, dryRun, &result.Items[i])
		}}, err
	}
	// None has an entry of its own, as in a dry run: the entry is that of them all.
	m.each(ctx, len(jobs), true, step, func(i int, outcome api.BulkOutcome, why *api.Problem) {
		result.Items[i].Result, result.Items[i].Problem = outcome, why
	})
	if !dryRun {
		result.Change = describePatch(ctx, r.Note, result.Items)
	}
	return result, nil
}

// toPatch returns the jobs that a request names or finds.
func (m *Bulk) toPatch(ctx context.Context, r *api.JobPatch) (jobs []patched, err error) {
	switch {
	case (r.Filter != nil) == (len(r.Jobs) > 0):
		return nil, job.Invalid("jobs", "must be given, or filter, and not both")
	case len(r.Jobs) > mostPatched:
		return nil, job.Invalid("jobs", "has %d entries; at most %d are changed at once", len(r.Jobs), mostPatched)
	case r.Filter == nil:
		seen := map[job.Name]bool{}
		for _, t := range r.Jobs {
			if !seen[t.Job] {
				seen[t.Job] = true
				jobs = append(jobs, patched{job: t.Job, version: t.Version})
			}
		}
		return jobs, nil
	}
	page, err := m.catalog.Search().Find(ctx, searchOf(r.Filter), "", "", mostPatched)
	if err != nil {
		return nil, err
	}
	if page.Total > mostPatched {
		return nil, job.Invalid("filter", "selects %d jobs; at most %d are changed at once", page.Total, mostPatched)
	}
	for _, entry := range page.Entries {
		jobs = append(jobs, patched{job: entry.Job.Job})
	}
	return jobs, nil
}

// toUndo returns the jobs of a change that the caller sees, each to get back the version before it. The
// error is job.ErrNotFound if there are none.
func (m *Bulk) toUndo(ctx context.Context, id string) (jobs []patched, err error) {
	e, err := m.audit.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	theirs := access.Who(ctx).Access
	for _, c := range e.Changes {
		name, err := job.ParseName(c.Field)
		before, after := versionIn(c.From), versionIn(c.To)
		if err == nil && e.Operation == trail.PatchJobs && after != 0 && theirs.May(rights.Viewer, name.Group()) {
			jobs = append(jobs, patched{job: name, version: after, back: before})
		}
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("%w: %s", job.ErrNotFound, refusal.NoSuchChange)
	}
	return jobs, nil
}

// versionIn returns the number of a version in an entry; 0 if it is none.
func versionIn(value any) int {
	number, _ := value.(json.Number)
	n, _ := strconv.Atoi(number.String())
	return n
}

// patchJob patches one job, or gives it back the version before.
func (m *Bulk) patchJob(ctx context.Context, p patched, patch *catalog.Patch, note string, dryRun bool, item *api.JobPatchItem) (changed bool, err error) {
	edit := cluster.Edit{At: time.Now(), Author: access.Author(ctx), Note: note}
	var saved api.PutJobResult
	if patch != nil {
		saved, err = patch.Save(ctx, m.catalog, p.job, p.version, edit, dryRun)
	} else {
		saved, err = catalog.Revert(ctx, m.catalog, p.job, p.version, p.back, edit, dryRun)
	}
	if err != nil {
		return false, err
	}
	changed = saved.Result == api.PutJobResultResultChanged
	if item.Version = saved.Definition.Version; dryRun && changed {
		item.Version--
	}
	item.Changes, item.Warnings = saved.Changes, saved.Warnings
	return changed, nil
}

// describePatch says in the entry of a patch what it has changed, and returns its id: the fields, and the
// versions of each job before and after. Of a job that may have been changed, because its answer was lost,
// there are no versions. Without any job there is no entry, and no id.
func describePatch(ctx context.Context, note string, items []api.JobPatchItem) (id string) {
	e := auditlog.Entry(ctx)
	var jobs []trail.Change
	for i := range items {
		switch item := &items[i]; {
		case item.Result == api.BulkOutcomeChanged:
			jobs = append(jobs, trail.Change{Field: string(item.Job), From: item.Version - 1, To: item.Version})
		case item.Problem != nil && item.Problem.Status >= http.StatusInternalServerError:
			jobs = append(jobs, trail.Change{Field: string(item.Job)})
		}
	}
	if len(jobs) == 0 {
		e.Same = true
		return ""
	}
	group := job.Name(jobs[0].Field).Group()
	if !slices.ContainsFunc(jobs, func(c trail.Change) bool { return job.Name(c.Field).Group() != group }) {
		e.Group = group
	}
	auditlog.DescribeFields(ctx, true, note, commonFields(items))
	e.Changes = append(e.Changes, jobs...)
	return e.ID
}

// commonFields returns the fields that were changed of some job, with what they were and are as far as that
// is the same for all of these.
func commonFields(items []api.JobPatchItem) (fields []api.FieldChange) {
	at := map[string]int{}
	for i := range items {
		for _, c := range items[i].Changes {
			known, ok := at[c.Field]
			if !ok {
				at[c.Field] = len(fields)
				fields = append(fields, c)
				continue
			}
			all := &fields[known]
			if !reflect.DeepEqual(all.From, c.From) {
				all.From = nil
			}
			if !reflect.DeepEqual(all.To, c.To) {
				all.To = nil
			}
		}
	}
	return fields
}
