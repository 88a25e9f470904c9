package xxljob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/peer"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

const (
	// verbCallback is a request by another bridge: an executor told it how a run of ours ended. Its
	// body is a [wire.Callback].
	verbCallback = "callback"
	// probeWait is how long an executor has to answer when a server waits for it.
	probeWait = 800 * time.Millisecond
	// callbackWait is how long an executor that reports a run is kept waiting. It gives up after 3 s,
	// and says it again later.
	callbackWait = 2500 * time.Millisecond
)

// request answers a request to the instance. What only looks like one has no answer.
func (i *instance) request(ctx context.Context, control bus.Address, m *nats.Msg) {
	verb := control.Verb(m.Subject)
	if err := bus.CheckRequest(m); err != nil {
		i.b.metrics.refused.Inc()
		i.log.WarnContext(ctx, "message refused that is no request", "verb", verb, "error", err)
		return
	}
	switch verb {
	case bus.VerbBeat, bus.VerbIdle, verbCallback, bus.VerbCordon, bus.VerbUncordon, bus.VerbSet, bus.VerbConsumers: // wait for somebody
		i.b.work.Go(func() error { i.reply(ctx, verb, m); return nil })
	default:
		i.reply(ctx, verb, m)
	}
}

func (i *instance) reply(ctx context.Context, verb string, m *nats.Msg) {
	r := fleet.InstanceReply{Instance: i.name, Answer: fleet.AnswerAccepted}
	err := i.obey(ctx, verb, m, &r)
	i.mu.Lock()
	is := i.held.current()
	r.State, r.Running, r.Slots, r.DrainBy = i.state(is.Cordoned), len(i.live), i.slots(&is), i.drainBy
	i.mu.Unlock()
	if err == nil {
		err = bus.RespondInstance(m, &r)
	} else {
		err = bus.Respond(m, nil, err)
	}
	if err != nil {
		i.log.DebugContext(ctx, "request not answered", "verb", verb, "error", err)
	}
}

// obey does what a request asks for, and puts what comes of it into r.
func (i *instance) obey(ctx context.Context, verb string, m *nats.Msg, r *fleet.InstanceReply) error {
	switch verb {
	case bus.VerbRun:
		header := maps.Clone(m.Header)
		header.Set(bus.HeaderMessage, bus.MessageTrigger)
		o, err := readOffer(i.group.name, m.Header.Get(bus.HeaderAck), &nats.Msg{Header: header, Data: m.Data, Sub: m.Sub})
		if err != nil {
			return err
		}
		o.routed, o.reason, o.resume = true, m.Header.Get(bus.HeaderRouteReason), m.Header.Get(bus.HeaderResume) != ""
		r.Answer, r.Detail = i.accept(o)
		return nil
	case bus.VerbBeat:
		r.Answer, r.Detail = i.probe(ctx, "")
		return nil
	case bus.VerbIdle:
		var q bus.IdleRequest
		if err := json.Unmarshal(m.Data, &q); err != nil {
			return &job.InvalidError{Reason: fmt.Sprintf("the request names no job: %v", err)}
		}
		r.Answer, r.Detail = i.probe(ctx, q.Job)
		return nil
	case bus.VerbAttempts:
		return i.custody(m, r)
	case bus.VerbKill:
		return i.kill(m, r)
	case bus.VerbDrain:
		return i.drain(ctx, m)
	case bus.VerbCordon:
		return i.set(ctx, func(is *state.Instance) { is.Cordoned = true })
	case bus.VerbUncordon:
		i.mu.Lock()
		i.leaving, i.drainBy = false, time.Time{}
		i.mu.Unlock()
		return i.set(ctx, func(is *state.Instance) { is.Cordoned = false })
	case bus.VerbSet:
		var q fleet.SetRequest
		if err := json.Unmarshal(m.Data, &q); err != nil {
			return &job.InvalidError{Reason: fmt.Sprintf("the request has no settings: %v", err)}
		}
		return i.settle(ctx, q)
	case bus.VerbConsumers:
		return i.pullFrom(ctx, m)
	case bus.VerbRefused:
		return i.refusedBy(ctx, m)
	case verbCallback:
		var c wire.Callback
		if err := json.Unmarshal(m.Data, &c); err != nil {
			return &job.InvalidError{Reason: fmt.Sprintf("the request is no callback: %v", err)}
		}
		limited, cancel := context.WithTimeout(ctx, callbackWait)
		defer cancel()
		known, err := i.called(limited, c)
		if err == nil && !known {
			r.Answer = fleet.AnswerGone
		}
		return err
	}
	return &job.InvalidError{Field: "verb", Reason: fmt.Sprintf("%q is not one that executors know", verb)}
}

// probe asks the executor whether it lives, or, of a job, whether it is idle.
func (i *instance) probe(ctx context.Context, name job.Name) (fleet.Answer, string) {
	i.mu.Lock()
	is := i.held.current()
	answer, busy := i.answer(is.Cordoned), i.busy[name] || len(i.live) >= i.slots(&is)
	i.mu.Unlock()
	if answer != fleet.AnswerAccepted {
		return answer, ""
	}
	ctx, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	if name == "" {
		if err := i.b.peers.Beat(ctx, i.target()); err != nil {
			return fleet.AnswerBusy, unreachable(err)
		}
		return fleet.AnswerAccepted, ""
	}
	if busy {
		return fleet.AnswerBusy, "it runs the job already"
	}
	id, err := i.b.jobs.find(ctx, name)
	if errors.Is(err, job.ErrNotFound) { // it has never run here
		return fleet.AnswerAccepted, ""
	}
	if err == nil {
		var idle, sure bool
		if idle, sure, err = i.idleAt(ctx, id); err == nil && !idle && sure {
			return fleet.AnswerBusy, "it runs the job already"
		}
		if _, refused := errors.AsType[*peer.Refusal](err); refused { // it does not know such questions
			err = nil
		}
	}
	if err != nil {
		return fleet.AnswerBusy, unreachable(err)
	}
	return fleet.AnswerAccepted, ""
}

