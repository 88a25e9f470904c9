package executor

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// fetchFor is how long a run waits for its secrets and its script while NATS does not serve them. A
// run must not fail because a server of NATS was restarted; but one that has no permission to read
// them hears nothing either.
const fetchFor = time.Minute

// fetch returns what get does, which it calls again while NATS is away.
func fetch[T any](ctx context.Context, get func() (T, error)) (T, error) {
	began := time.Now()
	for wait := publishWaitMin; ; wait = min(2*wait, publishWaitMax) {
		got, err := get()
		if !errors.Is(err, job.ErrUnavailable) || time.Since(began) > fetchFor || pause(ctx, wait) != nil {
			return got, err
		}
	}
}
