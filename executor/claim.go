package executor

import (
	"context"
	"time"

	"github.com/nats-io/nuid"

	"github.com/carillon-scheduler/carillon/bus"
)

// claim makes sure that no other instance does an at_most_once attempt; see Claim of package jet.
func (e *Executor) claim(ctx context.Context, r *Run) (mine bool, err error) {
	claim := &bus.Claim{Instance: r.instance, Delivery: r.delivered, Try: nuid.Next()}
	if mine, err = e.conn.Claim(ctx, r.trigger, claim, e.out.publish); err == nil && mine {
		r.held = claim
	}
	return mine, err
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

// leave hands back an attempt that another instance has begun. It reports nothing:
// while that instance lives, it keeps the trigger from coming again, and if it dies,
// the next instance that gets the trigger reports the run as lost.
func (e *Executor) leave(r *Run) {
	if !r.claimed.CompareAndSwap(false, true) {
		return // the loop has abandoned it, and reports
	}
	r.log.close()
	r.log.abandon()
	r.log.backlog.drop()
	r.observeEnd(outcome{giveBack: true}, time.Now())
	r.verdict = leave
	e.ended <- r
}
