package dispatch

import (
	"context"
	"math/bits"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/scheduler/route"
)

func (o *offer) remembers() bool { return route.Remembers(o.t.Route) }

// fail ends the run without an instance: it is reported, and its trigger removed.
func (o *offer) fail(ctx context.Context, status job.Status, message string) {
	ev := bus.EventOf(o.t, bus.EventFinished, time.Now())
	ev.Delivery, ev.Status, ev.Message = o.delivery, status, message
	ev.Retry = status == job.StatusLost && o.t.Retry.Again(o.t.Attempt, status, nil)
	if o.hasDeaths() { // the last that had it
		last := o.deaths.known.Deaths[len(o.deaths.known.Deaths)-1]
		ev.Instance, ev.Delivery = last.Instance, last.Delivery
		if last.At.After(ev.At) { // by the clock of another server, which has found it
			ev.At = last.At
		}
	}
	ev.FinishedAt = ev.At
	if err := o.publish(ctx, ev); err != nil {
		o.giveBack()
		return
	}
	o.g.d.metrics.outcome(string(status))
	o.g.answer(o.m, "+ACK")
}

// postpone gives the trigger back for a while, and stores in the history why.
func (o *offer) postpone(ctx context.Context, why string) {
	o.tellOnce(ctx, why)
	o.g.d.metrics.outcome(outcomeHeld)
	if o.alone(time.Now()) {
		o.giveBackAfter(holdMin)
		return
	}
	o.giveBack()
}

// tellOnce is [offer.tell] if this delivery has not been told of: the first time, and each time that
// the number of deliveries has doubled.
func (o *offer) tellOnce(ctx context.Context, why string) {
	if o.tells == 0 && bits.OnesCount(uint(o.delivery)) == 1 {
		o.tell(ctx, why)
	}
}

// tell stores in the history why the run has not begun. Nobody waits for it: the next one makes up for
// one that is lost.
func (o *offer) tell(ctx context.Context, why string) {
	ev := bus.EventOf(o.t, bus.EventHeld, time.Now())
	ev.Delivery, ev.Text = o.delivery+o.tells, why // which makes the event another one
	o.tells++
	m, err := o.g.d.conn.Events().Message(ev)
	if err == nil {
		err = o.g.d.conn.NC.PublishMsg(m)
	}
	if err != nil {
		o.g.d.log.DebugContext(ctx, "event not sent", "run_id", ev.RunID, "kind", ev.Kind, "error", err)
	}
}

// giveBack makes JetStream deliver the trigger again, later each time.
func (o *offer) giveBack() { o.giveBackAfter(bus.GiveBackAfter(o.delivery)) }

func (o *offer) giveBackAfter(delay time.Duration) {
	o.g.answer(o.m, bus.NakAfter(delay))
}

// publish stores an event about the run.
func (o *offer) publish(ctx context.Context, ev *bus.Event) error {
	m, err := o.g.d.conn.Events().Message(ev)
	if err == nil {
		_, err = o.g.d.conn.JS.PublishMsg(ctx, m)
	}
	if err != nil {
		o.g.d.log.DebugContext(ctx, "event not stored", "run_id", ev.RunID, "kind", ev.Kind, "error", err)
	}
	return err
}
