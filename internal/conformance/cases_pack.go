package conformance

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// An executor may report each end as an event in all of these.
var packCases = []Case{
	{Name: "packs", Passage: "Packs of ends", Rule: "ends for which nobody waits come as events or in packs, are sent again with the same id, and are acknowledged only once they are stored", run: func(t *test) {
		for _, g := range t.packed(8, atFirst(refuse), "echo", nil) {
			if e, sent := g.reported(seconds); e.Status != job.StatusSucceeded || sent < 2 {
				g.failf("its end %s was sent %d times before it answered +ACK; want it twice, for the first was refused", e.Status, sent)
			}
		}
	}},
	{Name: "packs-unanswered", Passage: "Packs of ends", Level: Robust, Slow: true, Rule: "a pack that is stored and not acknowledged is sent again, with the same bytes and the same id", run: func(t *test) {
		all := t.packed(4, func(h heard, n int) eventAnswer {
			t.ids[h.header.Get(nats.MsgIdHdr)] = 7 // it is stored, and the answer gets lost
			return atFirst(ignore)(h, n)
		}, "echo", nil)
		bodies := map[string]string{}
		for _, g := range all {
			g.reported(time.Minute)
		}
		for _, h := range t.since(all[0].mark, isPack) {
			id := h.header.Get(nats.MsgIdHdr)
			if first, again := bodies[id]; again && first != string(h.data) {
				t.failf("the pack %s was sent with other bytes: %s", id, h)
			}
			bodies[id] = string(h.data)
		}
	}},
	{Name: "packs-odd-ends", Passage: "Packs of ends", Level: Robust, Rule: "an end is one line of a pack, whatever its message has in it", run: func(t *test) {
		text := "first\nsecond\r\n\u2028\t\"third\" \\n {}"
		for _, g := range t.packed(8, atFirst(refuse), "fail", map[string]any{"message": text}) {
			e, _ := g.reported(seconds)
			g.want(e, job.StatusFailed, text)
		}
	}},
	{Name: "packs-small-payload", Passage: "Packs of ends", Level: Robust, Payload: 24 << 10, Rule: "a pack fits into a message that NATS takes, and no end in it is made shorter", run: func(t *test) {
		for _, g := range t.packed(8, atFirst(refuse), "large", map[string]any{"bytes": 9000, "seconds": 0}) {
			if e, _ := g.reported(seconds); len(e.Result) != 9000+2 {
				g.failf("its result has %d bytes, want 9002", len(e.Result))
			}
		}
	}},
	{Name: "packs-stop", Passage: "Packs of ends", Level: Robust, Rule: "an executor that stops reports ends that wait for others first, and acknowledges their triggers", run: func(t *test) {
		first := ""
		all := t.packed(4, func(h heard, n int) eventAnswer {
			id := h.header.Get(nats.MsgIdHdr)
			if first = cmp.Or(first, id); id == first && n < 4 { // for 1.75 s
				return refuse
			}
			return store
		}, "echo", nil)
		t.wait(time.Second)
		t.notef("SIGTERM")
		if err := t.exec.stop(seconds); err != nil {
			t.failf("it ended with %v, want exit code 0", err)
		}
		for _, g := range all {
			g.reported(seconds)
		}
	}},
}

// atFirst is that answer to each message at first, until it comes again.
func atFirst(first eventAnswer) func(heard, int) eventAnswer {
	return func(_ heard, n int) eventAnswer { return []eventAnswer{first, store}[min(n-1, 1)] }
}

// packed delivers triggers of runs for whose ends nobody waits. Messages with ends are answered by event.
func (t *test) packed(n int, event func(h heard, n int) eventAnswer, handler string, params any) (all []*given) {
	t.do(func() { t.event = event })
	for range n {
		all = append(all, t.trigger(handler, params, func(tr *bus.Trigger) { tr.Report = bus.SubjectEnds(0, group) }).pulled(1))
	}
	return all
}

// reported waits for the acknowledgement of a trigger, and returns the end that was stored by then, and how
// often its message was sent.
func (g *given) reported(within time.Duration) (end *bus.Event, sent int) {
	ack := g.answered("+ACK", within)
	ids := map[string]int{}
	for _, h := range g.since(g.mark, func(h heard) bool { return strings.HasPrefix(h.subject, "evt.") && !h.at.After(ack.at) }) {
		for e, err := range g.tokens.DecodeEvents(h.subject, h.header, h.data, h.at.Add(g.ahead), 1, shards) {
			if err != nil {
				g.failf("a server refuses an end: %v\n%s", err, h)
			}
			if e.RunID == g.RunID && e.Kind == bus.EventFinished {
				ids[h.header.Get(nats.MsgIdHdr)]++
				end = e
			}
		}
	}
	if len(ids) != 1 {
		g.failf("its end was sent with the ids %v before it answered +ACK; want one", ids)
	}
	return end, slices.Max(slices.Collect(maps.Values(ids)))
}

func isPack(h heard) bool {
	_, _, packed := bus.ParseSubjectEnds(h.subject)
	return packed
}
