package pause

import (
	"context"
	"math/rand/v2"
	"time"
)

// For waits for d. It returns nil then, or the cause of ctx if that is done before.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Backoff waits twice as long each time, from Least to Most.
type Backoff struct {
	Least, Most time.Duration
	// Jitter spreads each wait over half of it to one and a half of it, so that many who failed at
	// the same time do not try again at the same time.
	Jitter bool

	next time.Duration
}

// Wait waits as [For] does.
func (b *Backoff) Wait(ctx context.Context) error {
	b.next = min(max(b.next*2, b.Least), b.Most)
	d := b.next
	if b.Jitter {
		d = b.next/2 + rand.N(b.next) //nolint:gosec // jitter is no secret
	}
	return For(ctx, d)
}
