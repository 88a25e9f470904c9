package executor

import (
	"context"
	"time"

	"github.com/nats-io/nuid"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

// claim makes sure that no other instance does an at_most_once attempt: JetStream stores
// the first claim of an attempt and refuses all others, for as long as the trigger may
// come again. The error means that ctx is done, and that the attempt has not begun.
//
// The number of deliveries does not suffice. Triggers are given back that nobody has
// begun, and a server that is killed may forget the deliveries of its last tenth of a
// second, and then hands the same trigger out again as if it were the first time.
//
// It may be tried for as long as it takes: whoever else gets the trigger meanwhile
// claims it too, and one of the claims is refused.
func (e *Executor) claim(ctx context.Context, r *Run) (mine bool, err error) {
	claim := &bus.Claim{Instance: r.instance, Delivery: r.delivered, Try: nuid.Next()}
	m, err := claim.Msg(r.trigger)
	if err != nil {
		return true, err
	}
	unanswered := false // a try may have been stored whose answer got lost
	wait := publishWaitMin
	for {
		err := e.publish(ctx, m)
		if unanswered && jet.WrongLast(err) {
			mine, err = e.ours(ctx, r, claim)
		} else if mine = err == nil; jet.WrongLast(err) {
			err = nil
		}
		switch {
		case err == nil && mine:
			r.held = claim
			return true, nil
		case err == nil:
			return false, nil
		case ctx.Err() != nil:
			return true, context.Cause(ctx)
		}
		unanswered = true
		if err := pause(ctx, wait); err != nil {
			return true, err
		}
		wait = min(2*wait, publishWaitMax)
	}
}

// ours reports whether the claim that stands is ours.
func (e *Executor) ours(ctx context.Context, r *Run, claim *bus.Claim) (bool, error) {
	stands, err := e.conn.StandingClaim(ctx, r.trigger)
	return err == nil && stands.Try == claim.Try, err
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
	r.log.shut()
	r.log.abandon()
	r.log.drop()
	r.observeEnd(outcome{giveBack: true}, time.Now())
	r.verdict = leave
	e.ended <- r
}
