package executor

import (
	"context"

	"github.com/nats-io/nuid"

	"github.com/carillon-scheduler/carillon/bus"
)

// claim makes sure that no other instance does an at_most_once attempt; see Claim of package jet.
func (e *Executor) claim(ctx context.Context, r *Run) (mine bool, err error) {
	claim := &bus.Claim{Instance: r.instance, Delivery: r.delivered, Try: nuid.Next()}
	if mine, err = e.conn.Claim(ctx, r.trigger, claim, e.out.publish); err == nil && mine {
		r.held.Store(claim)
	}
	return mine, err
}

// releaseClaim shortens the life of the claim on an attempt that has ended. Nobody waits
// for it: a claim that stays is only a waste of room.
func (e *Executor) releaseClaim(r *Run, claim *bus.Claim) {
	m, err := claim.OverMsg(r.trigger)
	if err == nil {
		err = e.conn.NC.PublishMsg(m)
	}
	if err != nil {
		e.log.Debug("claim not released", "run_id", r.ID(), "error", err)
	}
}
