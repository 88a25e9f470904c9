package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// maxCancels is how many runs of a shard are cancelled at once: each asks all the
// group's instances, and waits for answers.
const maxCancels = 32

// waiter is those who asked for one thing and wait for its commit.
type askers []*nats.Msg

func (w askers) reply(s *Scheduler, value any, err error) {
	for _, m := range w {
		if err := bus.Respond(m, value, err); err != nil {
			s.log.Debug("answer not sent", "subject", m.Subject, "error", err)
		}
	}
}

// requests answers requests about a shard's jobs. One goroutine uses it.
type requests struct {
	*ownership
	cancels errgroup.Group
	early   earlyRequests
	keys    keyedRequests
}

func newRequests(o *ownership) *requests {
	q := &requests{ownership: o, early: earlyRequests{o: o}}
	q.cancels.SetLimit(maxCancels)
	q.keys.requests = q
	q.keys.lookUps.SetLimit(maxLookUps)
	return q
}

// serve answers requests until ctx is done.
func (q *requests) serve(ctx context.Context) error {
	requests := make(chan *nats.Msg, 256)
	sub, err := q.s.conn.NC.ChanSubscribe(bus.SubjectCommand(q.shard, "*"), requests)
	if err != nil {
		return fmt.Errorf("subscribe to requests: %w", jet.Unavailable(err))
	}
	tick := time.NewTicker(scanEvery)
	defer tick.Stop()
	scanned := uint64(0) // what deferred.of returned when the machine knew of all items
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-q.advanced:
		case <-tick.C:
			if newest := q.s.deferred.of(q.shard); newest != scanned && q.scanDeferred(ctx) {
				scanned = newest
			}
		case m := <-requests:
			switch {
			case m.Subject == bus.SubjectCommand(q.shard, bus.VerbNudge):
				q.scanDeferred(ctx)
			case !q.early.keep(m):
				q.answer(ctx, m)
			}
		}
		for _, m := range q.early.release(time.Now()) {
			q.answer(ctx, m)
		}
	}
	_ = sub.Unsubscribe()
	_ = q.cancels.Wait()
	_ = q.keys.lookUps.Wait()
	for _, r := range q.early.waiting {
		q.refuse(r.m, q.gone())
	}
	for { // what came meanwhile need not wait for an answer in vain
		select {
		case m := <-requests:
			q.refuse(m, q.gone())
		default:
			return nil
		}
	}
}

// gone is the answer to requests that come when the shard is being handed over.
func (o *ownership) gone() error {
	return fmt.Errorf("%w: shard %d is changing hands", job.ErrUnavailable, o.shard)
}

