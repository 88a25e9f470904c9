package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/shirou/gopsutil/v4/disk"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/logfile"
)

// Store is a log store in a file. It is safe for concurrent use.
type Store struct {
	*database
	runHistory
	statistics
	logs *logfile.Folder
	keep atomic.Pointer[job.Retention] // by which new lines get their class
}

var _ logstore.Store = (*Store)(nil)

// Open opens the store in the file at path, and makes it, with its folder, when
// there is none. Log lines are in the folder beside it whose name ends in -logs. The error is
// job.ErrInvalid for a file of another schema or another program.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, fmt.Errorf("make folder of log store: %w", err)
	}
	d := &database{path: path, jobs: file.NewDictionary()}
	s := &Store{database: d, runHistory: runHistory{database: d, stand: newStandings()}, statistics: statistics{d}}
	s.SetRetention(logstore.DefaultRetention())
	var err error
	if s.logs, err = logfile.Open(logFolder(path)); err != nil {
		return nil, err
	}
	err = s.open(ctx)
	if err == nil {
		err = s.prepareLast(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// logFolder returns the folder of the log lines of the store at path.
func logFolder(path string) string { return strings.TrimSuffix(path, ".db") + "-logs" }

// Close implements [logstore.Store].
func (s *Store) Close() error {
	if err := errors.Join(s.close(), s.logs.Close()); err != nil {
		return fmt.Errorf("close log store %s: %w", s.path, err)
	}
	return nil
}

// Identity implements [logstore.Store].
func (s *Store) Identity(ctx context.Context) (id string, err error) {
	if err := s.reads.QueryRowContext(ctx, "SELECT id FROM identity").Scan(&id); err != nil {
		return "", fmt.Errorf("read the identity of log store %s: %w", s.path, err)
	}
	return id, nil
}

// SetRetention implements [logstore.Store].
func (s *Store) SetRetention(r job.Retention) { s.keep.Store(&r) }

// Stats implements [logstore.Store].
func (s *Store) Stats(ctx context.Context) (logstore.Stats, error) {
	var stats logstore.Stats
	ofRuns, err := file.Size(s.path)
	if err != nil {
		return stats, err
	}
	ofLines, err := s.logs.Size()
	if err != nil {
		return stats, err
	}
	stats.Bytes = ofRuns + ofLines
	var id []byte
	if err := s.reads.QueryRowContext(ctx, "SELECT min(run_id) FROM runs").Scan(&id); err != nil {
		return stats, fmt.Errorf("read oldest run: %w", err)
	}
	if id != nil {
		stats.OldestRun = file.UnpackID(id).Time()
	}
	if usage, err := disk.UsageWithContext(ctx, filepath.Dir(s.path)); err == nil { // else it is not known on this system
		stats.Disk.Free = int64(min(usage.Free, math.MaxInt64))
		stats.Disk.Total = stats.Disk.Free + int64(min(usage.Used, math.MaxInt64/2)) // without what is kept for root
	}
	return stats, nil
}
