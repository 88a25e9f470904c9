package executor

import (
	"context"
	"time"

	"carillon/bus"
)

// claim makes sure that no other instance does an at_most_once attempt: it stores the
// started event first, whose message id JetStream takes once. The error means that
// ctx is done, and that the attempt has not begun.
//
// The number of deliveries does not suffice. A server that is killed may forget the
// deliveries of its last tenth of a second, and then hands the same trigger out again
// as if it were the first time.
func (e *Executor) claim(ctx context.Context, r *Run) (mine bool, err error) {
	m, err := r.event(bus.EventStarted, r.startedAt).Msg()
	if err != nil {
		return true, err
	}
	wait := publishWaitMin
	for {
		ack, err := e.store(ctx, m)
		switch {
		case err == nil && ack.Duplicate:
			// Or our own first try was stored, though its answer got lost. Nobody can tell, so
			// it counts as begun by another.
			return false, nil
		case err == nil:
			return true, nil
		case ctx.Err() != nil:
			return true, context.Cause(ctx)
		}
		if err := pause(ctx, wait); err != nil {
			return true, err
		}
		wait = min(2*wait, publishWaitMax)
	}
}

// claimRouted is claim for an attempt that was routed here. Its trigger may have been
// delivered to dispatchers many times before anybody has begun it, so the claim is
// kept for as long as the trigger may come again; dispatchers look at it then.
func (e *Executor) claimRouted(ctx context.Context, r *Run) (mine bool, err error) {
	claim := &bus.Claim{Instance: r.instance, Delivery: r.delivered}
	m, err := claim.Msg(r.trigger)
	if err != nil {
		return true, err
	}
	wait := publishWaitMin
	for {
		err := e.publish(ctx, m)
		switch {
		case err == nil:
			r.held = claim
			return true, nil
		case bus.ClaimTaken(err): // or our own first try was stored: see claim
			return false, nil
		case ctx.Err() != nil:
			return true, context.Cause(ctx)
		}
		if err := pause(ctx, wait); err != nil {
			return true, err
		}
		wait = min(2*wait, publishWaitMax)
	}
}

// letGo has the claim on an attempt that has ended forgotten before long. Nobody waits
// for it: a claim that stays is only a waste of room.
func (e *Executor) letGo(r *Run) {
	m, err := r.held.OverMsg(r.trigger)
	if err == nil {
		err = e.conn.NC.PublishMsg(m)
	}
	if err != nil {
		e.log.Debug("claim not let go", "run_id", r.ID(), "error", err)
	}
}

// leave hands back an attempt that another instance has begun. Nothing is said of it:
// while that instance lives its signs of life keep the trigger from coming again, and
// should it die, whoever gets the trigger next reports the run lost.
func (e *Executor) leave(r *Run) {
	if !r.claimed.CompareAndSwap(false, true) {
		return // the loop has abandoned it, and reports
	}
	r.log.close()
	r.endSpan(outcome{giveBack: true}, time.Now())
	r.verdict = leave
	e.ended <- r
}
