package xxljob

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/peer"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// begin hands a run over to its executor. It returns false if the run is over already.
func (i *instance) begin(ctx context.Context, r *run) bool {
	t := r.kept.Trigger
	switch {
	case i.group.killed.Has(bus.AttemptRef{RunID: t.RunID}):
		i.conclude(ctx, r, end{status: job.StatusCancelled, message: reason.CancelledBeforeStart.String()})
		return false
	case !t.StartBy.IsZero() && time.Now().After(t.StartBy):
		i.conclude(ctx, r, end{status: job.StatusMissed, message: reason.NobodyFreeBy.With(t.StartBy)})
		return false
	}
	request, err := i.b.compose(ctx, t)
	switch {
	case errors.Is(err, job.ErrUnavailable):
		i.giveBack(ctx, r)
		return false
	case err != nil:
		i.conclude(ctx, r, end{status: job.StatusFailed, message: err.Error()})
		return false
	}
	if t.Delivery == job.AtMostOnce && !i.claim(ctx, r) {
		return false
	}
	if request.LogID, err = i.nextLogID(ctx); err != nil {
		i.giveBack(ctx, r)
		return false
	}
	r.kept.Started = time.Now().UTC().Truncate(time.Millisecond)
	r.kept.LogID, r.kept.JobID, r.kept.Address = request.LogID, request.JobID, i.target().Address
	request.LogTime = r.kept.Started
	if limit, _ := r.limit(); !limit.IsZero() {
		request.Timeout = max(time.Until(limit), time.Second)
	}
	i.mu.Lock()
	i.byLog[r.kept.LogID] = r // its callback may be faster than the answer
	i.mu.Unlock()
	if !i.storeFirst(ctx, r) {
		return false
	}
	if r.routed && r.kept.Routed != "" {
		i.sayStarted(ctx, r, time.Now()) // it says why the run is here
	}
	return i.handOver(ctx, r, request)
}

// storeFirst stores the run before anything of it is sent. It returns false if that is not to be.
func (i *instance) storeFirst(ctx context.Context, r *run) bool {
	err := i.untilStored(ctx, func() error { return i.store(ctx, r) })
	if err != nil && ctx.Err() == nil { // another bridge has the instance
		i.b.answer(i.ack(r), bus.NakAfter(bus.GiveBackAfter(r.kept.Delivery)))
	}
	return err == nil
}

// handOver calls the executor. It returns false if the run is over.
func (i *instance) handOver(ctx context.Context, r *run, request wire.Run) bool {
	to := i.target()
	dialect, err := i.b.peers.Run(ctx, to, request)
	if dialect != to.Dialect {
		i.mu.Lock()
		i.is.Dialect = dialect
		i.mu.Unlock()
	}
	refused := (*peer.Refusal)(nil)
	switch {
	case err == nil:
		return true
	case errors.As(err, &refused):
		i.conclude(ctx, r, end{status: job.StatusFailed, message: refused.Error()})
		return false
	case errors.Is(err, peer.ErrNotSent):
		i.mu.Lock()
		i.silent, i.asked = max(i.silent, 1), time.Time{} // takes nothing until it has answered
		i.mu.Unlock()
		i.notBegun(ctx, r, err.Error())
		return false
	}
	r.doubt = true
	if ctx.Err() == nil {
		i.log.WarnContext(ctx, "not known whether the executor has begun the run", "run_id", r.kept.Trigger.RunID, "error", err)
	}
	return true
}

// notBegun ends the attempt of a run that has surely not begun: another may, if its job allows that.
func (i *instance) notBegun(ctx context.Context, r *run, why string) {
	if r.kept.Trigger.Delivery == job.AtMostOnce { // the claim keeps everybody else from it
		i.conclude(ctx, r, end{status: job.StatusFailed, message: why})
		return
	}
	i.giveBack(ctx, r)
}

// giveBack has somebody else begin the attempt.
func (i *instance) giveBack(ctx context.Context, r *run) {
	if r.kept.LogID != 0 {
		r.kept.GivenUp = true
		if i.untilStored(ctx, func() error { return i.store(ctx, r) }) != nil {
			return // the bridge that has the instance now goes on with it
		}
	}
	i.b.metrics.givenBack.Inc()
	i.b.answer(i.ack(r), bus.NakAfter(bus.GiveBackAfter(r.kept.Delivery)))
}

// claim makes sure that nobody else begins a run that must not be done twice. If it fails, this bridge
// reports nothing about the run.
func (i *instance) claim(ctx context.Context, r *run) bool {
	claim := &bus.Claim{Instance: i.name, Delivery: r.kept.Delivery, Try: nuid.Next()}
	mine, err := i.b.conn.Claim(ctx, r.kept.Trigger, claim, func(ctx context.Context, m *nats.Msg) error {
		_, err := i.b.js.PublishMsg(ctx, m)
		return err
	})
	if err != nil && ctx.Err() == nil {
		i.conclude(ctx, r, end{status: job.StatusFailed, message: err.Error()})
	}
	if err != nil || !mine {
		return false
	}
	r.kept.Claim = claim
	return true
}

// nextLogID returns a number that no run has or had.
func (i *instance) nextLogID(ctx context.Context) (int64, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.numbers) == 0 {
		i.mu.Unlock()
		first, err := i.b.store.TakeBlock(ctx, state.Block{Group: i.group.name, Instance: i.name}, i.b.cfg.FirstLogID)
		i.mu.Lock()
		if err != nil {
			return 0, fmt.Errorf("take numbers for runs: %w", err)
		}
		for n := range int64(state.BlockSize) {
			i.numbers = append(i.numbers, first+n)
		}
	}
	n := i.numbers[0]
	i.numbers = i.numbers[1:]
	return n, nil
}
