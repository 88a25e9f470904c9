package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
)

const (
	// runWait is how long an instance has to say whether it takes a run, and askWait
	// whether it is alive, or idle.
	runWait = 2 * time.Second
	askWait = time.Second

	// patience is how long a trigger waits here for a slot while others could begin, and lookAgain
	// how long busy instances are not asked. Then it is given back.
	patience  = time.Second
	busyRetry = busyFor
	// holdMin is for how long a trigger is given back that cannot begin now, for a
	// reason that is not known.
	holdMin = time.Second
	// unreadableFor is for how long one is given back that only a newer program can read.
	unreadableFor = 5 * time.Second

	// longest is the time after which no further instance is asked: JetStream delivers
	// the trigger again after bus.AckWait.
	longest = bus.AckWait / 2

	// maxRefusals is how many refusals a reason lists.
	maxRefusals = 5
)

// result is what came of offering a trigger to all instances once.
type result int

const (
	taken   result = iota // an instance has it
	unknown               // one was asked and has not answered: it may have it
	busy                  // all that could have it are busy, or gone
	nobody                // there is none that could have it
	unable                // none of those there are able to do the task
	settled               // it has been answered: its end has been recorded or found, or it was given back
)

// offer is one delivery of a trigger, until an instance has it or it is given back.
type offer struct {
	g      *group
	m      *nats.Msg
	t      *bus.Trigger
	at     bus.Position // of the trigger
	stored time.Time
	deliveries
	consumer string
	came     time.Time
	began    time.Time // to be offered, this time
	refusals refusals  // of the latest round
	tells    int       // how often the history was told why it has not begun
	signed   time.Time // when its acknowledgement was last said to be in progress

	// clear says that nobody has begun the attempt, as far as it can be known. One that is
	// not is judged before it is offered.
	clear  bool
	from   string       // the instance that has handed it over, and has a slot for it
	deaths *deathRecord // nil unless it had to be judged
}

// refusals are why instances do not take a trigger.
type refusals struct {
	first []string // at most maxRefusals
	n     int
}

// try offers the trigger once to each instance that may have it, in the order of its route.
func (o *offer) try(ctx context.Context) result {
	if !o.clear && o.judge(ctx) || o.gone(ctx) || o.tooLate(ctx) {
		return settled
	}
	return o.round(ctx)
}

// newOffer returns the trigger in m as an offer. It returns nil if it has rejected it, or
// given it back as it is of a later version.
func (g *group) newOffer(ctx context.Context, m *nats.Msg) *offer {
	if bus.UnknownTrigger(m.Header) {
		g.d.metrics.outcome(outcomeUnreadable)
		// It comes again until somebody knows it.
		g.d.log.WarnContext(ctx, "trigger of a later version left for newer servers and executors", "executor_group", g.name, "subject", m.Subject, "message", m.Header.Get(bus.HeaderMessage))
		g.answer(m, bus.NakAfter(unreadableFor))
		return nil
	}
	t, err := bus.DecodeTrigger(m.Header, m.Data)
	if err == nil && t.Job.Group() != g.name {
		err = &job.InvalidError{Field: "job", Reason: fmt.Sprintf("%q is not of group %q", t.Job, g.name)}
	}
	meta, metaErr := m.Metadata()
	if err = errors.Join(err, metaErr); err != nil {
		g.d.metrics.outcome(outcomeRejected)
		g.d.log.WarnContext(ctx, "trigger rejected", "executor_group", g.name, "subject", m.Subject, "error", err)
		g.answer(m, "+TERM")
		return nil
	}
	now := time.Now()
	o := &offer{g: g, m: m, t: t, at: bus.Position{Stream: meta.Stream, Seq: meta.Sequence.Stream}, stored: meta.Timestamp, deliveries: deliveries{delivery: int(meta.NumDelivered), pack: packOf(m.Header)}, came: now, began: now, signed: now, consumer: meta.Consumer} //nolint:gosec // a small count
	if o.pack.seq > 0 {
		o.delivery++
	} else {
		o.clear = o.delivery == 1 || g.naks.allGivenBack(o.at, o.delivery)
	}
	return o
}

// compareAge orders offers by when their triggers were stored, the oldest first. Of one stream
// that is the order of sequences, whatever the clocks of NATS' servers say.
func compareAge(a, b *offer) int {
	if a.at.Stream == b.at.Stream {
		return cmp.Compare(a.at.Seq, b.at.Seq)
	}
	return cmp.Or(a.stored.Compare(b.stored), strings.Compare(a.at.Stream, b.at.Stream))
}

