package access

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// Seen returns a function that reports whether the caller sees the jobs of a group, nil if they see all.
func Seen(ctx context.Context) func(group string) bool {
	theirs := Who(ctx).Access
	if theirs.May(rights.Viewer, rights.Everywhere) {
		return nil
	}
	return func(group string) bool { return theirs.May(rights.Viewer, group) }
}

// VisibleStore is a log store whose lists have what the caller sees, and no more, so
// that no handler can forget it. What it reads by a run's id is checked too, by the job
// that the stored run is of: a permit may have gone by less, as the run was not stored
// yet. Changes have no job: they are read of a run that was read before. Last runs are
// asked for by the names of jobs that were found.
type VisibleStore struct{ logstore.Store }

// ErrOthers is job.ErrNotFound for a run that is stored, and whose group the caller does
// not see. To the caller it looks as if there were none.
var ErrOthers = fmt.Errorf("%w: there is no such run", job.ErrNotFound)

// Run implements [logstore.Store]. It returns ErrOthers for a run of a group that the
// caller does not see.
func (s VisibleStore) Run(ctx context.Context, id job.RunID) ([]runlog.Run, error) {
	attempts, err := s.Store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	access := Who(ctx).Access
	attempts = slices.DeleteFunc(attempts, func(r runlog.Run) bool { return !access.May(rights.Viewer, r.Job.Group()) })
	if len(attempts) == 0 {
		return nil, ErrOthers
	}
	logstore.EndEarlier(attempts)
	return attempts, nil
}

// Pieces implements [logstore.Store].
func (s VisibleStore) Pieces(ctx context.Context, f logstore.PieceFilter) (logstore.PiecePage, error) {
	page, err := s.Store.Pieces(ctx, f)
	access := Who(ctx).Access
	page.Pieces = slices.DeleteFunc(page.Pieces, func(r runlog.Run) bool { return !access.May(rights.Viewer, r.Job.Group()) })
	return page, err
}

// Lines implements [logstore.Store].
func (s VisibleStore) Lines(ctx context.Context, f logstore.LineFilter) ([]runlog.Line, error) {
	lines, err := s.Store.Lines(ctx, f)
	access := Who(ctx).Access
	return slices.DeleteFunc(lines, func(l runlog.Line) bool {
		return !access.May(rights.Viewer, l.Job.Group()) || !access.Sees(rights.Logs, l.Job.Group())
	}), err
}

// LastLines implements [logstore.Store].
func (s VisibleStore) LastLines(ctx context.Context, id job.RunID, name job.Name) (map[int]int64, error) {
	if access := Who(ctx).Access; !access.May(rights.Viewer, name.Group()) || !access.Sees(rights.Logs, name.Group()) {
		return nil, nil
	}
	return s.Store.LastLines(ctx, id, name)
}

// Waiting implements [logstore.Store].
func (s VisibleStore) Waiting(ctx context.Context) (map[string]logstore.Waiting, error) {
	all, err := s.Store.Waiting(ctx)
	access := Who(ctx).Access
	maps.DeleteFunc(all, func(group string, _ logstore.Waiting) bool { return !access.May(rights.Viewer, group) })
	return all, err
}

// OpenWaits implements [logstore.Store].
func (s VisibleStore) OpenWaits(ctx context.Context, f logstore.WaitFilter) ([]runlog.Run, error) {
	f.Groups = groupsWithin(ctx, f.Groups)
	return s.Store.OpenWaits(ctx, f)
}

// StepRuns implements [logstore.Store].
func (s VisibleStore) StepRuns(ctx context.Context, f logstore.StepFilter) (logstore.StepPage, error) {
	page, err := s.Store.StepRuns(ctx, f)
	access := Who(ctx).Access
	page.Runs = slices.DeleteFunc(page.Runs, func(r logstore.StepRun) bool { return !access.May(rights.Viewer, r.Job.Group()) })
	return page, err
}

// Usage implements [logstore.Store]. A group that the caller does not see is not found.
func (s VisibleStore) Usage(ctx context.Context, f logstore.UsageFilter) ([]runlog.UsagePart, error) {
	if !Who(ctx).Access.May(rights.Viewer, f.Group) {
		return nil, fmt.Errorf("%w: group %s", job.ErrNotFound, f.Group)
	}
	return s.Store.Usage(ctx, f)
}

