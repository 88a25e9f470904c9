package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shirou/gopsutil/v4/disk"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/logfile"
)

// Store is a log store in a file. It is safe for concurrent use.
type Store struct {
	path     string
	reads    *sql.DB
	prepared *statements // on reads
	// What is read for each job of a page, prepared on reads.
	lastRuns, lastStatus *sql.Stmt
	writeDB              *sql.DB

	writing sync.Mutex // guards writer: SQLite has one writer at a time
	writer  *writer

	jobs  *file.Dictionary
	stand *standings
	logs  *logfile.Folder
	noted atomic.Bool                   // there may be changes that no report counts yet
	keep  atomic.Pointer[job.Retention] // by which new lines get their class
}

var _ logstore.Store = (*Store)(nil)

// Open opens the store in the file at path, and makes it, with its folder, when
// there is none. Log lines are in the folder beside it whose name ends in -logs. The error is
// job.ErrInvalid for a file of another schema or another program.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, fmt.Errorf("make folder of log store: %w", err)
	}
	s := &Store{path: path, jobs: file.NewDictionary(), stand: newStandings()}
	s.SetRetention(logstore.DefaultRetention())
	var err error
	if s.logs, err = logfile.Open(logFolder(path)); err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	var err error
	// A checkpoint every 64 MB writes each hot page once instead of with every
	// transaction: with many jobs, each has a page of the index that is hot.
	if s.writeDB, err = file.Open(s.path, 1, "journal_mode(WAL)", "synchronous(NORMAL)", "busy_timeout(10000)", "cache_size(-65536)", "temp_store(MEMORY)", "wal_autocheckpoint(16000)"); err != nil {
		return err
	}
	conn, err := s.writeDB.Conn(ctx)
	if err != nil {
		return fmt.Errorf("open log store %s: %w", s.path, err)
	}
	if err = prepare(ctx, conn, s.path); err == nil {
		err = s.jobs.Load(ctx, conn)
	}
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	s.writer = &writer{Writer: file.NewWriter(conn, s.jobs), noted: &s.noted, notedAt: time.Now()}
	s.noted.Store(true) // perhaps, by who wrote last
	if s.reads, err = file.Open(s.path, file.Readers, "query_only(1)", "busy_timeout(10000)", "cache_size(-16384)"); err != nil {
		return err
	}
	s.prepared = newStatements(s.reads)
	return s.prepareLast(ctx)
}

// logFolder returns the folder of the log lines of the store at path.
func logFolder(path string) string { return strings.TrimSuffix(path, ".db") + "-logs" }

// Close implements [logstore.Store].
func (s *Store) Close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	var errs []error
	if s.prepared != nil {
		errs = append(errs, s.prepared.close())
	}
	if s.reads != nil {
		errs = append(errs, s.reads.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.Close())
		s.writer = nil
	}
	if s.writeDB != nil {
		errs = append(errs, s.writeDB.Close())
	}
	errs = append(errs, s.logs.Close())
	if err := errors.Join(errs...); err != nil {
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
