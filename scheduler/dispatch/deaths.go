package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
)

const (
	// aloneFor is how long an instance that gets an attempt whose executor died takes nothing else.
	aloneFor = time.Minute
	// How long such an attempt waits for an instance that runs nothing: after the first death, of
	// which mostly another run is the cause, after further ones, and once an executor died while it
	// ran nothing else.
	firstWait   = 15 * time.Second
	furtherWait = 2 * time.Minute
	provenWait  = 10 * time.Minute
	// aloneAgain is the interval of attempts to find one, and alonePatience how long they last.
	aloneAgain    = time.Second
	alonePatience = 10 * time.Second
	// noteWait bounds how long it takes to store which instance has such an attempt.
	noteWait = 5 * time.Second
	// backWait is how much later than the next delivery NATS may tell that one was given back.
	backWait = 250 * time.Millisecond
)

// deathRecord is which executors have died while they had an attempt, and the revision of that.
type deathRecord struct {
	known    *bus.Deaths
	revision uint64
}

// countDeath notes that the executor died which had the delivery before this one, if one did. The
// attempt is lost once that has happened as often as its job allows. Nobody has the attempt, and no
// end of it is stored. It returns an error if that is not known, or another server is doing the same.
//
// One that must not be done twice nobody has begun: its claim says so. One that was cancelled ends.
func (s *redelivery) countDeath(ctx context.Context) (settled bool, err error) {
	deaths, revision, err := s.g.d.conn.Attempts().Deaths(ctx, s.t)
	switch {
	case err != nil:
		return false, err
	case deaths.Cancelled != "":
		s.fail(ctx, job.StatusCancelled, deaths.Cancelled)
		return true, nil
	case s.t.Delivery == job.AtMostOnce:
		return false, nil
	}
	death, died := s.deathBefore(deaths)
	if died { // unless NATS tells of a give-back only now
		if err := pause.For(ctx, backWait); err != nil {
			return false, err
		}
		death, died = s.deathBefore(deaths)
	}
	if died {
		deaths.Deaths, deaths.Handed = append(deaths.Deaths, death), nil
		if revision, err = s.g.d.conn.Attempts().PutDeaths(ctx, s.t, deaths, revision); err != nil {
			return false, err
		}
		s.reportDeath(ctx, &death)
	}
	s.deaths = &deathRecord{deaths, revision}
	if n := len(deaths.Deaths); n >= s.t.MostDeliveries() {
		s.g.d.log.WarnContext(ctx, "run lost, as its executors died", "executor_group", s.g.name, "job", s.t.Job, "run_id", s.t.RunID, "attempt", s.t.Attempt, "deaths", n)
		s.fail(ctx, job.StatusLost, reason.ExecutorsDied.With(n))
		return true, nil
	}
	return false, nil
}

// deathBefore returns the death of the executor that had the attempt last, if one had it. Who has
// given it back lives. After the first death servers note to whom they hand it. Before that, who
// has pulled it is not known unless it has reported a start.
func (s *redelivery) deathBefore(known *bus.Deaths) (bus.Death, bool) {
	death := bus.Death{Delivery: s.delivery - 1, At: time.Now().UTC().Truncate(time.Millisecond)}
	if h := known.Handed; h != nil && !s.gaveBack(h.Delivery) {
		death.Delivery, death.Instance, death.Alone = h.Delivery, h.Instance, h.Alone
		return death, true
	}
	if s.gaveBack(death.Delivery) {
		// Perhaps by one that had not begun it, after the death of one that had.
		death.Delivery, death.Instance = s.begun.Delivery, s.begun.Instance
		return death, death.Delivery > known.Counted() && !s.gaveBack(death.Delivery)
	}
	if len(known.Deaths) > 0 { // a server died that had it in hand
		return death, false
	}
	if death.Instance = s.g.naks.holder(s.at, s.onStream(death.Delivery)); death.Instance == "" {
		death.Instance = s.begun.Instance
	}
	return death, death.Instance != "" || s.consumer == bus.ConsumerAny(s.g.name)
}

// reportDeath stores in the history which delivery ended with its executor.
func (o *offer) reportDeath(ctx context.Context, d *bus.Death) {
	ev := bus.EventOf(o.t, bus.EventHeld, d.At)
	ev.Instance, ev.Delivery = d.Instance, d.Delivery
	if ev.Text = reason.SomeExecutorDied.With(d.Delivery); d.Instance != "" {
		ev.Text = reason.ExecutorDied.With(d.Instance, d.Delivery)
	}
	o.g.d.metrics.deaths.WithLabelValues(o.g.name).Inc()
	_ = o.publish(ctx, ev) // which has logged it
}

// hasDeaths reports whether an executor died that had the attempt.
func (o *offer) hasDeaths() bool { return o.deaths != nil && len(o.deaths.known.Deaths) > 0 }

// alone reports whether the attempt may only go to an instance that runs nothing else: it may be
// what its executor died of.
func (o *offer) alone(now time.Time) bool {
	if !o.hasDeaths() {
		return false
	}
	all := o.deaths.known.Deaths
	last, wait := all[len(all)-1], firstWait
	switch {
	case last.Alone:
		wait = provenWait
	case len(all) > 1:
		wait = furtherWait
	}
	return now.Sub(last.At) < wait
}

// runsNothing reports whether an instance runs nothing now.
func (o *offer) runsNothing(ctx context.Context, m *member) bool {
	reply, err := o.ask(ctx, m, bus.VerbBeat, nil, nil, askWait)
	if err != nil {
		return false // ask has noted why
	}
	switch {
	case reply.Answer != fleet.AnswerAccepted:
		o.refuse(refusal(m.name, reply))
	case reply.Running > 0:
		o.refuse(reason.InstanceBusy.With(m.name, reply.Running, reply.Slots))
	default:
		return true
	}
	return false
}

// recordHolder stores that an instance has accepted an attempt that had to be judged. If a server dies
// before that, one death is not counted.
func (o *offer) recordHolder(ctx context.Context, instance string, alone bool) {
	if o.deaths == nil {
		return
	}
	o.deaths.known.Handed = &bus.Handed{Delivery: o.delivery, Instance: instance, Alone: alone}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteWait)
	defer cancel()
	revision, err := o.g.d.conn.Attempts().PutDeaths(ctx, o.t, o.deaths.known, o.deaths.revision)
	if err != nil && !errors.Is(err, job.ErrConflict) {
		o.g.d.log.WarnContext(ctx, "not noted who has an attempt whose executor died", "executor_group", o.g.name, "run_id", o.t.RunID, "instance", instance, "error", err)
	}
	o.deaths.revision = max(o.deaths.revision, revision)
}
