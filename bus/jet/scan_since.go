package jet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// ScanBetween calls yield for every message of a stream on a subject that was stored at or
// after an instant, in order, up to the one at sequence last, which the caller has seen.
//
// It reads page by page from any replica. One that lags behind lacks the message at last;
// then the error is [job.ErrUnavailable].
func (c *Conn) ScanBetween(ctx context.Context, stream, subject string, since time.Time, last uint64, yield func(*Stored)) error {
	at := since.UTC().Format(time.RFC3339Nano)
	first, err := c.getMessage(ctx, stream, fmt.Sprintf(`{"start_time":%q,"next_by_subj":%q}`, at, subject))
	if errors.Is(err, ErrNoMessage) {
		return nil // as its leader knows
	}
	if err != nil {
		return err
	}
	yield(first)
	seen := first.Seq
	for from, more := first.Seq+1, true; more && seen < last; {
		from, more, err = c.readPage(ctx, stream, subject, from, func(m *Stored) bool {
			yield(m)
			seen = m.Seq
			return seen < last
		})
		if err != nil {
			return err
		}
	}
	if seen < last {
		return fmt.Errorf("%w: %s of %s: a replica that lags behind has answered", job.ErrUnavailable, subject, stream)
	}
	return nil
}