// tooLate ends an attempt that may not begin any more.
func (o *offer) tooLate(ctx context.Context) bool {
	switch now := time.Now(); {
	case !o.t.EndBy.IsZero() && now.After(o.t.EndBy):
		o.fail(ctx, job.StatusTimedOut, reason.Join(reason.EndBy.With(o.t.EndBy), o.cause()))
	case !o.t.StartBy.IsZero() && now.After(o.t.StartBy):
		o.fail(ctx, job.StatusMissed, reason.Join(reason.NotBegunBy.With(o.t.StartBy), o.cause()))
	default:
		return false
	}
	return true
}

// cause says why no instance of the group can do the run; "" where one can.
func (o *offer) cause() string {
	switch pool, _ := o.g.rank(o); {
	case pool.matched == 0:
		return o.why(nobody)
	case len(pool.members) == 0:
		return o.why(unable)
	}
	return ""
}

// late reports whether the attempt may not begin any more at an instant.
func late(t *bus.Trigger, now time.Time) bool {
	return !t.StartBy.IsZero() && now.After(t.StartBy) || !t.EndBy.IsZero() && now.After(t.EndBy)
}

// most returns how long the trigger waits for a slot while others could begin.
func (o *offer) most(now time.Time) time.Duration {
	if o.alone(now) {
		return alonePatience // it has to meet the moment at which an instance has nothing
	}
	return patience
}

// gone reports whether the trigger has been taken off the stream while it waited: somebody has
// called the run off. A server that was cut off may say so in error, for as long as it believes that it
// leads the stream. So the trigger is given back, not ended: JetStream forgets one that is gone.
func (o *offer) gone(ctx context.Context) bool {
	if o.began.Sub(o.came) < patience {
		return false // it had hardly come
	}
	if _, err := o.g.d.conn.At(ctx, o.at.Stream, o.at.Seq); errors.Is(err, jet.ErrNoMessage) {
		o.giveBackAfter(holdMin)
		return true
	}
	return false
}

// round offers the trigger to each instance in the order of its route.
func (o *offer) round(ctx context.Context) result {
	pool, order := o.g.rank(o)
	o.refusals = refusals{}
	switch {
	case pool.matched == 0:
		return nobody
	case len(pool.members) == 0:
		return unable
	}
	unfit := 0
	for i := range order {
		m := pool.members[i]
		if time.Since(o.began) > longest {
			break
		}
		if why := o.g.shunned(m, time.Now()); why != "" {
			o.refuse(why)
			if m.name == o.t.Prefer && o.g.busy(m) {
				return busy // the piece is meant for this one, and it will come to it
			}
			continue
		}
		if !o.sound(ctx, m) {
			continue
		}
		header := bus.RunRequest(o.m, o.chosen(m), false)
		alone := o.alone(time.Now())
		if alone {
			if !o.runsNothing(ctx, m) {
				if m.name == o.t.Prefer {
					return busy
				}
				continue
			}
			header.Set(bus.HeaderAlone, strconv.Itoa(int(aloneFor.Seconds())))
		}
		reply, err := o.ask(ctx, m, bus.VerbRun, header, o.m.Data, runWait)
		switch {
		case errors.Is(err, job.ErrUnavailable) && !errors.Is(err, bus.ErrNobodyThere):
			o.recordHolder(ctx, m.name, alone) // it may have it, or have died of it
			return unknown
		case err != nil: // ask has said why
		case reply.Answer == fleet.AnswerAccepted:
			o.remember(m)
			o.recordHolder(ctx, m.name, alone)
			return taken
		default:
			o.refuse(refusal(m.name, reply))
			if m.name == o.t.Prefer && reply.Answer == fleet.AnswerBusy {
				return busy
			}
			if reply.Answer == fleet.AnswerUnknownHandler || reply.Answer == fleet.AnswerUnknownKind {
				unfit++
			}
		}
	}
	if unfit == len(pool.members) {
		return unable
	}
	return busy
}

// probes reports whether the route asks instances how they are before it chooses one.
func (o *offer) probes() bool {
	return o.t.Route == job.RouteFailover || o.t.Route == job.RouteBusyover
}

// sound asks an instance what the route wants to know before it is chosen.
func (o *offer) sound(ctx context.Context, m *member) bool {
	if !o.probes() {
		return true
	}
	verb, body := bus.VerbBeat, []byte(nil)
	if o.t.Route == job.RouteBusyover {
		verb = bus.VerbIdle
		body, _ = json.Marshal(bus.IdleRequest{Job: o.t.Job}) // never fails: it is text
	}
	reply, err := o.ask(ctx, m, verb, nil, body, askWait)
	if err != nil {
		return false
	}
	if reply.Answer != fleet.AnswerAccepted {
		o.refuse(refusal(m.name, reply))
	}
	return reply.Answer == fleet.AnswerAccepted
}

