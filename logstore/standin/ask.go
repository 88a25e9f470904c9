package standin

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// ask asks the stand-in if there is one and the caller takes such an answer, and else the
// history.
func ask[T any](ctx context.Context, s *Store, question func(logstore.Store) (T, error)) (T, error) {
	witness := logstore.WitnessOf(ctx)
	if witness == nil {
		return question(s.Store)
	}
	s.mu.RLock()
	if in := s.in; in != nil {
		defer s.mu.RUnlock()
		witness.Say(in.partial()) // before it is asked: what comes meanwhile may be missing
		return question(in.store)
	}
	s.mu.RUnlock()
	s.stateMu.Lock()
	behind := s.behind
	s.stateMu.Unlock()
	if !behind.IsZero() {
		witness.Say(runlog.Partial{AsOf: behind})
	}
	return question(s.Store)
}

// known returns what the stand-in answered about one run. Of a run that is older than what
// it has, that there is nothing says nothing.
func known[T any](ctx context.Context, id job.RunID, found []T, err error) ([]T, error) {
	witness := logstore.WitnessOf(ctx)
	if len(found) > 0 || err != nil && !errors.Is(err, job.ErrNotFound) || witness == nil {
		return found, err
	}
	if p := witness.Partial(); p != nil && id.Time().Before(p.Since) {
		return nil, fmt.Errorf("%w: the log store is away, and run %s is from before what the streams have", job.ErrUnavailable, id)
	}
	return found, err
}

// Run implements [logstore.Store].
func (s *Store) Run(ctx context.Context, id job.RunID) ([]runlog.Run, error) {
	found, err := ask(ctx, s, func(from logstore.Store) ([]runlog.Run, error) { return from.Run(ctx, id) })
	return known(ctx, id, found, err)
}

// Changes implements [logstore.Store].
func (s *Store) Changes(ctx context.Context, id job.RunID, piece runlog.Piece) ([]runlog.Change, error) {
	found, err := ask(ctx, s, func(from logstore.Store) ([]runlog.Change, error) { return from.Changes(ctx, id, piece) })
	return known(ctx, id, found, err)
}

// Held implements [logstore.Store].
func (s *Store) Held(ctx context.Context, ids []job.RunID) (map[job.RunID]runlog.Change, error) {
	return ask(ctx, s, func(from logstore.Store) (map[job.RunID]runlog.Change, error) { return from.Held(ctx, ids) })
}

// Lines implements [logstore.Store].
func (s *Store) Lines(ctx context.Context, f logstore.LineFilter) ([]runlog.Line, error) {
	found, err := ask(ctx, s, func(from logstore.Store) ([]runlog.Line, error) { return from.Lines(ctx, f) })
	return known(ctx, f.RunID, found, err)
}

// LastLines implements [logstore.Store].
func (s *Store) LastLines(ctx context.Context, id job.RunID, name job.Name) (map[int]int64, error) {
	return ask(ctx, s, func(from logstore.Store) (map[int]int64, error) { return from.LastLines(ctx, id, name) })
}

// Pieces implements [logstore.Store].
func (s *Store) Pieces(ctx context.Context, f logstore.PieceFilter) (logstore.PiecePage, error) {
	return ask(ctx, s, func(from logstore.Store) (logstore.PiecePage, error) { return from.Pieces(ctx, f) })
}

// Runs implements [logstore.Store].
func (s *Store) Runs(ctx context.Context, f logstore.RunFilter) (logstore.RunPage, error) {
	return ask(ctx, s, func(from logstore.Store) (logstore.RunPage, error) { return from.Runs(ctx, f) })
}

// Search implements [logstore.Store].
func (s *Store) Search(ctx context.Context, f logstore.SearchFilter) (logstore.SearchPage, error) {
	return ask(ctx, s, func(from logstore.Store) (logstore.SearchPage, error) { return from.Search(ctx, f) })
}

// CountHits implements [logstore.Store].
func (s *Store) CountHits(ctx context.Context, f logstore.HitCountFilter) (logstore.HitCounts, error) {
	return ask(ctx, s, func(from logstore.Store) (logstore.HitCounts, error) { return from.CountHits(ctx, f) })
}

// Counts implements [logstore.Store].
func (s *Store) Counts(ctx context.Context, f logstore.RunFilter) (map[job.Status]int, error) {
	return ask(ctx, s, func(from logstore.Store) (map[job.Status]int, error) { return from.Counts(ctx, f) })
}

// Facets implements [logstore.Store].
func (s *Store) Facets(ctx context.Context, f logstore.FacetFilter) (runlog.Facets, error) {
	return ask(ctx, s, func(from logstore.Store) (runlog.Facets, error) { return from.Facets(ctx, f) })
}

// Histogram implements [logstore.Store].
func (s *Store) Histogram(ctx context.Context, f logstore.RunFilter, parts int) (logstore.Histogram, error) {
	return ask(ctx, s, func(from logstore.Store) (logstore.Histogram, error) { return from.Histogram(ctx, f, parts) })
}

// Report implements [logstore.Store].
func (s *Store) Report(ctx context.Context, f logstore.ReportFilter) (logstore.Report, error) {
	return ask(ctx, s, func(from logstore.Store) (logstore.Report, error) { return from.Report(ctx, f) })
}

// Failures implements [logstore.Store].
func (s *Store) Failures(ctx context.Context, f logstore.FailureFilter) ([]runlog.Failure, error) {
	return ask(ctx, s, func(from logstore.Store) ([]runlog.Failure, error) { return from.Failures(ctx, f) })
}

// LastRuns implements [logstore.Store].
func (s *Store) LastRuns(ctx context.Context, jobs []job.Name, n int) (map[job.Name][]runlog.Run, error) {
	return ask(ctx, s, func(from logstore.Store) (map[job.Name][]runlog.Run, error) { return from.LastRuns(ctx, jobs, n) })
}

// Waiting implements [logstore.Store].
func (s *Store) Waiting(ctx context.Context) (map[string]logstore.Waiting, error) {
	return ask(ctx, s, func(from logstore.Store) (map[string]logstore.Waiting, error) { return from.Waiting(ctx) })
}

// OpenWaits implements [logstore.Store].
func (s *Store) OpenWaits(ctx context.Context, f logstore.WaitFilter) ([]runlog.Run, error) {
	return ask(ctx, s, func(from logstore.Store) ([]runlog.Run, error) { return from.OpenWaits(ctx, f) })
}

// StepRuns implements [logstore.Store].
func (s *Store) StepRuns(ctx context.Context, f logstore.StepFilter) (logstore.StepPage, error) {
	return ask(ctx, s, func(from logstore.Store) (logstore.StepPage, error) { return from.StepRuns(ctx, f) })
}

// Usage implements [logstore.Store].
func (s *Store) Usage(ctx context.Context, f logstore.UsageFilter) ([]runlog.UsagePart, error) {
	return ask(ctx, s, func(from logstore.Store) ([]runlog.UsagePart, error) { return from.Usage(ctx, f) })
}

// Standings implements [logstore.Store].
func (s *Store) Standings(ctx context.Context, jobs []job.Name) (map[job.Name]logstore.Standing, error) {
	return ask(ctx, s, func(from logstore.Store) (map[job.Name]logstore.Standing, error) { return from.Standings(ctx, jobs) })
}
