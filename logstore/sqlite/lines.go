package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// WriteLines implements [logstore.Store]. It has no need of the token.
func (s *Store) WriteLines(ctx context.Context, _ string, lines []runlog.Line) error {
	for i := range lines {
		if err := lines[i].Validate(); err != nil {
			return fmt.Errorf("line %d: %w", i, err)
		}
	}
	return s.logs.Write(ctx, lines, s.keep.Load())
}

// Lines implements [logstore.Store].
func (s *Store) Lines(ctx context.Context, filter logstore.LineFilter) ([]runlog.Line, error) {
	return s.logs.Lines(ctx, filter)
}

// LastLines implements [logstore.Store].
func (s *Store) LastLines(ctx context.Context, id job.RunID, name job.Name) (map[int]int64, error) {
	return s.logs.LastLines(ctx, id, name)
}

// Search implements [logstore.Store].
func (s *Store) Search(ctx context.Context, filter logstore.SearchFilter) (logstore.SearchPage, error) {
	tests, err := s.tests(ctx, &filter)
	if err != nil {
		return logstore.SearchPage{}, fmt.Errorf("search logs: %w", err)
	}
	return s.logs.Search(ctx, filter, tests)
}

// CountHits implements [logstore.Store].
func (s *Store) CountHits(ctx context.Context, filter logstore.HitCountFilter) (logstore.HitCounts, error) {
	tests, err := s.tests(ctx, &filter.SearchFilter)
	if err != nil {
		return logstore.HitCounts{}, fmt.Errorf("count hits: %w", err)
	}
	return s.logs.CountHits(ctx, filter, tests)
}

// tests returns the tests of drafts, which a search leaves out unless it names its run.
func (s *Store) tests(ctx context.Context, f *logstore.SearchFilter) (map[job.RunID]bool, error) {
	if f.RunID != "" {
		return nil, nil
	}
	rows, err := s.reads.QueryContext(ctx, "SELECT run_id FROM runs WHERE cause = 9")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	tests := map[job.RunID]bool{}
	for rows.Next() {
		var id file.ScanID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		tests[job.RunID(id)] = true
	}
	return tests, rows.Err()
}

// CountLines returns how many lines the runs have that fired on a day, in UTC, each once.
func (s *Store) CountLines(ctx context.Context, day time.Time) (int64, error) {
	return s.logs.CountLines(ctx, day)
}
