package logfile

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

//go:embed schema.sql
var schema string

// schemaVersion is the version of schema.
const schemaVersion = 1

// idleFor is how long a file of log lines that nobody reads keeps its connections.
const idleFor = time.Minute

// fileKey names a file of log lines.
type fileKey struct {
	day   time.Time // its begin, in UTC
	class int       // of retention, in days
}

// lastDay bounds days, so that they have four digits for their year.
var lastDay = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// dayOf returns the day on which a run fired.
func dayOf(t time.Time) time.Time {
	if day := t.UTC().Truncate(24 * time.Hour); day.Before(lastDay) {
		return day
	}
	return lastDay
}

func (k fileKey) name() string { return fmt.Sprintf("%s.%dd.db", k.day.Format(time.DateOnly), k.class) }

// parseName returns the key of a file, if it is one of log lines.
func parseName(name string) (k fileKey, ok bool) {
	day, rest := "", ""
	if len(name) > len(time.DateOnly)+1 {
		day, rest = name[:len(time.DateOnly)], name[len(time.DateOnly):]
	}
	var err error
	if k.day, err = time.Parse(time.DateOnly, day); err != nil {
		return k, false
	}
	_, err = fmt.Sscanf(rest, ".%dd.db", &k.class)
	return k, err == nil && k.name() == name
}

// dayFile is the file of log lines of a day and a class.
type dayFile struct {
	fileKey
	path string
	jobs *file.Dictionary

	// using is held by who reads the file, and exclusively by who is to remove it.
	using sync.RWMutex
	gone  bool // guarded by using

	opening sync.Mutex // guards what is below
	reads   *sql.DB    // nil until it is asked for

	writer *file.Writer // nil while nobody writes; guarded by Folder.writing
	writes *sql.DB      // of writer
}

// read calls do with the file's connections, unless there is no such file any more.
func (f *dayFile) read(ctx context.Context, do func(*sql.DB) error) error {
	f.using.RLock()
	defer f.using.RUnlock()
	if f.gone {
		return nil
	}
	db, err := f.reader(ctx)
	if err != nil || db == nil {
		return err
	}
	return do(db)
}

// reader returns the file's connections for reading. It is nil for a file whose first
// write never ended.
func (f *dayFile) reader(ctx context.Context) (*sql.DB, error) {
	f.opening.Lock()
	defer f.opening.Unlock()
	if f.reads != nil {
		return f.reads, nil
	}
	db, err := file.Open(f.path, file.Readers, "query_only(1)", "busy_timeout(10000)", "cache_size(-8192)")
	if err != nil {
		return nil, err
	}
	db.SetConnMaxIdleTime(idleFor)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open log file %s: %w", f.path, err), db.Close())
	}
	version, err := f.version(ctx, conn)
	if err == nil && version > 0 {
		err = f.jobs.Load(ctx, conn)
	}
	if err = errors.Join(err, conn.Close()); err != nil || version == 0 {
		return nil, errors.Join(err, db.Close())
	}
	f.reads = db
	return db, nil
}

// version returns the file's version, which is 0 of one that is empty.
func (f *dayFile) version(ctx context.Context, conn *sql.Conn) (version int, err error) {
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("read schema version of %s: %w", f.path, err)
	}
	if version != 0 && version != schemaVersion {
		return 0, fmt.Errorf("%w: the log file %s has schema version %d, and this program understands only %d; use the program that made it, or move the file away",
			job.ErrInvalid, f.path, version, schemaVersion)
	}
	return version, nil
}

// openWriter makes the file ready to be written to, and makes it if there is none.
func (f *dayFile) openWriter(ctx context.Context) error {
	db, err := file.OpenWriter(f.path, 32768, 4000)
	if err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return errors.Join(fmt.Errorf("open log file %s: %w", f.path, err), db.Close())
	}
	version, err := f.version(ctx, conn)
	if err == nil && version == 0 {
		if _, err = conn.ExecContext(ctx, "BEGIN IMMEDIATE; "+schema+" COMMIT"); err != nil {
			err = fmt.Errorf("make log file %s: %w", f.path, err)
		}
	}
	if err == nil {
		err = f.jobs.Load(ctx, conn)
	}
	if err != nil {
		return errors.Join(err, conn.Close(), db.Close())
	}
	f.writer, f.writes = file.NewWriter(conn, f.jobs), db
	return nil
}

func (f *dayFile) closeWriter() error {
	if f.writer == nil {
		return nil
	}
	err := errors.Join(f.writer.Close(), f.writes.Close())
	f.writer, f.writes = nil, nil
	return err
}

func (f *dayFile) closeReader() error {
	f.opening.Lock()
	defer f.opening.Unlock()
	if f.reads == nil {
		return nil
	}
	err := f.reads.Close()
	f.reads = nil
	return err
}
