package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
)

// tallies know how many bytes groups have in buckets. NATS does not: its messages have to be read, so
// each is read once, and what was removed is noticed when all are read again.
type tallies struct {
	mu sync.Mutex
	of map[string]tally // by the subjects of a group's keys
}

// tally is how many bytes the messages up to a sequence have, and when all were read.
type tally struct {
	bytes int64
	next  uint64
	at    time.Time
}

// tallyFor is for how long what was removed may still be counted, unless that makes too much.
const tallyFor = time.Hour

// size returns how many bytes a group has in a bucket, which has had messages up to a sequence.
func (t *tallies) size(ctx context.Context, c *Conn, share bus.Share, group string, last uint64) (int64, error) {
	keys := keysOf(share.Bucket, group)
	t.mu.Lock()
	known := t.of[keys]
	t.mu.Unlock()
	begun := time.Now()
	read := func(from uint64) error {
		size, next, err := c.Bulk().Size(ctx, bucketPrefix+share.Bucket, keys, from)
		if err == nil {
			known.bytes, known.next = known.bytes+size, max(next, last+1)
		}
		return err
	}
	whole := known.at.IsZero() || begun.Sub(known.at) > tallyFor
	if !whole && known.next <= last {
		if err := read(known.next); err != nil {
			return 0, err
		}
	}
	if whole || known.bytes > share.Bytes && begun.After(known.at) {
		known = tally{at: begun}
		if err := read(1); err != nil {
			return 0, err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]tally{}
	}
	t.of[keys] = known
	return known.bytes, nil
}
