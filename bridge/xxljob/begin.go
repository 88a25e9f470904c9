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
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// begin hands a run over to its executor. It returns false if the run is over already.
func (a *attempt) begin(ctx context.Context) bool {
	t := a.kept.Trigger
	switch {
	case a.i.group.killed.Has(bus.AttemptRef{RunID: t.RunID}):
		a.conclude(ctx, end{status: job.StatusCancelled, message: reason.CancelledBeforeStart.String()})
		return false
	case !t.StartBy.IsZero() && time.Now().After(t.StartBy):
		a.conclude(ctx, end{status: job.StatusMissed, message: reason.NobodyFreeBy.With(t.StartBy)})
		return false
	}
	request, err := a.i.b.compose(ctx, t)
	switch {
	case errors.Is(err, job.ErrUnavailable):
		a.giveBack(ctx)
		return false
	case err != nil:
		a.conclude(ctx, end{status: job.StatusFailed, message: err.Error()})
		return false
	}
	if t.Delivery == job.AtMostOnce && !a.claim(ctx) {
		return false
	}
	if err := a.readForgotten(ctx); err != nil {
		a.giveBack(ctx)
		return false
	}
	if err := a.number(ctx); err != nil {
		a.giveBack(ctx)
		return false
	}
	a.kept.Started = time.Now().UTC().Truncate(time.Millisecond)
	a.kept.JobID, a.kept.Address = request.JobID, a.i.target().Address
	request.LogID, request.LogTime = a.kept.LogID, a.kept.Started
	if limit, _ := limitOf(&a.kept); !limit.IsZero() {
		request.Timeout = max(time.Until(limit), time.Second)
	}
	if !a.storeFirst(ctx) {
		return false
	}
	if a.kept.Routed != "" {
		a.reportStarted(ctx, time.Now()) // it says why the run is here
	}
	return a.handOver(ctx, request)
}

// storeFirst stores the run before anything of it is sent. It returns false if that is not to be.
func (a *attempt) storeFirst(ctx context.Context) bool {
	err := a.i.out.untilStored(ctx, func() error { return a.store(ctx) })
	if err != nil && ctx.Err() == nil { // another bridge has the instance
		a.i.b.answer(a.i.ack(a.run), bus.NakAfter(bus.GiveBackAfter(a.kept.Delivery)))
	}
	return err == nil
}

// handOver calls the executor. It returns false if the run is over.
func (a *attempt) handOver(ctx context.Context, request wire.Run) bool {
	to := a.i.target()
	dialect, err := a.i.b.peers.Run(ctx, to, request)
	if dialect != to.Dialect {
		a.i.held.learn(func(is *state.Instance) { is.Dialect = dialect })
	}
	refused := (*peer.Refusal)(nil)
	switch {
	case err == nil:
		return true
	case errors.As(err, &refused):
		a.conclude(ctx, end{status: job.StatusFailed, message: refused.Error()})
		return false
	case errors.Is(err, peer.ErrNotSent):
		a.i.mu.Lock()
		a.i.silent, a.i.silentAt, a.i.asked = max(a.i.silent, 1), time.Now(), time.Time{} // takes nothing until it has answered
		a.i.shown.called(err, time.Now())
		a.i.mu.Unlock()
		a.notBegun(ctx, err.Error())
		return false
	}
	a.unconfirmed = true
	if ctx.Err() == nil {
		a.i.log.WarnContext(ctx, "not known whether the executor has begun the run", "run_id", a.kept.Trigger.RunID, "error", err)
	}
	return true
}

// notBegun ends the attempt of a run that has surely not begun: another may, if its job allows that.
func (a *attempt) notBegun(ctx context.Context, why string) {
	if a.kept.Trigger.Delivery == job.AtMostOnce { // the claim keeps everybody else from it
		a.conclude(ctx, end{status: job.StatusFailed, message: why})
		return
	}
	a.giveBack(ctx)
}

