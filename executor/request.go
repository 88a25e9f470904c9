package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// request answers a request to this instance. What only looks like one has no answer.
func (l *loop) request(life context.Context, m *nats.Msg) {
	verb := l.address.Verb(m.Subject)
	if err := bus.CheckRequest(m); err != nil {
		l.e.observers.count(CountRejected, 1)
		l.e.log.WarnContext(life, "message refused that is no request", "verb", verb, "error", err)
		return
	}
	reply := fleet.InstanceReply{Instance: l.e.cfg.Instance}
	var err error
	switch verb {
	case bus.VerbKill:
		reply.Answer, reply.Pieces, err = l.kill(life, m)
	case bus.VerbAttempts:
		reply.Answer = fleet.AnswerAccepted
		reply.Attempts, err = l.custody(m)
	default:
		reply.Answer, reply.Detail, err = l.obey(life, verb, m)
	}
	reply.State, reply.Running, reply.Slots, reply.DrainBy = l.intake.state(), len(l.attempts.live), l.attempts.slots, instant(l.e.clock.at(l.intake.drainBy))
	if err == nil {
		err = bus.RespondInstance(m, &reply)
	} else {
		l.e.observers.count(CountRejected, 1)
		l.e.log.WarnContext(life, "request refused", "verb", verb, "error", err)
		err = bus.Respond(m, nil, err)
	}
	if err != nil {
		l.e.log.DebugContext(life, "request not answered", "verb", verb, "error", err)
	}
}

// obey does what a request asks for. The detail is for people.
func (l *loop) obey(life context.Context, verb string, m *nats.Msg) (answer fleet.Answer, detail string, err error) {
	switch verb {
	case bus.VerbRun:
		return l.offer(life, m)
	case bus.VerbBeat:
		return l.intake.answer(), "", nil
	case bus.VerbIdle:
		return l.idle(m)
	case bus.VerbDrain:
		return fleet.AnswerAccepted, "", l.depart(life, m)
	case bus.VerbCordon:
		if !l.intake.cordoned {
			l.intake.cordoned = true
			l.e.log.InfoContext(life, "executor cordoned", "running", len(l.attempts.live))
			l.quiet(life)
		}
	case bus.VerbUncordon:
		if l.intake.draining {
			return fleet.AnswerDraining, "it is stopping", nil
		}
		l.intake.reopen()
		l.e.log.InfoContext(life, "executor takes work again")
		l.beat(time.Now())
	case bus.VerbSet:
		var r fleet.SetRequest
		if err := json.Unmarshal(m.Data, &r); err != nil {
			return "", "", &job.InvalidError{Reason: fmt.Sprintf("the request has no settings: %v", err)}
		}
		if err := l.e.setAsked(r); err != nil {
			return "", "", err
		}
		l.adjust(life)
	case bus.VerbConsumers:
		return fleet.AnswerAccepted, "", l.pullFrom(life, m)
	case bus.VerbRefused:
		return fleet.AnswerAccepted, "", l.refusedBy(life, m)
	default:
		return "", "", &job.InvalidError{Field: "verb", Reason: fmt.Sprintf("%q must be one of %s", verb, strings.Join(bus.InstanceVerbs, ", "))}
	}
	return fleet.AnswerAccepted, "", nil
}

// depart ends the instance when it has no runs, or when the time is over that the request
// gives them. Each request sets that time again.
func (l *loop) depart(life context.Context, m *nats.Msg) error {
	var r fleet.DrainRequest
	if len(m.Data) > 0 {
		if err := json.Unmarshal(m.Data, &r); err != nil {
			return &job.InvalidError{Reason: fmt.Sprintf("the request is no JSON: %v", err)}
		}
	}
	if err := r.Validate(); err != nil {
		return err
	}
	if l.intake.draining { // it is stopping already, by a limit of its own
		return nil
	}
	now := time.Now()
	l.intake.drainBy = time.Time{}
	if r.Within > 0 {
		l.intake.drainBy = now.Add(r.Within.Std())
	}
	if l.intake.leaving {
		l.beat(now)
		return nil
	}
	l.intake.leaving = true
	l.e.log.InfoContext(life, "executor draining", "running", len(l.attempts.live), "within", r.Within.Std())
	l.quiet(life)
	return nil
}

// adjust applies settings that have changed.
func (l *loop) adjust(life context.Context) {
	slots, labels := l.e.settings.current()
	l.presence.labels = labels
	l.attempts.resize(slots)
	for range len(l.attempts.waiting) {
		l.admitNext(life)
	}
	l.beat(time.Now())
}

// idle says whether a slot is free and none has a run of the job in question.
func (l *loop) idle(m *nats.Msg) (fleet.Answer, string, error) {
	var r bus.IdleRequest
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return "", "", &job.InvalidError{Reason: fmt.Sprintf("the request names no job: %v", err)}
	}
	if answer := l.intake.answer(); answer != fleet.AnswerAccepted {
		return answer, "", nil
	}
	if l.attempts.runs(r.Job) {
		return fleet.AnswerBusy, "it runs the job already", nil
	}
	if len(l.attempts.live) >= l.attempts.slots || l.attempts.alone(time.Now()) {
		return fleet.AnswerBusy, "", nil
	}
	return fleet.AnswerAccepted, "", nil
}

