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
type waiter []*nats.Msg

func (w waiter) reply(s *Scheduler, value any, err error) {
	for _, m := range w {
		if err := bus.Respond(m, value, err); err != nil {
			s.log.Debug("answer not sent", "subject", m.Subject, "error", err)
		}
	}
}

// serveRequests answers requests about the shard's jobs until ctx is done.
func (o *ownership) serveRequests(ctx context.Context) error {
	requests := make(chan *nats.Msg, 256)
	sub, err := o.s.conn.NC.ChanSubscribe(bus.SubjectCommand(o.shard, "*"), requests)
	if err != nil {
		return fmt.Errorf("subscribe to requests: %w", jet.Unavailable(err))
	}
	var cancels errgroup.Group
	cancels.SetLimit(maxCancels)
	look := time.NewTicker(scanEvery)
	defer look.Stop()
	scanned := uint64(0) // what s.deferred was when the machine knew of all items
	tooSoon := unheardVersions{o: o}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-o.news:
		case <-look.C:
			if newest := o.s.deferredOf(o.shard).Load(); newest != scanned && o.scanDeferred(ctx) {
				scanned = newest
			}
		case m := <-requests:
			switch {
			case m.Subject == bus.SubjectCommand(o.shard, bus.VerbNudge):
				o.scanDeferred(ctx)
			case !tooSoon.keep(m):
				o.serveRequest(ctx, m, &cancels)
			}
		}
		for _, m := range tooSoon.release(time.Now()) {
			o.serveRequest(ctx, m, &cancels)
		}
	}
	_ = sub.Unsubscribe()
	_ = cancels.Wait()
	for _, r := range tooSoon.waiting {
		o.refuse(r.m, o.gone())
	}
	for { // what came meanwhile need not wait for an answer in vain
		select {
		case m := <-requests:
			o.refuse(m, o.gone())
		default:
			return nil
		}
	}
}

// gone is the answer to requests that come when the shard is being handed over.
func (o *ownership) gone() error {
	return fmt.Errorf("%w: shard %d is changing hands", job.ErrUnavailable, o.shard)
}

func (o *ownership) serveRequest(ctx context.Context, m *nats.Msg, cancels *errgroup.Group) {
	switch m.Subject {
	case bus.SubjectCommand(o.shard, "trigger"):
		var r bus.TriggerRequest
		if err := json.Unmarshal(m.Data, &r); err != nil {
			o.refuse(m, &job.InvalidError{Reason: fmt.Sprintf("the request is no trigger request: %v", err)})
			return
		}
		if !o.lane.post(ctx, func() { o.submit(m, r) }) {
			o.refuse(m, o.gone())
		}
	case bus.SubjectCommand(o.shard, "cancel"):
		var r bus.CancelRequest
		if err := json.Unmarshal(m.Data, &r); err != nil {
			o.refuse(m, &job.InvalidError{Reason: fmt.Sprintf("the request is no cancel request: %v", err)})
			return
		}
		if !cancels.TryGo(func() error {
			if r.Status != "" {
				reply, err := o.endOverdue(ctx, r)
				o.respond(m, reply, err)
				return nil
			}
			if o.cancelWaiting(ctx, m, r) {
				return nil
			}
			reply, err := o.cancelRun(ctx, r)
			o.respond(m, reply, err)
			return nil
		}) {
			o.refuse(m, fmt.Errorf("%w: shard %d is cancelling %d runs already", job.ErrUnavailable, o.shard, maxCancels))
		}
	case bus.SubjectCommand(o.shard, bus.VerbBackfill):
		o.serveBackfill(ctx, m)
	case bus.SubjectCommand(o.shard, bus.VerbBackfills):
		o.listBackfills(ctx, m)
	case bus.SubjectCommand(o.shard, bus.VerbCancelBackfill):
		o.cancelBackfill(ctx, m)
	default:
		o.refuse(m, &job.InvalidError{Field: "subject", Reason: fmt.Sprintf("%q must end in trigger, cancel, backfill, backfills or cancel-backfill", m.Subject)})
	}
}

func (o *ownership) refuse(m *nats.Msg, err error) { o.respond(m, nil, err) }

func (o *ownership) respond(m *nats.Msg, value any, err error) {
	if err := bus.Respond(m, value, err); err != nil {
		o.s.log.Debug("answer not sent", "subject", m.Subject, "error", err)
	}
}

// submit gives a request to the machine. The asker hears when the run is committed.
func (o *ownership) submit(m *nats.Msg, r bus.TriggerRequest) {
	if !o.ready.Load() {
		o.refuse(m, o.gone()) // the shard was lost since the request came
		return
	}
	done, err := o.machine.Requests.Submit(r)
	switch {
	case err != nil:
		o.refuse(m, err)
	case done != nil:
		o.respond(m, replyOf(*done), nil)
	default:
		o.waiting[r.RunID] = append(o.waiting[r.RunID], m) // maybe asked again before the first was answered
	}
}

func replyOf(a shard.Asked) bus.TriggerReply {
	return bus.TriggerReply{RunID: a.RunID, Version: a.Version, Status: a.Status, Reason: a.Reason}
}

// answer tells askers what has been committed for them.
func (o *ownership) answer(b *shard.Batch) {
	for _, a := range b.Asked {
		o.waiting[a.RunID].reply(o.s, replyOf(a), nil)
		delete(o.waiting, a.RunID)
	}
	for _, c := range b.Cancelled {
		o.cancelling[c.RunID].reply(o.s, bus.CancelReply{RunID: c.RunID, Found: c.Found}, nil)
		delete(o.cancelling, c.RunID)
	}
	for _, id := range b.Condemned {
		for _, done := range o.condemning[id] {
			close(done)
		}
		delete(o.condemning, id)
	}
	o.answerBackfills(b)
}
