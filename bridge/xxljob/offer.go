package xxljob

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// offer is a trigger that has come, by a pull or by a request.
type offer struct {
	trigger  *bus.Trigger
	token    string
	ack      string // where it is answered
	delivery int
	routed   bool
	reason   string // why it is routed here
	resume   bool   // only if the attempt is here already
}

// readOffer reads a trigger that is answered on ack.
func readOffer(group, ack string, m *nats.Msg) (*offer, error) {
	t, err := bus.DecodeTriggerFor(group, m.Header, m.Data)
	if err != nil {
		return nil, err
	}
	meta, err := (&nats.Msg{Reply: ack, Sub: m.Sub}).Metadata()
	if err != nil {
		return nil, &job.InvalidError{Field: bus.HeaderAck, Reason: fmt.Sprintf("%q is no subject of an acknowledgement", ack)}
	}
	o := &offer{trigger: t, token: m.Header.Get(bus.HeaderToken), ack: ack, delivery: int(meta.NumDelivered)} //nolint:gosec // a small count
	if bus.PackOf(m.Header) > 0 {
		o.delivery++ // it came in the pack before
	}
	return o, nil
}

// can reports whether executors of XXL-JOB do a task.
func can(t *job.Task) bool {
	for _, k := range kinds {
		if t.Kind() == k {
			return true
		}
	}
	return false
}

// has answers a trigger whose attempt is here, or has ended here.
func (i *instance) has(o *offer) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	ref := o.trigger.Ref()
	if r := i.live[ref]; r != nil {
		r.kept.Ack, r.signed = o.ack, time.Now()
		i.b.answer(o.ack, "+WPI")
		return true
	}
	if i.group.done.Has(ref) {
		i.b.answer(o.ack, "+ACK")
		return true
	}
	return false
}

// accept takes an attempt, if it can. Once it has said so, the trigger is its own to answer. The detail
// is for people.
func (i *instance) accept(o *offer) (answer fleet.Answer, detail string) {
	if i.has(o) {
		return fleet.AnswerAccepted, ""
	}
	t := o.trigger
	i.mu.Lock()
	is := i.held.current()
	switch {
	case o.resume:
		answer = fleet.AnswerGone
	case i.answer(is.Cordoned) != fleet.AnswerAccepted:
		answer = i.answer(is.Cordoned)
	case !can(&t.Task):
		answer, detail = fleet.AnswerUnknownKind, "executors of XXL-JOB do handlers and scripts"
	case i.busy[t.Job]:
		answer, detail = fleet.AnswerBusy, "it runs the job already"
	case len(i.live) >= i.slots(&is) || i.silent > 0:
		answer = fleet.AnswerBusy
	}
	if answer != "" {
		i.mu.Unlock()
		return answer, detail
	}
	now := time.Now()
	r := newRun(state.Run{
		Trigger: t, Token: o.token, Ack: o.ack, Delivery: o.delivery, Routed: clip.Text(o.reason, bus.MaxMessage-len("…")), Came: now.UTC().Truncate(time.Millisecond),
	})
	r.routed, r.signed = o.routed, now
	i.live[t.Ref()], i.busy[t.Job] = r, true
	i.mu.Unlock()
	i.group.hold(t.Ref(), i)
	select {
	case i.start <- r:
	case <-i.ended:
	}
	return fleet.AnswerAccepted, ""
}

// resume adds a run that the instance had before this bridge served it.
func (i *instance) resume(kept *state.Run) {
	r := newRun(*kept)
	r.resumed, r.unconfirmed = true, !kept.Said
	i.live[kept.Trigger.Ref()], i.busy[kept.Trigger.Job], i.byLog[kept.LogID] = r, true, r
	i.group.hold(kept.Trigger.Ref(), i)
}

// forget ends what is known of a run. One whose executor may still do it keeps its job busy.
func (i *instance) forget(r *run) {
	t := r.kept.Trigger
	if r.stored {
		i.group.done.Add(t.Ref())
	}
	i.group.release(t.Ref(), i)
	i.mu.Lock()
	delete(i.live, t.Ref())
	delete(i.byLog, r.kept.LogID)
	if r.stray {
		i.stray[t.Job] = stray{r.kept.JobID, r.kept.LogID, time.Now().Add(i.b.cfg.Silence)}
	} else {
		delete(i.busy, t.Job)
	}
	i.mu.Unlock()
	i.group.poke()
}