// custody says what this instance knows of attempts: while it says so of one, nobody else
// begins it.
func (l *loop) custody(m *nats.Msg) ([]fleet.Custody, error) {
	var r bus.AttemptsRequest
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return nil, &job.InvalidError{Reason: fmt.Sprintf("the request names no attempts: %v", err)}
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	all := make([]fleet.Custody, len(r.Attempts))
	for i, a := range r.Attempts {
		all[i] = l.attempts.custody(attemptKey{a.RunID, a.Attempt, a.Index})
	}
	return all, nil
}

// offer takes the attempt whose trigger the request is, if it can. Once it has said
// so, the trigger is its own to answer.
func (l *loop) offer(life context.Context, m *nats.Msg) (fleet.Answer, string, error) {
	// As if it had been pulled, by the reply subject of whoever did.
	header := maps.Clone(m.Header)
	header.Set(bus.HeaderMessage, bus.MessageTrigger)
	pulled := &nats.Msg{Subject: m.Subject, Reply: m.Header.Get(bus.HeaderAck), Header: header, Data: m.Data, Sub: m.Sub}
	t, err := bus.DecodeTriggerFor(l.e.cfg.Group, pulled.Header, pulled.Data)
	if err != nil {
		return "", "", err
	}
	meta, err := pulled.Metadata()
	if err != nil {
		return "", "", &job.InvalidError{Field: bus.HeaderAck, Reason: fmt.Sprintf("%q is no subject of an acknowledgement", pulled.Reply)}
	}
	key := keyOf(t)
	if a := l.attempts.live[key]; a != nil { // the dispatcher has not heard that, or the bus has not heard of us
		a.redeliver(pulled.Reply)
		l.sign(a, time.Now())
		return fleet.AnswerAccepted, "", nil
	}
	if l.attempts.reported.Has(key) {
		l.e.out.answer(pulled.Reply, "+ACK")
		return fleet.AnswerAccepted, "", nil
	}
	if m.Header.Get(bus.HeaderResume) != "" {
		return fleet.AnswerGone, "", nil
	}
	if answer := l.intake.answer(); answer != fleet.AnswerAccepted {
		return answer, "", nil
	}
	if _, err := l.e.registry.handlerFor(&t.Task); err != nil {
		if t.Task.Handler != "" {
			return fleet.AnswerUnknownHandler, err.Error(), nil
		}
		return fleet.AnswerUnknownKind, err.Error(), nil
	}
	l.handOvers.release(pulled.Reply)
	alone, err := bus.AloneFor(m.Header)
	switch {
	case err != nil:
		return "", "", err
	case l.attempts.alone(time.Now()), alone > 0 && len(l.attempts.live) > 0, len(l.attempts.live) >= l.attempts.slots, l.attempts.isFull(t.Task.Handler):
		return fleet.AnswerBusy, "", nil
	}
	d := delivery{
		trigger: t, token: m.Header.Get(bus.HeaderToken), delivered: int(meta.NumDelivered), fence: fenceOf(meta), //nolint:gosec // a small count
		routeReason: cut(m.Header.Get(bus.HeaderRouteReason)), aloneFor: alone,
	}
	if bus.PackOf(m.Header) > 0 {
		d.delivered++ // it came in the pack before
	}
	l.add(life, d, &receipt{reply: pulled.Reply, left: 1, signed: time.Now()})
	return fleet.AnswerAccepted, "", nil
}

// pullFrom changes the consumers that the instance pulls from.
func (l *loop) pullFrom(life context.Context, m *nats.Msg) error {
	var r bus.ConsumersRequest
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return &job.InvalidError{Reason: fmt.Sprintf("the request names no consumers: %v", err)}
	}
	if err := r.Validate(); err != nil {
		return err
	}
	l.e.log.InfoContext(life, "pulling from other consumers", "consumers", r.Consumers)
	l.puller.From(r.Consumers)
	return nil
}

// refusedBy records that servers have refused a message of this instance.
func (l *loop) refusedBy(life context.Context, m *nats.Msg) error {
	var r fleet.Refusal
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return &job.InvalidError{Reason: fmt.Sprintf("the request says of no message why it was refused: %v", err)}
	}
	if err := r.Validate(); err != nil {
		return err
	}
	l.presence.addRefusal(r.Clipped())
	l.e.observers.count(CountRefused, 1)
	l.e.log.ErrorContext(life, "servers have refused a message of this executor",
		"reason", r.Reason, "stream", r.Stream, "sequence", r.Sequence, "subject", r.Subject)
	l.beat(time.Now())
	return nil
}