// custody says what the instance knows of attempts: while it says so of one, nobody else begins it.
func (i *instance) custody(m *nats.Msg, r *fleet.InstanceReply) error {
	var q bus.AttemptsRequest
	if err := json.Unmarshal(m.Data, &q); err != nil {
		return &job.InvalidError{Reason: fmt.Sprintf("the request names no attempts: %v", err)}
	}
	if err := q.Validate(); err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	r.Attempts = make([]fleet.Custody, len(q.Attempts))
	for k, ref := range q.Attempts {
		switch {
		case i.live[ref] != nil:
			r.Attempts[k] = fleet.CustodyHeld
		case i.group.done.Has(ref):
			r.Attempts[k] = fleet.CustodyReported
		default:
			r.Attempts[k] = fleet.CustodyNone
		}
	}
	return nil
}

// kill ends a run, if it is here, and says which of its pieces are.
func (i *instance) kill(m *nats.Msg, r *fleet.InstanceReply) error {
	q, err := bus.DecodeKill(m.Data)
	if err != nil {
		return err
	}
	r.Answer = fleet.AnswerGone
	i.mu.Lock()
	defer i.mu.Unlock()
	for ref, live := range i.live {
		if ref.RunID != q.RunID {
			continue
		}
		r.Answer = fleet.AnswerAccepted
		if live.kept.Trigger.Total > 0 {
			r.Pieces = append(r.Pieces, ref.Index)
		}
		select {
		case live.kills <- state.Ending{Status: job.StatusCancelled, Message: q.Text()}:
		default: // it is being ended already
		}
	}
	i.group.killed.Add(bus.AttemptRef{RunID: q.RunID}) // others of its pieces may yet come
	slices.Sort(r.Pieces)
	return nil
}

// drain removes the instance once it has no runs, or once their time is over.
func (i *instance) drain(ctx context.Context, m *nats.Msg) error {
	var q fleet.DrainRequest
	if len(m.Data) > 0 {
		if err := json.Unmarshal(m.Data, &q); err != nil {
			return &job.InvalidError{Reason: fmt.Sprintf("the request is no JSON: %v", err)}
		}
	}
	if err := q.Validate(); err != nil {
		return err
	}
	i.mu.Lock()
	i.leaving, i.drainBy = true, time.Time{}
	if q.Within > 0 {
		i.drainBy = time.Now().Add(q.Within.Std()).UTC().Truncate(time.Millisecond)
	}
	running := len(i.live)
	i.mu.Unlock()
	i.log.InfoContext(ctx, "executor draining", "running", running, "within", q.Within.Std())
	i.beat(time.Now())
	return nil
}

// settle changes slots and labels. They stay for as long as the instance is known.
func (i *instance) settle(ctx context.Context, q fleet.SetRequest) error {
	if q.Slots < 0 || q.Slots > maxSlots {
		return &job.InvalidError{Field: "slots", Reason: fmt.Sprintf("%d must be between 1 and %d", q.Slots, maxSlots)}
	}
	if q.Labels != nil {
		if err := q.Labels.Validate(); err != nil {
			return err
		}
	}
	return i.set(ctx, func(is *state.Instance) {
		if q.Slots > 0 {
			is.Slots = q.Slots
		}
		if q.Labels != nil {
			is.Labels = *q.Labels
		}
	})
}

// set changes what people have asked for, and says so.
func (i *instance) set(ctx context.Context, to func(*state.Instance)) error {
	if err := i.held.change(ctx, to); err != nil {
		return err
	}
	i.beat(time.Now())
	i.group.poke()
	return nil
}

// pullFrom tells the group to pull from other consumers. Its instances share the pull: the one that is told tells
// all.
func (i *instance) pullFrom(ctx context.Context, m *nats.Msg) error {
	var q bus.ConsumersRequest
	if err := json.Unmarshal(m.Data, &q); err != nil {
		return &job.InvalidError{Reason: fmt.Sprintf("the request names no consumers: %v", err)}
	}
	if err := q.Validate(); err != nil {
		return err
	}
	select {
	case i.group.from <- q.Consumers:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: the instance is not served any more", job.ErrUnavailable)
	}
}

// refusedBy records that servers have refused a message of the instance.
func (i *instance) refusedBy(ctx context.Context, m *nats.Msg) error {
	var r fleet.Refusal
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return &job.InvalidError{Reason: fmt.Sprintf("the request says of no message why it was refused: %v", err)}
	}
	r = r.Clipped()
	i.mu.Lock()
	i.refused++
	i.refusal = &r
	i.mu.Unlock()
	i.b.metrics.refused.Inc()
	i.log.ErrorContext(ctx, "servers have refused a message of this instance", "reason", r.Reason, "stream", r.Stream, "sequence", r.Sequence, "subject", r.Subject)
	i.beat(time.Now())
	return nil
}
