package sqlite

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

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