// ask sends a request to an instance, and notes what its answer, or the lack of one, says of it.
func (o *offer) ask(ctx context.Context, m *member, verb string, header nats.Header, body []byte, timeout time.Duration) (*fleet.InstanceReply, error) {
	// A dispatcher that is told to end must still hear who has accepted.
	reply, err := o.g.d.conn.AskInstance(context.WithoutCancel(ctx), o.g.address(m), verb, header, body, timeout)
	o.learn(m, reply, err)
	return reply, err
}

// learn notes an instance's answer, or that there was none.
func (o *offer) learn(m *member, reply *fleet.InstanceReply, err error) {
	switch {
	case errors.Is(err, bus.ErrNobodyThere):
		o.shun(m, reason.InstanceGone.With(m.name))
	case errors.Is(err, job.ErrUnavailable):
		o.shun(m, reason.InstanceSilent.With(m.name))
	case err != nil:
		o.refuse(reason.InstanceRefused.With(m.name, err))
	default:
		o.g.learn(m, reply, time.Now())
	}
}

// shun notes why an instance gets no run for a while.
func (o *offer) shun(m *member, why string) {
	o.g.avoid(m, why)
	o.refuse(why)
}

// refuse notes why an instance does not get the run.
func (o *offer) refuse(why string) {
	o.refusals.n++
	if len(o.refusals.first) < maxRefusals {
		o.refusals.first = append(o.refusals.first, why)
	}
}

// refusal says in words what an answer means.
func refusal(instance string, r *fleet.InstanceReply) string {
	switch r.Answer {
	case fleet.AnswerBusy:
		if r.Detail != "" {
			return reason.InstanceHasJob.With(instance)
		}
		return reason.InstanceBusy.With(instance, r.Running, r.Slots)
	case fleet.AnswerDraining:
		return reason.InstanceDraining.With(instance)
	case fleet.AnswerCordoned:
		return reason.InstanceCordoned.With(instance)
	case fleet.AnswerAccepted, fleet.AnswerUnknownHandler, fleet.AnswerUnknownKind, fleet.AnswerGone:
	}
	return reason.InstanceRefused.With(instance, r.Detail)
}

// chosen says why the run goes to m, when others came first.
func (o *offer) chosen(m *member) string {
	if o.refusals.n == 0 {
		return ""
	}
	by := o.t.Route
	if by == "" {
		by = job.RouteAny
	}
	return reason.Join(reason.ChosenBy.With(m.name, by), o.listed())
}

func (o *offer) listed() string {
	text := reason.Join(o.refusals.first...)
	if more := o.refusals.n - len(o.refusals.first); more > 0 {
		text = reason.Join(text, reason.MoreInstances.With(more))
	}
	return text
}

// why says why the run goes nowhere.
func (o *offer) why(r result) string {
	labels, group, task := o.t.Labels, o.g.name, &o.t.Task
	whoever := len(labels) == 0
	switch {
	case r == nobody && whoever:
		return reason.NobodyTakesWork.With(group)
	case r == nobody:
		return reason.NobodyTakesWorkWith.With(group, labels)
	case r == unable && whoever && task.Handler != "":
		return reason.NobodyHasHandler.With(group, task.Handler)
	case r == unable && whoever:
		return reason.NobodyRunsKind.With(group, task.Kind())
	case r == unable && task.Handler != "":
		return reason.NobodyHasHandlerWith.With(group, labels, task.Handler)
	case r == unable:
		return reason.NobodyRunsKindWith.With(group, labels, task.Kind())
	case o.alone(time.Now()):
		return reason.Join(reason.NobodyFree.String(), reason.WaitsAlone.String(), o.listed())
	case whoever:
		return reason.Join(reason.NobodyFree.String(), o.listed())
	}
	return reason.Join(reason.NobodyFreeWith.With(labels), o.listed())
}

// remember notes who has the trigger, and the choice where routes look back at it.
func (o *offer) remember(m *member) {
	o.g.naks.noteHolder(o.at, o.onStream(o.delivery), m.name)
	if o.remembers() {
		o.g.note(o.t.Work(), m.name)
		o.g.d.publishChoice(o.g.name, o.t.Work(), m.name)
	}
}
