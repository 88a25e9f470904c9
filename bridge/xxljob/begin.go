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
	if err := i.recallForgotten(ctx, r); err != nil {
		i.giveBack(ctx, r)
		return false
	}
	if err := i.number(ctx, r); err != nil {
		i.giveBack(ctx, r)
		return false
	}
	r.kept.Started = time.Now().UTC().Truncate(time.Millisecond)
	r.kept.JobID, r.kept.Address = request.JobID, i.target().Address
	request.LogID, request.LogTime = r.kept.LogID, r.kept.Started
	if limit, _ := limitOf(&r.kept); !limit.IsZero() {
		request.Timeout = max(time.Until(limit), time.Second)
	}
	if !i.storeFirst(ctx, r) {
		return false
	}
	if r.kept.Routed != "" {
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
		i.silent, i.silentAt, i.asked = max(i.silent, 1), time.Now(), time.Time{} // takes nothing until it has answered
		i.listenedLocked(err, time.Now())
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

// giveBack returns the attempt to its group, for another instance. It returns false if another bridge
// has the run.
func (i *instance) giveBack(ctx context.Context, r *run) bool {
	if r.kept.LogID != 0 {
		r.kept.GivenUp = true
		if i.untilStored(ctx, func() error { return i.store(ctx, r) }) != nil {
			return false // the bridge that has the instance now goes on with it
		}
	}
	i.b.metrics.givenBack.Inc()
	i.b.answer(i.ack(r), bus.NakAfter(bus.GiveBackAfter(r.kept.Delivery)))
	return true
}

// leave gives up the attempt of a run whose executor is gone, without a word: its trigger comes again
// after bus.AckWait, and servers count how many executors have died with it.
func (i *instance) leave(ctx context.Context, r *run) bool {
	if r.kept.LogID == 0 { // it never had it
		return i.giveBack(ctx, r)
	}
	r.kept.GivenUp = true
	return i.untilStored(ctx, func() error { return i.store(ctx, r) }) == nil
}

// recallForgotten finds out how often executors have forgotten the attempt, and why it is begun again.
func (i *instance) recallForgotten(ctx context.Context, r *run) error {
	if r.kept.Delivery < 2 || r.kept.Trigger.Delivery == job.AtMostOnce {
		return nil
	}
	f, err := i.b.store.Forgotten(ctx, r.kept.Trigger)
	if err == nil && f.Times > 0 {
		r.kept.Forgotten = f.Times
		r.kept.Routed = clip.Text(reason.Join(f.Why, reason.BegunAgain.String()), bus.MaxMessage-len("…"))
	}
	return err
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

// number gives a run a log id that is greater than those of all runs before, and whose place no live
// run has. From then on callbacks find the run, even one that comes before the executor has answered.
func (i *instance) number(ctx context.Context, r *run) error {
	select {
	case i.numbering <- struct{}{}:
		defer func() { <-i.numbering }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for r.kept.LogID == 0 {
		if len(i.numbers) == 0 || time.Since(i.numbered) > state.BlockFor {
			taken := time.Now()
			first, err := i.b.store.TakeBlock(ctx, state.Block{Group: i.group.name, Instance: i.name})
			if err != nil {
				return fmt.Errorf("take numbers for runs: %w", err)
			}
			i.numbers, i.numbered = i.numbers[:0], taken
			for n := range int64(state.BlockSize) {
				i.numbers = append(i.numbers, first+n)
			}
		}
		id := i.numbers[0]
		i.numbers = i.numbers[1:]
		if i.enter(id, r) {
			r.kept.LogID = id
		}
	}
	return nil
}

// enter makes a run known by a log id, unless another live one has its place.
func (i *instance) enter(id int64, r *run) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for other := range i.byLog {
		if other%state.Places == id%state.Places {
			return false
		}
	}
	i.byLog[id] = r
	return true
}
