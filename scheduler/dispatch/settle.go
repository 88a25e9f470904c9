package dispatch

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"carillon/bus"
	"carillon/job"
	"carillon/scheduler/route"
)

func (o *offer) remembers() bool { return route.Remembers(o.t.Route) }

// resume finds out what became of an attempt that must not be done twice and whose
// trigger has come again. If nobody has begun it, it may be offered: done is false.
func (o *offer) resume(ctx context.Context) (done bool) {
	claim, err := o.g.d.conn.ClaimOf(ctx, o.t)
	switch {
	case err != nil:
		o.g.d.log.DebugContext(ctx, "claim not read", "run_id", o.t.RunID, "error", err)
		o.handBack()
		return true
	case claim == nil:
		return false
	}
	if m := o.g.find(claim.Instance); m != nil { // it may only have been cut off
		reply, err := o.ask(ctx, m, bus.VerbRun, bus.RunRequest(o.m, "", true), o.m.Data, runWait)
		switch {
		case err == nil && reply.Answer == bus.AnswerAccepted:
			o.g.d.metrics.outcome("taken")
			return true
		case err != nil && !errors.Is(err, bus.ErrNobodyThere):
			o.g.d.metrics.outcome("unknown")
			return true // it comes again
		}
	}
	switch {
	case o.delivery <= claim.Delivery:
		// Another dispatcher has offered the same delivery: its instance is about to begin.
		return true
	case o.delivery == claim.Delivery+1:
		// It may be on its way back, with the run still in its hands.
		o.handBackFor(returning)
		return true
	}
	o.fail(ctx, job.StatusLost, fmt.Sprintf("instance %s began this attempt and went silent, and delivery at_most_once forbids to run it again", claim.Instance))
	return true
}

// fail ends the run without an instance: it is reported, and its trigger removed.
func (o *offer) fail(ctx context.Context, status job.Status, message string) {
	ev := bus.EventOf(o.t, bus.EventFinished, time.Now())
	ev.Delivery, ev.FinishedAt, ev.Status, ev.Message = o.delivery, ev.At, status, message
	if err := o.publish(ctx, ev); err != nil {
		o.handBack()
		return
	}
	o.g.d.metrics.outcome(string(status))
	o.g.answer(o.m, "+ACK")
}

// hold hands the trigger back for a while, and tells the history why.
func (o *offer) hold(ctx context.Context, why string) {
	o.tell(ctx, why)
	o.g.d.metrics.outcome("held")
	o.handBack()
}

// tell has the history know why the run has not begun: the first time, and each time that
// the number of deliveries has doubled. Nobody waits for it: the next one makes up for one
// that is lost.
func (o *offer) tell(ctx context.Context, why string) {
	if o.told || bits.OnesCount(uint(o.delivery)) != 1 {
		return
	}
	o.told = true
	ev := bus.EventOf(o.t, bus.EventHeld, time.Now())
	ev.Delivery, ev.Text = o.delivery, why
	m, err := ev.Msg()
	if err == nil {
		err = o.g.d.conn.NC.PublishMsg(m)
	}
	if err != nil {
		o.g.d.log.DebugContext(ctx, "event not sent", "run_id", ev.RunID, "kind", ev.Kind, "error", err)
	}
}

// returning is how long an instance that has begun what must not be done twice, and is
// not there, has to come back before the attempt is lost.
const returning = 5 * time.Second

// handBack has JetStream deliver the trigger again, later each time.
func (o *offer) handBack() { o.handBackFor(min(holdMin<<min(o.delivery-1, 8), holdMax)) }

func (o *offer) handBackFor(delay time.Duration) {
	o.g.answer(o.m, fmt.Sprintf(`-NAK {"delay": %d}`, delay.Nanoseconds()))
}

// publish stores an event about the run.
func (o *offer) publish(ctx context.Context, ev *bus.Event) error {
	m, err := ev.Msg()
	if err == nil {
		_, err = o.g.d.conn.JS.PublishMsg(ctx, m)
	}
	if err != nil {
		o.g.d.log.DebugContext(ctx, "event not stored", "run_id", ev.RunID, "kind", ev.Kind, "error", err)
	}
	return err
}
