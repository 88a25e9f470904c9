package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"carillon/job"
)

// maxWriters is how many files of log lines are kept open for writing: today's and
// yesterday's, in the classes that are in use.
const maxWriters = 4

// logFiles is the folder with the files of log lines. To remove a day is to remove a
// file, which takes no time, needs no writer to wait and gives the disk back.
type logFiles struct {
	dir string

	mu    sync.Mutex // guards files
	files map[logKey]*logFile

	writing sync.Mutex // held by who writes; guards writers
	writers []*logFile // those that are open for it, the last used last

	closed atomic.Bool
}

var errClosed = fmt.Errorf("%w: the log store is closed", job.ErrUnavailable)

// logFolder returns the folder of the log lines of the store at path.
func logFolder(path string) string { return strings.TrimSuffix(path, ".db") + "-logs" }

func openLogFiles(path string) (*logFiles, error) {
	l := &logFiles{dir: logFolder(path), files: map[logKey]*logFile{}}
	entries, err := os.ReadDir(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list log files: %w", err)
	}
	for _, e := range entries {
		if key, ok := parseLogName(e.Name()); ok {
			l.add(l.file(key))
		}
	}
	return l, nil
}

// file returns the file of a key, or a new one that nobody knows yet.
func (l *logFiles) file(key logKey) *logFile {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f, ok := l.files[key]; ok {
		return f
	}
	return &logFile{logKey: key, path: filepath.Join(l.dir, key.name()), jobs: newDictionary()}
}

func (l *logFiles) add(f *logFile) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files[f.logKey] = f
}

// between returns the files of the days from one to another, both included, the newest
// first.
func (l *logFiles) between(from, to time.Time) []*logFile {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []*logFile
	for _, f := range l.files {
		if !f.day.Before(from) && !f.day.After(to) {
			found = append(found, f)
		}
	}
	slices.SortFunc(found, func(a, b *logFile) int { return cmp.Or(b.day.Compare(a.day), cmp.Compare(a.class, b.class)) })
	return found
}

func (l *logFiles) all() []*logFile { return l.between(time.Time{}, lastDay) }

// write calls do in a transaction on a file, which is made if there is none.
func (l *logFiles) write(ctx context.Context, key logKey, do func(context.Context, *writer) error) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.closed.Load() {
		return errClosed
	}
	f := l.file(key)
	ctx = context.WithoutCancel(ctx) // as [Store.write] has it
	if err := l.useWriter(ctx, f); err != nil {
		return err
	}
	return f.writer.transact(ctx, do)
}

// useWriter opens the writer of f, and closes the one that was not used for longest if
// there are too many.
func (l *logFiles) useWriter(ctx context.Context, f *logFile) error {
	if f.writer == nil {
		if err := os.MkdirAll(l.dir, 0o750); err != nil {
			return fmt.Errorf("make folder of log files: %w", err)
		}
		if err := f.openWriter(ctx); err != nil {
			return err
		}
		l.add(f)
	}
	l.writers = append(slices.DeleteFunc(l.writers, func(other *logFile) bool { return other == f }), f)
	if len(l.writers) <= maxWriters {
		return nil
	}
	idle := l.writers[0]
	l.writers = l.writers[1:]
	return idle.closeWriter()
}

// remove removes a file. Who reads it is waited for, though not by who writes. What is
// written to it meanwhile is as old as the rest, and goes too.
func (l *logFiles) remove(f *logFile) error {
	f.using.Lock()
	f.gone = true
	f.using.Unlock()
	l.writing.Lock()
	defer l.writing.Unlock()
	l.writers = slices.DeleteFunc(l.writers, func(other *logFile) bool { return other == f })
	errs := []error{f.closeWriter(), f.closeReader()}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(f.path + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove log file %s: %w", f.path, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.files, f.logKey)
	return nil
}

func (l *logFiles) close() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.closed.Store(true)
	var errs []error
	for _, f := range l.all() {
		f.using.Lock()
		f.gone = true
		errs = append(errs, f.closeWriter(), f.closeReader())
		f.using.Unlock()
	}
	l.writers = nil
	return errors.Join(errs...)
}
