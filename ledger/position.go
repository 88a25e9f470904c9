package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// position is how far things can be judged: it was read before anything else.
type position struct {
	at       time.Time // when
	cursors  map[int]*journal.Cursor
	oldest   time.Time // of the history's runs; zero: it is empty
	kept     cluster.Retentions
	ingested bool // the history has all that was recorded before the cursors were read
	waiting  waiting
}

// trimAhead is how much may be deleted, by a clock that is ahead or while a ledger is
// read, beyond what was to be deleted at its position.
const trimAhead = time.Minute

// since returns where the history of a job begins; zero: all is empty. That there are
// older runs, of this job or of others, does not mean that there are all: a run that came
// late, as one of a backfill or several fires that were missed together, is kept from
// when it came.
func (p *position) since(name job.Name) time.Time {
	if p.oldest.IsZero() {
		return p.oldest
	}
	return latest(p.oldest, p.kept.Since(name, p.at).Add(trimAhead))
}

// How long to wait for ingest to write what was recorded before, and how long between
// two looks.
const (
	ingestWait = 3 * time.Second
	ingestPoll = 50 * time.Millisecond
)

// readPosition returns the position of one shard, or of all of them when shard is negative. It waits no longer than
// patience for ingest.
func (l *Ledger) readPosition(ctx context.Context, shard int, patience time.Duration) (*position, error) {
	p := &position{at: time.Now(), cursors: map[int]*journal.Cursor{}, waiting: waiting{}}
	for n := range l.conn.Cluster().Shards {
		if shard >= 0 && n != shard {
			continue
		}
		c, err := l.cursor(ctx, n)
		if err != nil {
			return nil, err
		}
		p.cursors[n] = c
	}
	var err error
	if p.ingested, err = l.ingested(ctx, shard, patience); err != nil {
		return nil, err
	}
	stats, err := l.store.Stats(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: read the history's beginning: %w", job.ErrUnavailable, err)
	}
	p.oldest = stats.OldestRun
	p.kept, err = l.conn.Retention().History(ctx, l.keep)
	return p, err
}

// cursor returns the position of a shard. One that nobody has owned yet is where the
// cluster was made.
func (l *Ledger) cursor(ctx context.Context, shard int) (*journal.Cursor, error) {
	m, err := l.conn.Last(ctx, l.conn.TrigOf(shard), bus.SubjectCursor(shard))
	if errors.Is(err, jet.ErrNoMessage) {
		return &journal.Cursor{Shard: shard, Done: l.conn.Cluster().CreatedAt}, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := journal.DecodeCursor(m.Header, m.Data)
	if err != nil {
		return nil, fmt.Errorf("cursor of shard %d: %w", shard, err)
	}
	return c, nil
}

// Ingested reports whether the history has all records of runs that are stored by now. It waits for that,
// but not longer than 3 s. The error is job.ErrUnavailable.
func (l *Ledger) Ingested(ctx context.Context) (bool, error) { return l.ingested(ctx, -1, ingestWait) }

// ingested reports whether the history has all records of the shard (of all, when it
// is negative) that are stored by now: ingest removes a record once it has written it.
// It waits for that, but no longer than patience.
func (l *Ledger) ingested(ctx context.Context, shard int, patience time.Duration) (bool, error) {
	streams, subject := l.conn.Trigs(), bus.SubjectRecords
	if shard >= 0 {
		streams, subject = []string{l.conn.TrigOf(shard)}, bus.SubjectRecord(shard)
	}
	ends := make([]uint64, len(streams))
	for i, stream := range streams {
		var err error
		if ends[i], err = l.conn.LastSeq(ctx, stream); err != nil {
			return false, err
		}
	}
	until := time.Now().Add(patience)
	for i, stream := range streams {
		if is, err := l.ingestedOf(ctx, stream, subject, ends[i], until); err != nil || !is {
			return false, err
		}
	}
	return true, nil
}

// ingestedOf is ingested for the records of one stream that are stored up to last, by the word of a
// leader that knows of last.
func (l *Ledger) ingestedOf(ctx context.Context, stream, subject string, last uint64, until time.Time) (bool, error) {
	look := time.NewTicker(ingestPoll)
	defer look.Stop()
	for {
		next, err := l.conn.NextSeq(ctx, stream, []string{subject}, 1, last)
		switch {
		case err != nil:
			return false, err
		case next == 0 || next > last:
			return true, nil
		case time.Now().After(until):
			return false, nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}
