package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// database is the file that the parts of a store share: many connections read, one writes.
type database struct {
	path     string
	reads    *sql.DB
	prepared *statements // on reads
	writeDB  *sql.DB

	writing sync.Mutex // guards writer: SQLite has one writer at a time
	writer  *writer

	jobs  *file.Dictionary
	noted atomic.Bool // there may be changes that no report counts yet
}

func (d *database) open(ctx context.Context) error {
	var err error
	// A checkpoint every 64 MB writes each hot page once instead of with every
	// transaction: with many jobs, each has a page of the index that is hot.
	if d.writeDB, err = file.OpenWriter(d.path, 65536, 16000); err != nil {
		return err
	}
	conn, err := d.writeDB.Conn(ctx)
	if err != nil {
		return fmt.Errorf("open log store %s: %w", d.path, err)
	}
	if err = prepare(ctx, conn, d.path); err == nil {
		err = d.jobs.Load(ctx, conn)
	}
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	d.writer = &writer{Writer: file.NewWriter(conn, d.jobs), noted: &d.noted, notedAt: time.Now()}
	d.noted.Store(true) // perhaps, by who wrote last
	if d.reads, err = file.Open(d.path, file.Readers, "query_only(1)", "busy_timeout(10000)", "cache_size(-16384)"); err != nil {
		return err
	}
	d.prepared = newStatements(d.reads)
	return nil
}

// close closes what open has opened, also when it failed half-way.
func (d *database) close() error {
	d.writing.Lock()
	defer d.writing.Unlock()
	var errs []error
	if d.prepared != nil {
		errs = append(errs, d.prepared.close())
	}
	if d.reads != nil {
		errs = append(errs, d.reads.Close())
	}
	if d.writer != nil {
		errs = append(errs, d.writer.Close())
		d.writer = nil
	}
	if d.writeDB != nil {
		errs = append(errs, d.writeDB.Close())
	}
	return errors.Join(errs...)
}

// write calls f in a transaction that is committed if f returns nil. One that has
// begun is not cut short: it takes a fraction of a second, and to repeat it would
// cost more.
func (d *database) write(ctx context.Context, f func(ctx context.Context, w *writer) error) error {
	d.writing.Lock()
	defer d.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if d.writer == nil {
		return file.ErrClosed
	}
	return d.writer.transact(context.WithoutCancel(ctx), f)
}

// settle counts all that is noted, so that the reports are those of the runs.
func (d *database) settle(ctx context.Context) error {
	for d.noted.Load() {
		if err := d.write(ctx, func(ctx context.Context, w *writer) error { return w.countEnds(ctx) }); err != nil {
			return fmt.Errorf("count what has ended: %w", err)
		}
	}
	return nil
}
