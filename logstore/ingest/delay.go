package ingest

import (
	"context"
	"slices"
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
	// holdLines bounds the lines that are held, of all partitions together, about 150 bytes each.
	holdLines = 200_000
	// decodedAtOnce is how many records are decoded together, because each may have thousands of lines.
	decodedAtOnce = 16
)

// delayRecords keeps back records that only announce runs, for as long as events about these
// runs stream in: a short run then is one write instead of two, and in a rush the
// ends are not kept waiting by the beginnings. It goes on taking records meanwhile,
// and stops as soon as one of them has something else to tell. It returns all that is
// to be written, what it says, and messages that came again, which it does not.
func (f *feed) delayRecords(ctx context.Context, messages []*message) (held []*message, b *batch, again []*message, err error) {
	defer f.seen.release()
	lines, pressing := f.expect(ctx, messages)
	began := time.Now()
	progress := began
	for last := f.seen.unseen(); !pressing && last > 0 && len(again) == 0; {
		now := time.Now()
		if now.Sub(progress) >= holdIdle || now.Sub(began) >= min(holdLeast+time.Duration(lines)*holdLine, holdMost) ||
			len(messages) >= f.cfg.MaxBatch || lines >= f.holdLines {
			break
		}
		more, err := f.pull(ctx, jet.PullRequest{Batch: f.cfg.MaxBatch - len(messages), MaxBytes: f.bytes, Expires: holdStep})
		if err != nil {
			return nil, nil, nil, err
		}
		if left := f.seen.unseen(); left < last {
			progress = time.Now()
		}
		var fresh []*message
		again, fresh = splitRedelivered(more)
		var n int
		n, pressing = f.expect(ctx, fresh)
		messages, lines = append(messages, fresh...), lines+n
		last = f.seen.unseen()
	}
	return messages, f.news(messages, pressing), again, nil
}

// expect decodes records, and waits for events about the runs that they announce. It returns how many
// lines they have, and whether one is more than an announcement.
func (f *feed) expect(ctx context.Context, messages []*message) (lines int, pressing bool) {
	buried := 0
	for some := range slices.Chunk(messages, decodedAtOnce) {
		b := f.decodePart(ctx, some, &buried)
		f.seen.expect(b.updates)
		lines, pressing = lines+len(b.updates), pressing || b.pressing
	}
	return lines, pressing
}

// news decodes held records a second time, and returns the lines that are new to the store. Keeping the
// decoded lines would take five times the memory, and in a rush hardly any of them are new in the end.
func (f *feed) news(messages []*message, pressing bool) *batch {
	b := &batch{}
	if !pressing && f.seen.unseen() == 0 {
		return b
	}
	one := &batch{}
	for _, m := range messages {
		one.updates, one.sources, one.lines, one.refused, one.source = one.updates[:0], one.sources[:0], one.lines[:0], nil, source{message: m}
		f.decode(one, m) // what is refused was told when it came
		b.lines = append(b.lines, one.lines...)
		f.seen.news(one, b)
	}
	return b
}
