package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shirou/gopsutil/v4/disk"
	_ "modernc.org/sqlite" // registers the driver

	"carillon/job"
	"carillon/logstore"
)

// readers is how many queries run at once; more wait.
const readers = 4

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

	jobs  *dictionary
	stand *standings
	logs  *logFiles
	noted atomic.Bool                   // there may be changes that no report counts yet
	keep  atomic.Pointer[job.Retention] // by which new lines get their class
}

var _ logstore.Store = (*Store)(nil)

// Open opens the store in the file at path, and makes it, with its folder, when
// there is none. Log lines are in the folder beside it whose name ends in -logs. The error is job.ErrInvalid for a file of a newer program.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, fmt.Errorf("make folder of log store: %w", err)
	}
	s := &Store{path: path, jobs: newDictionary(), stand: newStandings()}
	s.SetRetention(logstore.DefaultRetention())
	var err error
	if s.logs, err = openLogFiles(path); err != nil {
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
	if s.writeDB, err = open(s.path, 1, "journal_mode(WAL)", "synchronous(NORMAL)", "busy_timeout(10000)", "cache_size(-65536)", "temp_store(MEMORY)", "wal_autocheckpoint(16000)"); err != nil {
		return err
	}
	conn, err := s.writeDB.Conn(ctx)
	if err != nil {
		return fmt.Errorf("open log store %s: %w", s.path, err)
	}
	if err = migrate(ctx, conn, s.path, func() error { return moveLines(ctx, conn, s.logs, s.keep.Load()) }); err == nil {
		err = s.jobs.load(ctx, conn)
	}
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	s.writer = &writer{conn: conn, jobs: s.jobs, stmts: map[string]*sql.Stmt{}, noted: &s.noted, notedAt: time.Now()}
	s.noted.Store(true) // perhaps, by who wrote last
	if err = s.makeReports(ctx); err != nil {
		return fmt.Errorf("make reports of log store %s: %w", s.path, err)
	}
	if s.reads, err = open(s.path, readers, "query_only(1)", "busy_timeout(10000)", "cache_size(-16384)"); err != nil {
		return err
	}
	s.prepared = newStatements(s.reads)
	return s.prepareLast(ctx)
}

func open(path string, conns int, pragmas ...string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+url.Values{"_pragma": pragmas}.Encode())
	if err != nil {
		return nil, fmt.Errorf("open log store %s: %w", path, err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

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
		errs = append(errs, s.writer.close())
		s.writer = nil
	}
	if s.writeDB != nil {
		errs = append(errs, s.writeDB.Close())
	}
	errs = append(errs, s.logs.close())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close log store %s: %w", s.path, err)
	}
	return nil
}

// write calls f in a transaction that is committed if f returns nil. One that has
// begun is not cut short: it takes a fraction of a second, and to repeat it would
// cost more.
func (s *Store) write(ctx context.Context, f func(ctx context.Context, w *writer) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.writer == nil {
		return errClosed
	}
	return s.writer.transact(context.WithoutCancel(ctx), f)
}

// SetRetention implements [logstore.Store].
func (s *Store) SetRetention(r job.Retention) { s.keep.Store(&r) }

// Stats implements [logstore.Store].
func (s *Store) Stats(ctx context.Context) (logstore.Stats, error) {
	var stats logstore.Stats
	paths := []string{s.path}
	for _, f := range s.logs.all() {
		paths = append(paths, f.path)
	}
	for _, path := range paths {
		n, err := sizeOf(path)
		if err != nil {
			return stats, err
		}
		stats.Bytes += n
	}
	var id []byte
	if err := s.reads.QueryRowContext(ctx, "SELECT min(run_id) FROM runs").Scan(&id); err != nil {
		return stats, fmt.Errorf("read oldest run: %w", err)
	}
	if id != nil {
		stats.OldestRun = unpackID(id).Time()
	}
	if usage, err := disk.UsageWithContext(ctx, filepath.Dir(s.path)); err == nil { // else it is not known on this system
		stats.Disk.Free = int64(min(usage.Free, math.MaxInt64))
		stats.Disk.Total = stats.Disk.Free + int64(min(usage.Used, math.MaxInt64/2)) // without what is kept for root
	}
	return stats, nil
}
