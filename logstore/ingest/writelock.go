package ingest

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
)

// writeLock has the feeds that write runs do it one after another, from the noting of a range
// until the store has taken it. A write that failed may be there in part: what it is about
// in a table, and not in the reports that count what comes into that, or the other way
// round. Its repeat completes it as long as nobody has changed the same runs in between,
// since then it says the same again. So of all ranges that were noted, only the last one
// may be such a write.
type writeLock struct{ taken chan struct{} }

func newWriteLock() *writeLock { return &writeLock{taken: make(chan struct{}, 1)} }

// lock waits for the lock. A nil lock is always free.
func (t *writeLock) lock(ctx context.Context) error {
	if t == nil {
		return nil
	}
	select {
	case t.taken <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unlock gives the lock to who waits for it.
func (t *writeLock) unlock() {
	if t != nil {
		<-t.taken
	}
}

// settle brings the feeds that write runs of one partition to where the last ingester would have come:
// first the one that noted a range last, as only that may be written in part. It returns
// nil when they are there or ctx is done, and an error when another ingester is at work.
func (in *Ingest) settle(ctx context.Context, feeds []*feed) error {
	for again := newBackoff(); ; {
		err := catchUpInOrder(ctx, feeds)
		switch {
		case err == nil || ctx.Err() != nil:
			return nil //nolint:nilerr // whatever the stop has interrupted
		case errors.Is(err, job.ErrStale):
			return err
		}
		in.log.WarnContext(ctx, "ingest begins anew", "error", err)
		_ = again.Wait(ctx)
	}
}

func catchUpInOrder(ctx context.Context, feeds []*feed) error {
	for _, f := range feeds {
		var err error
		if f.ranges, err = openRanges(ctx, f.conn, f.stream); err != nil {
			return err
		}
	}
	slices.SortFunc(feeds, func(a, b *feed) int { return -cmp.Compare(a.ranges.revision, b.ranges.revision) })
	for _, f := range feeds {
		if err := f.catchUp(ctx); err != nil {
			return err
		}
		f.caughtUp = true
	}
	return nil
}
