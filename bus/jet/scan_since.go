package jet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// ScanSince calls yield for every message of a stream on a subject that was stored at or after an
// instant, in order: at least all up to sequence known, which is as with [Conn.ScanKnown].
//
// It reads page by page from any replica. One that lags behind lacks the last message that the leader
// has; then the error is [job.ErrUnavailable].
func (c *Conn) ScanSince(ctx context.Context, stream, subject string, since time.Time, known uint64, yield func(*Stored)) error {
	if err := c.knows(ctx, stream, known); err != nil {
		return err
	}
	if err := c.scanSince(ctx, stream, subject, since, yield); err != nil {
		return err
	}
	return c.knows(ctx, stream, known)
}

func (c *Conn) scanSince(ctx context.Context, stream, subject string, since time.Time, yield func(*Stored)) error {
	last, err := c.Last(ctx, stream, subject)
	if errors.Is(err, ErrNoMessage) {
		return nil
	}
	if err != nil {
		return err
	}
	at := since.UTC().Format(time.RFC3339Nano)
	first, err := c.getMessage(ctx, stream, fmt.Sprintf(`{"start_time":%q,"next_by_subj":%q}`, at, subject))
	if errors.Is(err, ErrNoMessage) {
		return nil
	}
	if err != nil {
		return err
	}
	yield(first)
	seen := first.Seq
	for from, more := first.Seq+1, true; more && seen < last.Seq; {
		from, more, err = c.readPage(ctx, stream, subject, from, func(m *Stored) bool {
			yield(m)
			seen = m.Seq
			return seen < last.Seq
		})
		if err != nil {
			return err
		}
	}
	if seen < last.Seq {
		return fmt.Errorf("%w: %s of %s: a replica that lags behind has answered", job.ErrUnavailable, subject, stream)
	}
	return nil
}
