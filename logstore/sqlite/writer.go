package sqlite

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

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
		return file.ErrClosed
	}
	return s.writer.transact(context.WithoutCancel(ctx), f)
}

// writer is the connection that writes. One goroutine uses it at a time.
type writer struct {
	*file.Writer

	noted   *atomic.Bool // the store's: there may be changes that no report counts yet
	notedAt time.Time    // since when, about
	counted bool         // the current transaction has left none of them
}

func (w *writer) transact(ctx context.Context, f func(context.Context, *writer) error) error {
	w.counted = false
	if err := w.Transact(ctx, func(ctx context.Context) error { return f(ctx, w) }); err != nil {
		return err
	}
	if w.counted {
		w.noted.Store(false)
	}
	return nil
}
