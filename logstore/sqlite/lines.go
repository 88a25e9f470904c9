package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
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

// Search implements [logstore.Store].
func (s *Store) Search(ctx context.Context, filter logstore.SearchFilter) (logstore.SearchPage, error) {
	return s.logs.Search(ctx, filter)
}

// CountHits implements [logstore.Store].
func (s *Store) CountHits(ctx context.Context, filter logstore.HitCountFilter) (logstore.HitCounts, error) {
	return s.logs.CountHits(ctx, filter)
}

// CountLines returns how many lines the runs have that fired on a day, in UTC, each once.
func (s *Store) CountLines(ctx context.Context, day time.Time) (int64, error) {
	return s.logs.CountLines(ctx, day)
}
