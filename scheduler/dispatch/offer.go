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
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
)

const (
	// runWait is how long an instance has to say whether it takes a run, and askWait
	// whether it is alive, or idle.
	runWait = 2 * time.Second
	askWait = time.Second

	// patience is how long a trigger stays in hand while all instances are busy, and
	// lookAgain how long they are left alone in between. Then it is handed back.
	patience  = time.Second
	lookAgain = busyFor
	// holdMin is for how long a trigger is handed back that cannot begin now, for a
	// reason that is not known.
	holdMin = time.Second
	// unreadFor is for how long one is handed back that a newer program has to read.
	unreadFor = 5 * time.Second

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
	settled               // its end has been recorded, or found
	parked                // all instances of the group are busy: it waits here
)

// offer is one delivery of a trigger, until an instance has it or it is handed back.
type offer struct {
	g        *group
	m        *nats.Msg
	t        *bus.Trigger
	at       bus.Position // of the trigger
	stored   time.Time
	delivery int
	came     time.Time
	began    time.Time // to be offered, this time
	refusals []string  // of the latest round, at most maxRefusals
	refused  int
	told     bool // the history knows why it has not begun
	result   result

	// clear says that nobody has begun the attempt, as far as it can be known. One that is
	// not is judged before it is offered.
	clear    bool
	looked   bool   // its end has been looked for
	lostWith string // the instance that had begun one that is lost
	from     string // the instance that has handed it over, and has a slot for it

	// Of one that had to be judged: which executors have died while they had it, and the revision
	// of that; nil before.
	deaths   *bus.Deaths
	deathsAt uint64
	begun    begin // the last that was reported
	pulled   bool  // by an executor, not by a server

	// Of a trigger that waits: when JetStream was last told that it is in good hands, and
	// whether it had been parked and is offered again.
	signed  time.Time
	resumed bool
}

// offer finds an instance for a trigger, and leaves in it what came of that.
func (g *group) offer(ctx context.Context, o *offer) {
	o.began, o.result = time.Now(), settled
	switch {
	case o.resumed && o.gone(ctx):
	case !o.clear && o.judge(ctx):
	case o.tooLate(ctx):
	default:
		o.result = o.place(ctx)
	}
}

// newOffer returns the trigger in m as an offer. It returns nil if it has rejected it, or
// handed it back as it is of a later version.
func (g *group) newOffer(ctx context.Context, m *nats.Msg) *offer {
	if bus.UnknownTrigger(m.Header) {
		g.d.metrics.outcome(outcomeUnread)
		// It comes again until somebody knows it.
		g.d.log.WarnContext(ctx, "trigger of a later version left for newer servers and executors", "executor_group", g.name, "subject", m.Subject, "message", m.Header.Get(bus.HeaderMessage))
		g.answer(m, bus.NakAfter(unreadFor))
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
	o := &offer{g: g, m: m, t: t, at: bus.Position{Stream: meta.Stream, Seq: meta.Sequence.Stream}, stored: meta.Timestamp, delivery: int(meta.NumDelivered), came: now, began: now, signed: now} //nolint:gosec // a small count
	o.pulled = meta.Consumer == bus.ConsumerAny(g.name)
	o.clear = o.delivery == 1 || g.backs.gaveBack(o) || g.naks.allGivenBack(o.at, o.delivery)
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

// place offers the trigger round after round. It returns what came of the last one.
func (o *offer) place(ctx context.Context) result {
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		res := o.round(ctx)
		switch {
		case res == taken:
			o.g.d.metrics.outcome(outcomeTaken)
			return res
		case res == unknown:
			o.g.d.metrics.outcome(outcomeUnknown)
			return res // it comes again, unless who has it says that it lives
		case ctx.Err() != nil:
			o.handBackFor(holdMin)
			return res
		case res == busy && time.Now().Before(o.g.closedUntil()):
			return parked
		}
		alone, most := o.alone(time.Now()), patience
		if alone { // which has to meet the moment at which an instance has nothing
			most = alonePatience
		}
		if res == nobody || res == unable || o.resumed || time.Since(o.came) >= most {
			o.postpone(ctx, o.why(res))
			return res
		}
		if rest.Reset(lookAgain); alone {
			if time.Since(o.came) >= patience {
				o.tell(ctx, o.why(res))
			}
			o.sign()
			rest.Reset(aloneAgain)
		}
		select {
		case <-rest.C:
		case <-ctx.Done():
		}
	}
}

// round offers the trigger to each instance in the order of its route.
func (o *offer) round(ctx context.Context) result {
	pool, order := o.g.rank(o)
	o.refusals, o.refused = o.refusals[:0], 0
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
			o.noteHanded(ctx, m.name, alone) // it may have it, or have died of it
			return unknown
		case err != nil: // ask has said why
		case reply.Answer == fleet.AnswerAccepted:
			o.remember(m)
			o.noteHanded(ctx, m.name, alone)
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

// ask sends a request and takes in what its answer, or the lack of one, tells of the
// instance.
func (o *offer) ask(ctx context.Context, m *member, verb string, header nats.Header, body []byte, timeout time.Duration) (*fleet.InstanceReply, error) {
	// A dispatcher that is told to end must still hear who has accepted.
	reply, err := o.g.d.conn.AskInstance(context.WithoutCancel(ctx), o.g.address(m), verb, header, body, timeout)
	o.learn(m, reply, err)
	return reply, err
}

// learn takes in an instance's answer, or that there was none.
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
	o.refused++
	if len(o.refusals) < maxRefusals {
		o.refusals = append(o.refusals, why)
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
	if o.refused == 0 {
		return ""
	}
	by := o.t.Route
	if by == "" {
		by = job.RouteAny
	}
	return reason.Join(reason.ChosenBy.With(m.name, by), o.listed())
}

func (o *offer) listed() string {
	text := reason.Join(o.refusals...)
	if more := o.refused - len(o.refusals); more > 0 {
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
	o.g.naks.handed(o.at, o.delivery, m.name)
	if o.remembers() {
		o.g.note(o.t.Job, m.name)
		o.g.d.tell(o.g.name, o.t.Job, m.name)
	}
}