// giveBack returns the attempt to its group, for another instance. It returns false if another bridge
// has the run.
func (a *attempt) giveBack(ctx context.Context) bool {
	if a.kept.LogID != 0 {
		a.kept.GivenUp = true
		if a.i.out.untilStored(ctx, func() error { return a.store(ctx) }) != nil {
			return false // the bridge that has the instance now goes on with it
		}
	}
	a.i.b.metrics.givenBack.Inc()
	a.i.b.answer(a.i.ack(a.run), bus.NakAfter(bus.GiveBackAfter(a.kept.Delivery)))
	return true
}

// leave gives up the attempt of a run whose executor is gone, without a word: its trigger comes again
// after bus.AckWait, and servers count how many executors have died with it.
func (a *attempt) leave(ctx context.Context) bool {
	if a.kept.LogID == 0 { // it never had it
		return a.giveBack(ctx)
	}
	a.kept.GivenUp = true
	return a.i.out.untilStored(ctx, func() error { return a.store(ctx) }) == nil
}

// readForgotten finds out how often executors have forgotten the attempt, and why it is begun again.
func (a *attempt) readForgotten(ctx context.Context) error {
	if a.kept.Delivery < 2 || a.kept.Trigger.Delivery == job.AtMostOnce {
		return nil
	}
	f, err := a.i.b.store.Forgotten(ctx, a.kept.Trigger)
	if err == nil && f.Times > 0 {
		a.kept.Forgotten = f.Times
		a.kept.Routed = clip.Text(reason.Join(f.Why, reason.BegunAgain.String()), bus.MaxMessage-len("…"))
	}
	return err
}

// claim makes sure that nobody else begins a run that must not be done twice. If it fails, this bridge
// reports nothing about the run.
func (a *attempt) claim(ctx context.Context) bool {
	claim := &bus.Claim{Instance: a.i.name, Delivery: a.kept.Delivery, Try: nuid.Next()}
	mine, err := a.i.b.conn.Claim(ctx, a.kept.Trigger, claim, func(ctx context.Context, m *nats.Msg) error {
		_, err := a.i.b.js.PublishMsg(ctx, m)
		return err
	})
	if err != nil && ctx.Err() == nil {
		a.conclude(ctx, end{status: job.StatusFailed, message: err.Error()})
	}
	if err != nil || !mine {
		return false
	}
	a.kept.Claim = claim
	return true
}

// number gives a run a log id that is greater than those of all runs before, and whose cell no live
// run has. From then on callbacks find the run, even one that comes before the executor has answered.
func (a *attempt) number(ctx context.Context) error {
	if a.kept.LogID != 0 {
		return nil
	}
	return a.i.numbers.give(ctx, func() (int64, error) {
		first, err := a.i.b.store.TakeBlock(ctx, state.Block{Group: a.i.group.name, Instance: a.i.name})
		if err != nil {
			return 0, fmt.Errorf("take numbers for runs: %w", err)
		}
		return first, nil
	}, func(id int64) bool {
		if !a.i.enter(id, a.run) {
			return false
		}
		a.kept.LogID = id
		return true
	})
}

// logIDs is the log ids that an instance may give to runs. They rise.
type logIDs struct {
	giving chan struct{} // has a value while a run gets its log id
	free   []int64       // ours to give, since the instant taken
	taken  time.Time
}

// give offers log ids until one is accepted. It reserves them in blocks, and offers the first of each.
func (n *logIDs) give(ctx context.Context, take func() (int64, error), accept func(id int64) bool) error {
	select {
	case n.giving <- struct{}{}:
		defer func() { <-n.giving }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for {
		if len(n.free) == 0 || time.Since(n.taken) > state.BlockFor {
			now := time.Now()
			first, err := take()
			if err != nil {
				return err
			}
			n.free, n.taken = n.free[:0], now
			for k := range int64(state.BlockSize) {
				n.free = append(n.free, first+k)
			}
		}
		id := n.free[0]
		n.free = n.free[1:]
		if accept(id) {
			return nil
		}
	}
}

// enter makes a run known by a log id, unless another live one has its cell.
func (i *instance) enter(id int64, r *run) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for other := range i.byLog {
		if other%state.Cells == id%state.Cells {
			return false
		}
	}
	i.byLog[id] = r
	return true
}