// Runs implements [logstore.Store].
func (s VisibleStore) Runs(ctx context.Context, f logstore.RunFilter) (logstore.RunPage, error) {
	f, some := within(ctx, f)
	if !some {
		return logstore.RunPage{}, f.Validate()
	}
	return s.Store.Runs(ctx, f)
}

// Counts implements [logstore.Store].
func (s VisibleStore) Counts(ctx context.Context, f logstore.RunFilter) (map[job.Status]int, error) {
	f, some := within(ctx, f)
	if !some {
		return map[job.Status]int{}, f.Validate()
	}
	return s.Store.Counts(ctx, f)
}

// Facets implements [logstore.Store].
func (s VisibleStore) Facets(ctx context.Context, f logstore.FacetFilter) (runlog.Facets, error) {
	narrow, some := within(ctx, f.RunFilter)
	f.RunFilter = narrow
	if !some {
		f.Groups = []string{} // which none is in
	}
	return s.Store.Facets(ctx, f)
}

// Histogram implements [logstore.Store].
func (s VisibleStore) Histogram(ctx context.Context, f logstore.RunFilter, parts int) (logstore.Histogram, error) {
	f, some := within(ctx, f)
	if !some {
		f.Groups = []string{}
	}
	return s.Store.Histogram(ctx, f, parts)
}

// Report implements [logstore.Store].
func (s VisibleStore) Report(ctx context.Context, f logstore.ReportFilter) (logstore.Report, error) {
	f.Groups = groupsWithin(ctx, f.Groups)
	return s.Store.Report(ctx, f)
}

// Failures implements [logstore.Store].
func (s VisibleStore) Failures(ctx context.Context, f logstore.FailureFilter) ([]runlog.Failure, error) {
	f.Groups = groupsWithin(ctx, f.Groups)
	return s.Store.Failures(ctx, f)
}

// groupsWithin returns those of groups that the caller sees; nil is all.
func groupsWithin(ctx context.Context, groups []string) []string {
	f, _ := within(ctx, logstore.RunFilter{Groups: groups})
	if f.Groups == nil && Seen(ctx) != nil {
		return []string{} // none, where within leaves nil
	}
	return f.Groups
}

// Search implements [logstore.Store].
func (s VisibleStore) Search(ctx context.Context, f logstore.SearchFilter) (logstore.SearchPage, error) {
	f, some := withinLogs(ctx, f)
	if !some {
		return logstore.SearchPage{}, f.Validate()
	}
	return s.Store.Search(ctx, f)
}

// CountHits implements [logstore.Store].
func (s VisibleStore) CountHits(ctx context.Context, f logstore.HitCountFilter) (logstore.HitCounts, error) {
	narrow, some := withinLogs(ctx, f.SearchFilter)
	if f.SearchFilter = narrow; !some {
		f.Groups = []string{} // which none is in
	}
	return s.Store.CountHits(ctx, f)
}

// withinLogs is within for lines, which take a grant besides.
func withinLogs(ctx context.Context, f logstore.SearchFilter) (_ logstore.SearchFilter, some bool) {
	groups, everywhere := Who(ctx).Access.Seen(rights.Logs)
	if everywhere {
		return f, true
	}
	f.Groups = among(groups, f.Groups)
	return f, len(f.Groups) > 0
}

// Facts implements [logstore.Store]. Those of no group are seen by who sees all.
func (s VisibleStore) Facts(ctx context.Context, f logstore.FactFilter) (logstore.FactPage, error) {
	f.Groups = groupsWithin(ctx, f.Groups)
	return s.Store.Facts(ctx, f)
}

// within narrows a filter to what the caller sees; some is false when that is nothing.
func within(ctx context.Context, f logstore.RunFilter) (_ logstore.RunFilter, some bool) {
	groups, everywhere := Who(ctx).Access.Groups(rights.Viewer)
	if everywhere {
		return f, true
	}
	f.Groups = among(groups, f.Groups)
	return f, len(f.Groups) > 0
}

// among returns the groups that the caller sees and the filter names; with a nil filter, all that
// the caller sees.
func among(seen, filter []string) []string {
	if filter == nil {
		return seen
	}
	return slices.DeleteFunc(slices.Clone(filter), func(group string) bool {
		return !slices.ContainsFunc(seen, func(pattern string) bool { return job.InGroups(pattern, group) })
	})
}
