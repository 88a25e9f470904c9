package logfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// maxWriters is how many files of log lines are kept open for writing: today's and
// yesterday's, in the classes that are in use.
const maxWriters = 4

// Folder is the folder with the files of log lines. To remove a day is to remove a
// file, which takes no time, needs no writer to wait and gives the disk back. It is safe
// for concurrent use.
type Folder struct {
	dir string

	mu    sync.Mutex // guards files
	files map[fileKey]*dayFile

	writing sync.Mutex // held by who writes; guards writers
	writers []*dayFile // those that are open for it, the last used last

	closed atomic.Bool
}

// Open opens a folder, which need not be there before something is written.
func Open(dir string) (*Folder, error) {
	l := &Folder{dir: dir, files: map[fileKey]*dayFile{}}
	entries, err := os.ReadDir(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list log files: %w", err)
	}
	for _, e := range entries {
		if key, ok := parseName(e.Name()); ok {
			l.add(l.file(key))
		}
	}
	return l, nil
}

// file returns the file of a key, or a new one that nobody knows yet.
func (l *Folder) file(key fileKey) *dayFile {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f, ok := l.files[key]; ok {
		return f
	}
	return &dayFile{fileKey: key, path: filepath.Join(l.dir, key.name()), jobs: file.NewDictionary()}
}

func (l *Folder) add(f *dayFile) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files[f.fileKey] = f
}

// between returns the files of the days from one to another, both included, the newest
// first.
func (l *Folder) between(from, to time.Time) []*dayFile {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []*dayFile
	for _, f := range l.files {
		if !f.day.Before(from) && !f.day.After(to) {
			found = append(found, f)
		}
	}
	slices.SortFunc(found, func(a, b *dayFile) int { return cmp.Or(b.day.Compare(a.day), cmp.Compare(a.class, b.class)) })
	return found
}

func (l *Folder) all() []*dayFile { return l.between(time.Time{}, lastDay) }

// write writes chunks to a file, which is made if there is none. A transaction that has
// begun is not cut short: it takes a fraction of a second, and to repeat it would cost more.
func (l *Folder) write(ctx context.Context, key fileKey, chunks []chunk) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.closed.Load() {
		return file.ErrClosed
	}
	f := l.file(key)
	ctx = context.WithoutCancel(ctx)
	if err := l.useWriter(ctx, f); err != nil {
		return err
	}
	return f.writer.Transact(ctx, func(ctx context.Context) error { return f.writeChunks(ctx, chunks) })
}

// useWriter opens the writer of f, and closes the one that was not used for longest if
// there are too many.
func (l *Folder) useWriter(ctx context.Context, f *dayFile) error {
	if f.writer == nil {
		if err := os.MkdirAll(l.dir, 0o750); err != nil {
			return fmt.Errorf("make folder of log files: %w", err)
		}
		if err := f.openWriter(ctx); err != nil {
			return err
		}
		l.add(f)
	}
	l.writers = append(slices.DeleteFunc(l.writers, func(other *dayFile) bool { return other == f }), f)
	if len(l.writers) <= maxWriters {
		return nil
	}
	idle := l.writers[0]
	l.writers = l.writers[1:]
	return idle.closeWriter()
}

// remove removes a file. Who reads it is waited for, though not by who writes. What is
// written to it meanwhile is as old as the rest, and goes too.
func (l *Folder) remove(f *dayFile) error {
	f.using.Lock()
	f.gone = true
	f.using.Unlock()
	l.writing.Lock()
	defer l.writing.Unlock()
	l.writers = slices.DeleteFunc(l.writers, func(other *dayFile) bool { return other == f })
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
	delete(l.files, f.fileKey)
	return nil
}

// Close closes all files, once nobody reads them.
func (l *Folder) Close() error {
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
