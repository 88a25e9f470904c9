package jet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// AfterOthers repeats a write for at most inFlightFor, after pauses that double between the others.
const (
	inFlightFor = BatchTimeout
	inFlightMin = 2 * time.Millisecond
	inFlightMax = 100 * time.Millisecond
)

// AfterOthers calls write, a conditional write, until it is not refused as [InFlight], and returns its
// error. The error is job.ErrUnavailable when other writes are in flight for 2 s, or until ctx is done.
func AfterOthers(ctx context.Context, write func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, inFlightFor, errors.New("replicas have confirmed no write for too long"))
	defer cancel()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for wait := inFlightMin; ; wait = min(2*wait, inFlightMax) {
		err := write(ctx)
		if !InFlight(err) {
			return err
		}
		// Many runs of an instance may begin at once, all on one condition.
		pause.Reset(wait/2 + rand.N(wait)) //nolint:gosec // jitter is no secret
		select {
		case <-pause.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: another write is in flight: %w", job.ErrUnavailable, context.Cause(ctx)) // not err, which may be ErrKeyExists, too
		}
	}
}
