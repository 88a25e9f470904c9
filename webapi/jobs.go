package webapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/bulk"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/nodes"
	"github.com/carillon-scheduler/carillon/webapi/runs"
)

// jobHandlers answer requests about jobs: what they are, and changes to them.
type jobHandlers struct {
	conn    *cluster.Conn
	catalog *catalog.Catalog
	view    *nodes.View
	bulk    *bulk.Bulk
}

// Defaults of what comes with a job; the contract states them.
const (
	shownFires = 5
	shownRuns  = 10
)

// GetJob answers GET /jobs/{group}/{name}.
func (h *jobHandlers) GetJob(ctx context.Context, r GetJobRequestObject) (*answer[JobItem], error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	entry, err := h.conn.Jobs().Get(ctx, name)
	if err != nil {
		return nil, err
	}
	item, err := h.catalog.Item(ctx, entry, valueOr(r.Params.Fires, shownFires), valueOr(r.Params.Runs, shownRuns))
	if err != nil {
		return nil, err
	}
	item.Warnings = h.view.Warnings(ctx, &entry.Job)
	return &answer[JobItem]{Body: item, ETag: etag(item.Revision)}, nil
}

// PutJob answers PUT /jobs/{group}/{name}.
func (h *jobHandlers) PutJob(ctx context.Context, r PutJobRequestObject) (*answer[PutJobResult], error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	if r.Body.Job.Job != name {
		return nil, job.Invalid("job", "%q must be %q, as in the path", r.Body.Job.Job, name)
	}
	edit, err := editOf(access.Author(ctx), r.Params.Note, r.Params.IfMatch, r.Params.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	if len(r.Params.Calendars) > 0 && !r.Params.DryRun {
		return nil, job.Invalid("calendars", "is only for a dry run")
	}
	result, err := h.catalog.Save(ctx, r.Body, edit, r.Params.DryRun, r.Params.Calendars...)
	if err != nil {
		return nil, err
	}
	tag := etag(result.Revision)
	if result.Result == PutJobResultResultCreated && !result.DryRun {
		return &answer[PutJobResult]{Body: result, Status: http.StatusCreated, ETag: tag}, nil
	}
	return &answer[PutJobResult]{Body: result, ETag: tag}, nil
}

// DeleteJob answers DELETE /jobs/{group}/{name}.
func (h *jobHandlers) DeleteJob(ctx context.Context, r DeleteJobRequestObject) (*none, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	edit, err := editOf(access.Author(ctx), "", r.Params.IfMatch, "")
	if err != nil {
		return nil, err
	}
	return &none{}, h.catalog.Delete(ctx, name, edit)
}

// ListJobVersions answers GET /jobs/{group}/{name}/versions.
func (h *jobHandlers) ListJobVersions(ctx context.Context, r ListJobVersionsRequestObject) (*VersionList, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	entries, err := h.conn.Jobs().Versions(ctx, name)
	if err != nil {
		return nil, err
	}
	list := VersionList{Items: make([]JobVersion, 0, len(entries))}
	for _, e := range slices.Backward(entries) {
		list.Items = append(list.Items, e.Version)
	}
	return &list, nil
}

// ChangeJobs answers POST /jobs/bulk.
func (h *jobHandlers) ChangeJobs(ctx context.Context, r ChangeJobsRequestObject) (*JobBulkResult, error) {
	if err := idempotent(&r.Body.RunID, "run_id", r.Params.IdempotencyKey); err != nil {
		return nil, err
	}
	result, err := h.bulk.Jobs(ctx, r.Body)
	return &result, err
}

// PatchJobs answers POST /jobs/patch.
func (h *jobHandlers) PatchJobs(ctx context.Context, r PatchJobsRequestObject) (*JobPatchResult, error) {
	result, err := h.bulk.Patch(ctx, r.Body, r.Params.DryRun)
	return &result, err
}

// FacetJobs answers GET /jobs/facets.
func (h *jobHandlers) FacetJobs(ctx context.Context, r FacetJobsRequestObject) (*JobFacets, error) {
	p := r.Params
	facets, err := h.catalog.Search().Facets(ctx, catalog.Filter{Group: p.Group, Text: p.Q, Paused: p.Paused, Last: p.Last, Where: p.Where})
	return &facets, err
}

// CountJobs answers POST /jobs/counts.
func (h *jobHandlers) CountJobs(ctx context.Context, r CountJobsRequestObject) (*JobCounts, error) {
	filters := make([]catalog.Filter, len(r.Body.Filters))
	for i, f := range r.Body.Filters {
		filters[i] = catalog.Filter{Group: f.Group, Text: f.Q, Paused: f.Paused, Last: f.Last, Where: f.Where}
	}
	totals, err := h.catalog.Search().Counts(ctx, filters)
	return &JobCounts{Totals: totals}, err
}

// NameJobs answers GET /jobs/titles.
func (h *jobHandlers) NameJobs(ctx context.Context, r NameJobsRequestObject) (*JobTitles, error) {
	titles, err := h.catalog.Titles(ctx, r.Params.Job)
	return &titles, err
}

// Defaults of a list; the contract states them.
const (
	pageSize    = 100
	listedFires = 1
	listedRuns  = 1
)

// ListJobs answers GET /jobs.
func (h *jobHandlers) ListJobs(ctx context.Context, r ListJobsRequestObject) (*JobPage, error) {
	p := r.Params
	page, err := h.catalog.Search().Find(ctx, catalog.Filter{Jobs: runs.Names(p.Job), Group: p.Group, Text: p.Q, Paused: p.Paused, Last: p.Last, Where: p.Where}, p.Sort, p.Cursor, cmp.Or(p.Limit, pageSize))
	if err != nil {
		return nil, err
	}
	items, err := h.catalog.Items(ctx, page.Entries, valueOr(p.Fires, listedFires), valueOr(p.Runs, listedRuns), p.Week)
	if err != nil {
		return nil, err
	}
	return &JobPage{Items: items, Total: page.Total, Next: page.Next}, nil
}

// PauseJob answers POST /jobs/{group}/{name}/pause.
func (h *jobHandlers) PauseJob(ctx context.Context, r PauseJobRequestObject) (*answer[JobItem], error) {
	item, err := h.setPaused(ctx, r.Group, r.Name, r.Params.IfMatch, r.Body.Note, catalog.Pause{Paused: true, Until: r.Body.Until})
	if err != nil {
		return nil, err
	}
	return &answer[JobItem]{Body: item, ETag: etag(item.Revision)}, nil
}

// ResumeJob answers POST /jobs/{group}/{name}/resume.
func (h *jobHandlers) ResumeJob(ctx context.Context, r ResumeJobRequestObject) (*answer[JobItem], error) {
	item, err := h.setPaused(ctx, r.Group, r.Name, r.Params.IfMatch, r.Body.Note, catalog.Pause{})
	if err != nil {
		return nil, err
	}
	return &answer[JobItem]{Body: item, ETag: etag(item.Revision)}, nil
}

func (h *jobHandlers) setPaused(ctx context.Context, group, short, ifMatch, note string, wish catalog.Pause) (JobItem, error) {
	name, err := nameOf(group, short)
	if err != nil {
		return JobItem{}, err
	}
	edit, err := editOf(access.Author(ctx), note, ifMatch, "")
	if err != nil {
		return JobItem{}, err
	}
	entry, _, err := h.catalog.SetPaused(ctx, name, edit, wish)
	if err != nil {
		return JobItem{}, err
	}
	return h.catalog.Item(ctx, entry, shownFires, shownRuns)
}

// SkipFire answers POST /jobs/{group}/{name}/skip.
func (h *jobHandlers) SkipFire(ctx context.Context, r SkipFireRequestObject) (*answer[JobItem], error) {
	item, err := h.skipsChanged(ctx, r.Group, r.Name, *r.Body, h.catalog.Skip)
	if err != nil {
		return nil, err
	}
	return &answer[JobItem]{Body: item, ETag: etag(item.Revision)}, nil
}

// UnskipFire answers POST /jobs/{group}/{name}/unskip.
func (h *jobHandlers) UnskipFire(ctx context.Context, r UnskipFireRequestObject) (*answer[JobItem], error) {
	item, err := h.skipsChanged(ctx, r.Group, r.Name, *r.Body, h.catalog.Unskip)
	if err != nil {
		return nil, err
	}
	return &answer[JobItem]{Body: item, ETag: etag(item.Revision)}, nil
}

// skipsChanged makes a change to the fires that are called off, and returns the job as it is then.
func (h *jobHandlers) skipsChanged(ctx context.Context, group, short string, r SkipRequest, change func(context.Context, job.Name, *SkipRequest) (*bus.JobEntry, error)) (JobItem, error) {
	name, err := nameOf(group, short)
	if err != nil {
		return JobItem{}, err
	}
	entry, err := change(ctx, name, &r)
	if err != nil {
		return JobItem{}, err
	}
	return h.catalog.Item(ctx, entry, shownFires, shownRuns)
}

// DiffJob answers GET /jobs/{group}/{name}/diff.
func (h *jobHandlers) DiffJob(ctx context.Context, r DiffJobRequestObject) (*JobDiff, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	changes, err := h.catalog.Compare(ctx, name, r.Params.From, r.Params.To)
	return &changes, err
}
