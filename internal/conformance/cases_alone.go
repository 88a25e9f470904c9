package conformance

import (
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

var aloneCases = []Case{
	{Name: "alone", Passage: "Requests", Level: Robust, Rule: "a run with Carillon-Alone is accepted only without any other; until it has ended, no other is taken, pulled or offered", run: func(t *test) {
		t.firstPull()
		first := t.trigger("sleep", map[string]any{"seconds": 1})
		first.offered(1)
		t.trigger("echo", nil).offeredAlone("60", fleet.AnswerBusy)
		first.want(first.ended(seconds), job.StatusSucceeded, "")
		first.answered("+ACK", seconds)
		suspect := t.trigger("sleep", map[string]any{"seconds": 2.5})
		suspect.offeredAlone("60", fleet.AnswerAccepted)
		t.untilNothingAsked()
		if reply := t.trigger("echo", nil).offer(1, nil); reply.Answer != fleet.AnswerBusy {
			t.failf("beside it, run is answered with %s, want busy", reply.Answer)
		}
		suspect.want(suspect.ended(2*seconds), job.StatusSucceeded, "")
		suspect.answered("+ACK", seconds)
		next := t.trigger("echo", nil).pulled(1)
		next.want(next.ended(seconds), job.StatusSucceeded, "")
	}},
	{Name: "alone-for-a-while", Passage: "Requests", Level: Robust, Rule: "after the seconds that Carillon-Alone names, other runs are taken beside the one that is alone", run: func(t *test) {
		t.firstPull()
		suspect := t.trigger("sleep", map[string]any{"seconds": 6})
		suspect.offeredAlone("1", fleet.AnswerAccepted)
		t.wait(1500 * time.Millisecond)
		t.trigger("echo", nil).offered(1)
		next := t.trigger("echo", nil).pulled(1)
		next.want(next.ended(seconds), job.StatusSucceeded, "")
		if n := len(suspect.events(bus.EventFinished)); n > 0 {
			t.failf("nothing was taken beside the run that was alone for a second")
		}
		suspect.want(suspect.ended(2*seconds), job.StatusSucceeded, "")
	}},
	{Name: "alone-wrong", Passage: "Requests", Level: Robust, Rule: "a Carillon-Alone that is no number of seconds from 1 to 3600 is answered with a fault of kind invalid, and nothing starts", run: func(t *test) {
		for _, text := range []string{"0", "3601", "soon", "-1", "1.5"} {
			g := t.trigger("echo", nil)
			g.mark = t.mark()
			header := nats.Header{bus.HeaderToken: {g.token}, bus.HeaderAlone: {text}, bus.HeaderAck: {g.ackSubject(bus.Consumer{Stream: bus.StreamTrig, Consumer: bus.ConsumerRoute(group)}, 1, g.seq, g.seq)}}
			t.notef("a request run with %s %q", bus.HeaderAlone, text)
			m, err := t.nc.RequestMsg(bus.NewRequest(t.instance().Address(), bus.VerbRun, header, g.message().Data), time.Second)
			if err != nil {
				t.failf("no answer: %v", err)
			}
			if _, err := bus.DecodeInstanceReply(m); err == nil || !strings.Contains(string(m.Data), `"invalid"`) {
				t.failf("it is answered with %s", m.Data)
			}
			t.wait(200 * time.Millisecond)
			g.dropped()
		}
	}},
}

// offeredAlone offers the trigger as one whose executor died, and fails unless that is answered so.
func (g *given) offeredAlone(seconds string, want fleet.Answer) {
	if reply := g.offer(1, nats.Header{bus.HeaderAlone: {seconds}}); reply.Answer != want {
		g.failf("with %s %s, run is answered with %s, want %s", bus.HeaderAlone, seconds, reply.Answer, want)
	}
}

// untilNothingAsked waits until no pull request is open.
func (t *test) untilNothingAsked() {
	for deadline := time.Now().Add(time.Second); t.waiting() > 0; t.wait(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.failf("it asks for %d triggers all the same", t.waiting())
		}
	}
}