func (q *requests) answer(ctx context.Context, m *nats.Msg) {
	switch m.Subject {
	case bus.SubjectCommand(q.shard, "trigger"):
		var r bus.TriggerRequest
		if err := json.Unmarshal(m.Data, &r); err != nil {
			q.refuse(m, &job.InvalidError{Reason: fmt.Sprintf("the request is no trigger request: %v", err)})
			return
		}
		if r.Key != "" {
			q.keys.lookUp(ctx, m, &r, func(sh *laneShard, look shard.KeyLookup) { sh.submitKeyed(m, r, look) })
			return
		}
		q.onLane(ctx, m, func(sh *laneShard) { sh.submit(m, r) })
	case bus.SubjectCommand(q.shard, bus.VerbRecover):
		var r bus.RecoverRequest
		if err := json.Unmarshal(m.Data, &r); err != nil {
			q.refuse(m, &job.InvalidError{Reason: fmt.Sprintf("the request is no recover request: %v", err)})
			return
		}
		q.onLane(ctx, m, func(sh *laneShard) { sh.recover(m, r) })
	case bus.SubjectCommand(q.shard, bus.VerbWait):
		var r bus.WaitRequest
		if err := json.Unmarshal(m.Data, &r); err != nil {
			q.refuse(m, &job.InvalidError{Reason: fmt.Sprintf("the request is no wait request: %v", err)})
			return
		}
		q.onLane(ctx, m, func(sh *laneShard) { sh.tell(m, r) })
	case bus.SubjectCommand(q.shard, bus.VerbHold):
		var r bus.HoldRequest
		if err := json.Unmarshal(m.Data, &r); err != nil {
			q.refuse(m, &job.InvalidError{Reason: fmt.Sprintf("the request is no hold request: %v", err)})
			return
		}
		q.onLane(ctx, m, func(sh *laneShard) { sh.hold(m, r) })
	case bus.SubjectCommand(q.shard, "cancel"):
		var r bus.CancelRequest
		if err := json.Unmarshal(m.Data, &r); err != nil {
			q.refuse(m, &job.InvalidError{Reason: fmt.Sprintf("the request is no cancel request: %v", err)})
			return
		}
		if !q.cancels.TryGo(func() error {
			if r.Status != "" {
				reply, err := q.endOverdue(ctx, r)
				q.respond(m, reply, err)
				return nil
			}
			if q.cancelWaiting(ctx, m, r) {
				return nil
			}
			reply, err := q.cancelRun(ctx, r)
			q.respond(m, reply, err)
			return nil
		}) {
			q.refuse(m, fmt.Errorf("%w: shard %d is cancelling %d runs already", job.ErrUnavailable, q.shard, maxCancels))
		}
	case bus.SubjectCommand(q.shard, bus.VerbKey):
		var r bus.KeyRequest
		if err := json.Unmarshal(m.Data, &r); err != nil {
			q.refuse(m, &job.InvalidError{Reason: fmt.Sprintf("the request is no request for a key: %v", err)})
			return
		}
		q.keys.lookUp(ctx, m, &bus.TriggerRequest{Job: r.Job, Key: r.Key}, func(sh *laneShard, look shard.KeyLookup) { sh.findKeyed(m, r.Job, look) })
	case bus.SubjectCommand(q.shard, bus.VerbBackfill):
		q.serveBackfill(ctx, m)
	case bus.SubjectCommand(q.shard, bus.VerbBackfills):
		q.listBackfills(ctx, m)
	case bus.SubjectCommand(q.shard, bus.VerbCancelBackfill):
		q.cancelBackfill(ctx, m)
	default:
		q.refuse(m, &job.InvalidError{Field: "subject", Reason: fmt.Sprintf("%q must end in trigger, cancel, key, recover, wait, hold, backfill, backfills or cancel-backfill", m.Subject)})
	}
}

func (o *ownership) refuse(m *nats.Msg, err error) { o.respond(m, nil, err) }

func (o *ownership) respond(m *nats.Msg, value any, err error) {
	if err := bus.Respond(m, value, err); err != nil {
		o.s.log.Debug("answer not sent", "subject", m.Subject, "error", err)
	}
}

// submit gives a request to the machine. The asker hears when the run is committed.
func (sh *laneShard) submit(m *nats.Msg, r bus.TriggerRequest) {
	done, err := sh.machine.Requests.Submit(r)
	sh.await(m, r.RunID, done, err)
}

// recover gives a request about a step to the machine. The asker hears when what follows is committed.
func (sh *laneShard) recover(m *nats.Msg, r bus.RecoverRequest) {
	done, err := sh.machine.Requests.Recover(r)
	sh.await(m, r.ID, done, err)
}

// tell gives a request about a step that waits to the machine. The asker hears when what follows is committed.
func (sh *laneShard) tell(m *nats.Msg, r bus.WaitRequest) {
	done, err := sh.machine.Requests.Wait(r)
	sh.await(m, r.ID, done, err)
}

// hold gives a request to put a run on hold to the machine, or to resume it. The asker hears when that is committed.
func (sh *laneShard) hold(m *nats.Msg, r bus.HoldRequest) {
	done, err := sh.machine.Requests.Hold(r)
	sh.await(m, r.ID, done, err)
}

// await answers a request, at once or when what it asks for is committed.
func (sh *laneShard) await(m *nats.Msg, id job.RunID, done *shard.Asked, err error) {
	switch {
	case err != nil:
		sh.refuse(m, err)
	case done != nil:
		reply := done.Reply()
		reply.Existed = true
		sh.respond(m, reply, nil)
	default:
		sh.waiting[id] = append(sh.waiting[id], m) // maybe asked again before the first was answered
	}
}

// answer tells askers what has been committed for them.
func (sh *laneShard) answer(b *shard.Batch) {
	for _, a := range b.Asked {
		sh.waiting[a.RunID].reply(sh.s, a.Reply(), nil)
		delete(sh.waiting, a.RunID)
		sh.goOn(a.RunID)
	}
	for _, c := range b.Cancelled {
		sh.cancelling[c.RunID].reply(sh.s, bus.CancelReply{RunID: c.RunID, Found: c.Found}, nil)
		delete(sh.cancelling, c.RunID)
	}
	for _, id := range b.Condemned {
		for _, done := range sh.condemning[id] {
			close(done)
		}
		delete(sh.condemning, id)
	}
	sh.answerBackfills(b)
}
