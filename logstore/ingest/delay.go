package ingest

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/bus/jet"
)

const (
	// holdStep is how often the held records are looked at.
	holdStep = 100 * time.Millisecond
	// holdIdle is after how long without an event about one of them they are written.
	holdIdle = time.Second
	// A record is held for holdLeast at most, and for holdLine longer for each line of
	// all that are held, which is some times what it takes to write a line; but never
	// for longer than holdMost.
	holdLeast = 500 * time.Millisecond
	holdLine  = 50 * time.Microsecond
	holdMost  = 10 * time.Second
	// holdLines bounds the lines that are held, of all partitions together, about 400 bytes each.
	holdLines = 200_000
)

// delayRecords keeps back records that only announce runs, for as long as events about these
// runs stream in: a short run then is one write instead of two, and in a rush the
// ends are not kept waiting by the beginnings. It goes on taking records meanwhile,
// and stops as soon as one of them has something else to tell. It returns all that is
// to be written, what it says, and messages that came again, which it does not.
func (f *feed) delayRecords(ctx context.Context, messages []*message) (held []*message, b *batch, again []*message, err error) {
	b = f.said(ctx, messages)
	parts, lines := []*batch{b}, len(b.updates)
	f.seen.expect(b.updates)
	defer f.seen.release()
	began := time.Now()
	progress := began
	for last := f.seen.unseen(); !b.pressing && last > 0 && len(again) == 0; {
		now := time.Now()
		if now.Sub(progress) >= holdIdle || now.Sub(began) >= min(holdLeast+time.Duration(lines)*holdLine, holdMost) ||
			len(messages) >= f.cfg.MaxBatch || lines >= f.holdLines {
			break
		}
		more, err := f.pull(ctx, jet.PullRequest{Batch: f.cfg.MaxBatch - len(messages), MaxBytes: f.cfg.MaxBytes, Expires: holdStep})
		if err != nil {
			return nil, nil, nil, err
		}
		if left := f.seen.unseen(); left < last {
			progress = time.Now()
		}
		var fresh []*message
		again, fresh = splitRedelivered(more)
		b = f.said(ctx, fresh)
		f.seen.expect(b.updates)
		messages, parts, lines = append(messages, fresh...), append(parts, b), lines+len(b.updates)
		last = f.seen.unseen()
	}
	return messages, f.seen.news(parts), again, nil
}
