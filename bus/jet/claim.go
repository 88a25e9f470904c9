package jet

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
)

// How long [Conn.Claim] waits between two tries.
const (
	claimWaitMin = 250 * time.Millisecond
	claimWaitMax = 5 * time.Second
)

// Claim makes sure that no other instance does an at_most_once attempt: JetStream stores the first
// claim of an attempt and refuses all others, for as long as the trigger may come again. It publishes
// by the given function, which waits for JetStream's answer. The error means that ctx is done, and
// that the attempt has not begun.
//
// The number of deliveries does not suffice. Triggers are given back that nobody has begun, and a
// server that is killed may forget the deliveries of its last tenth of a second, and then hands the
// same trigger out again as if it were the first time.
//
// It may be tried for as long as it takes. If another instance gets the trigger meanwhile, that one
// claims it too, and one of the claims is refused.
func (c *Conn) Claim(ctx context.Context, t *bus.Trigger, claim *bus.Claim, publish func(context.Context, *nats.Msg) error) (mine bool, err error) {
	m, err := claim.Msg(t)
	if err != nil {
		return true, err
	}
	unanswered := false // a try may have been stored whose answer got lost
	rest := time.NewTimer(0)
	defer rest.Stop()
	<-rest.C
	for wait := claimWaitMin; ; wait = min(2*wait, claimWaitMax) {
		err := publish(ctx, m)
		if unanswered && WrongLast(err) {
			mine, err = stands(ctx, c, t, claim)
		} else if mine = err == nil; WrongLast(err) {
			err = nil
		}
		switch {
		case err == nil:
			return mine, nil
		case ctx.Err() != nil:
			return true, context.Cause(ctx)
		}
		unanswered = unanswered || !InFlight(err) // in flight: another claim, which may yet get lost, or an earlier try
		rest.Reset(wait)
		select {
		case <-rest.C:
		case <-ctx.Done():
			return true, context.Cause(ctx)
		}
	}
}

// stands reports whether the claim that stands is the given one.
func stands(ctx context.Context, c *Conn, t *bus.Trigger, claim *bus.Claim) (bool, error) {
	stands, err := StandingClaim(ctx, c, t)
	return err == nil && stands.Try == claim.Try, err
}
