package conformance

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

var runCases = []Case{
	{Name: "success", Passage: "The life of a trigger", Rule: "an attempt ends with a finished event, and is acknowledged only once that is stored", run: func(t *test) {
		g := t.trigger("echo", map[string]any{"region": "north", "rows": 3})
		t.do(func() {
			t.event = func(_ heard, n int) eventAnswer { return []eventAnswer{refuse, store}[min(n-1, 1)] }
		})
		g.pulled(1)
		e := g.ended(seconds)
		g.want(e, job.StatusSucceeded, "")
		if e.StartedAt.IsZero() || e.FinishedAt.IsZero() || e.DeliveredAt.IsZero() || e.Instance == "" || e.Delivery != 1 {
			g.failf("started_at, finished_at, delivered_at, instance and delivery belong into the event: %+v", e)
		}
		var got, want any
		if json.Unmarshal(e.Result, &got) != nil || json.Unmarshal(g.Params, &want) != nil || !reflect.DeepEqual(got, want) {
			g.failf("the result is %s, want the parameters, %s", e.Result, g.Params)
		}
		ack := g.answered("+ACK", seconds)
		ends := g.events(bus.EventFinished)
		if len(ends) < 2 || ack.at.Before(ends[1].at) {
			g.failf("it answered +ACK before its finished event was stored: the first was refused")
		}
	}},
	{Name: "short-run", Passage: "Events", Level: Robust, Rule: "an attempt of less than a second has no started event", run: func(t *test) {
		for range 5 { // on a busy machine an attempt may take longer than its handler wants
			g := t.trigger("sleep", map[string]any{"seconds": 0.2}).pulled(1)
			e := g.ended(seconds)
			g.want(e, job.StatusSucceeded, "")
			if e.FinishedAt.Sub(e.StartedAt) >= time.Second {
				continue
			}
			if got := g.events(bus.EventStarted); len(got) > 0 {
				g.failf("it sent %s", got[0])
			}
			return
		}
		t.failf("five attempts that sleep for 0.2 s took a second each")
	}},
	{Name: "long-run", Passage: "Events", Level: Robust, Rule: "an attempt of more than a second has one started event; progress comes at most once a second", run: func(t *test) {
		began := time.Now()
		g := t.trigger("sleep", map[string]any{"seconds": 3.5}).pulled(1)
		g.want(g.ended(2*seconds), job.StatusSucceeded, "")
		most := 1 + int(time.Since(began)/time.Second)
		started := g.events(bus.EventStarted)
		if len(started) != 1 {
			g.failf("%d started events, want 1", len(started))
		}
		g.read(started[0])
		progress := g.events(bus.EventProgress)
		if len(progress) > most {
			g.failf("%d progress events, at most %d", len(progress), most)
		}
		var last time.Time
		for _, h := range progress {
			at := g.read(h).At // when it was made: two may arrive together
			if at.Sub(last) < 900*time.Millisecond {
				g.failf("two progress events within %s", at.Sub(last))
			}
			last = at
		}
	}},
	{Name: "failure", Passage: "Events", Rule: "a handler's error makes the attempt failed, with its text as the message", run: func(t *test) {
		g := t.trigger("fail", map[string]any{"message": "the customer is unknown"}).pulled(1)
		g.want(g.ended(seconds), job.StatusFailed, "the customer is unknown")
		g.answered("+ACK", seconds)
	}},
	{Name: "long-message", Passage: "Events", Level: Robust, Rule: "a message has at most 16 KiB, cut at a character", run: func(t *test) {
		g := t.trigger("fail", map[string]any{"message": strings.Repeat("ü", 20_000)}).pulled(1)
		e := g.ended(seconds)
		g.want(e, job.StatusFailed, "ü")
		var raw struct{ Message string }
		if err := json.Unmarshal(g.events(bus.EventFinished)[0].data, &raw); err != nil || len(raw.Message) > bus.MaxMessage {
			g.failf("the message has %d bytes, at most %d (%v)", len(raw.Message), bus.MaxMessage, err)
		}
	}},
	{Name: "large-result", Passage: "Events", Level: Robust, Rule: "a result has at most 64 KiB; a larger one does not make the run fail, and its message says what to do. The text of progress has at most 16 KiB", run: func(t *test) {
		whole := t.trigger("large", map[string]any{"bytes": bus.MaxResult - 2, "seconds": 0}).pulled(1)
		if e := whole.ended(seconds); e.Status != job.StatusSucceeded || e.Message != "" || len(e.Result) != bus.MaxResult {
			whole.failf("with a result of 65,536 bytes it ended as %s, %q, with %d bytes", e.Status, e.Message, len(e.Result))
		}
		for bytes, takes := range map[int]float64{bus.MaxResult - 1: 0, 5_000_000: 2.5} {
			g := t.trigger("large", map[string]any{"bytes": bytes, "seconds": takes}).pulled(1)
			e := g.ended(4 * seconds)
			g.want(e, job.StatusSucceeded, reason.StoreElsewhere.String())
			if len(e.Result) > bus.MaxResult {
				g.failf("the result has %d bytes, at most %d", len(e.Result), bus.MaxResult)
			}
			g.answered("+ACK", seconds)
			for _, h := range g.events(bus.EventProgress) {
				if p := g.read(h); len(p.Text) > bus.MaxMessage {
					g.failf("the text of a progress event has %d bytes, at most %d", len(p.Text), bus.MaxMessage)
				}
			}
		}
	}},
	{Name: "small-payload", Passage: "Events", Level: Robust, Payload: 24 << 10, Rule: "an end that is larger than NATS takes is reported without its result, and its message says what to do", run: func(t *test) {
		g := t.trigger("large", map[string]any{"bytes": bus.MaxResult - 2, "seconds": 0}).pulled(1)
		g.want(g.ended(seconds), job.StatusSucceeded, "max_payload")
		g.answered("+ACK", seconds)
	}},
	{Name: "nan", Passage: "Events", Level: Robust, Rule: "a result that JSON has no form for does not make the event unreadable", run: func(t *test) {
		g := t.trigger("nan", nil).pulled(1)
		e := g.ended(seconds)
		if e.Message == "" && e.Status == job.StatusSucceeded {
			g.failf("it ended as succeeded, without a word about the result that was left out")
		}
		g.answered("+ACK", seconds)
	}},
	{Name: "unknown-handler", Passage: "Handing over", Rule: "a trigger for a handler that is not there is handed over, and no end of it is reported", run: func(t *test) {
		g := t.trigger("nowhere", nil).pulled(1)
		g.handedOver()
	}},
	{Name: "unknown-kind", Passage: "Handing over", Rule: "a trigger of a kind of task that is not run here is handed over, and no end of it is reported", run: func(t *test) {
		if foreign := t.foreignKind(); foreign != nil {
			t.trigger("shell", nil, foreign).pulled(1).handedOver()
		}
	}},
	{Name: "unknown-version", Passage: "Handing over", Rule: "a trigger of a version that is not known is handed over, and no end of it is reported", run: func(t *test) {
		g := t.trigger("echo", nil)
		m := g.message()
		m.Header.Set(bus.HeaderMessage, "trigger.v2")
		m.Data = []byte(`{"v2": true}`)
		g.pulledAs(m, 1)
		g.handedOver()
	}},
	{Name: "redelivered", Passage: "Handing over", Rule: "a trigger that was delivered before, and that is not known here, is handed over and not started", run: func(t *test) {
		g := t.trigger("echo", nil).pulled(2)
		g.handedOver()
	}},
	{Name: "redelivered-by-domain", Passage: "Pulling", Level: Robust, Rule: "with 11 tokens or more, token 7 of the reply subject is the number of deliveries", run: func(t *test) {
		t.firstPull()
		g := t.trigger("echo", nil)
		g.mark = t.mark()
		t.mu.Lock()
		p := t.pulls[0]
		t.mu.Unlock()
		g.ack = "$JS.ACK.hub.ACCT1.TRIG.any-" + group + ".2.7.7.1767578400000000000.0.rnd"
		m := g.message()
		m.Subject, m.Reply = p.reply, forStage(g.ack)
		if err := t.nc.PublishMsg(m); err != nil {
			t.failf("%v", err)
		}
		g.handedOver()
	}},
	{Name: "garbage", Passage: "The life of a trigger", Rule: "what cannot be decoded is answered with +TERM, and nothing else", run: func(t *test) {
		for _, change := range []func(g *given) string{
			func(*given) string { return "no json" },
			func(*given) string { return `{"job": "conformance/echo"}` },
		} {
			g := t.trigger("echo", nil)
			m := g.message()
			m.Data = []byte(change(g))
			g.pulledAs(m, 1)
			g.answered("+TERM", seconds)
		}
		other := t.trigger("echo", nil, func(tr *bus.Trigger) { tr.Job = "other/echo" }).pulled(1)
		other.answered("+TERM", seconds)
		if got := t.since(other.mark, func(h heard) bool { return strings.HasPrefix(h.subject, "evt.") }); len(got) > 0 {
			t.failf("it sent an event: %s", got[0])
		}
	}},
	{Name: "unknown-fields", Passage: "Conventions", Rule: "unknown fields are ignored", run: func(t *test) {
		g := t.trigger("echo", map[string]any{"a": 1})
		m := g.message()
		m.Data = append([]byte(`{"planet": {"name": "Mars"}, `), m.Data[1:]...)
		g.pulledAs(m, 1)
		g.want(g.ended(seconds), job.StatusSucceeded, "")
	}},
	{Name: "timeout", Passage: "Trigger", Rule: "an attempt that takes longer than its timeout is ended, as timed_out", run: func(t *test) {
		g := t.trigger("sleep", map[string]any{"seconds": 30}, func(tr *bus.Trigger) { tr.Timeout = job.Duration(2 * time.Second) }).pulled(1)
		e := g.ended(2 * seconds)
		g.want(e, job.StatusTimedOut, "")
		if took := e.FinishedAt.Sub(e.StartedAt); took < 1900*time.Millisecond || took > 4*time.Second {
			g.failf("it took %s", took)
		}
	}},
	{Name: "end-by", Passage: "Trigger", Rule: "an attempt that has not ended by end_by is ended, as timed_out", run: func(t *test) {
		g := t.trigger("sleep", map[string]any{"seconds": 30}, func(tr *bus.Trigger) { tr.EndBy = time.Now().Add(1500 * time.Millisecond).UTC() }).pulled(1)
		g.want(g.ended(2*seconds), job.StatusTimedOut, "")
	}},
	{Name: "start-by", Passage: "Trigger", Rule: "an attempt that has not started by start_by is not started, but reported missed", run: func(t *test) {
		g := t.trigger("echo", nil, func(tr *bus.Trigger) { tr.StartBy = time.Now().Add(-time.Second).UTC() }).pulled(1)
		e := g.ended(seconds)
		g.want(e, job.StatusMissed, "")
		if !e.StartedAt.IsZero() {
			g.failf("it has a started_at")
		}
	}},
	{Name: "work-in-progress", Passage: "Answers", Slow: true, Rule: "an executor says +WPI at least every 5 s until its final answer, and not after", run: func(t *test) {
		g := t.trigger("sleep", map[string]any{"seconds": 14}).pulled(1)
		last := time.Now()
		g.ended(20 * time.Second)
		g.answered("+ACK", seconds)
		for _, h := range g.since(g.mark, g.isAnswer("")) {
			if gap := h.at.Sub(last); gap > 6*time.Second {
				g.failf("%s without +WPI", gap)
			}
			last = h.at
		}
		mark := t.mark()
		t.wait(6 * time.Second)
		if late := t.since(mark, g.isAnswer("")); len(late) > 0 {
			g.failf("after +ACK it answered %s", late[0])
		}
	}},
	{Name: "same-trigger-again", Passage: "Answers", Rule: "an attempt that runs is not run twice, and the newer delivery is answered", run: func(t *test) {
		g := t.trigger("sleep", map[string]any{"seconds": 2}).pulled(1)
		t.wait(300 * time.Millisecond)
		mark := g.mark
		g.pulled(2)
		g.mark = mark
		g.want(g.ended(seconds), job.StatusSucceeded, "")
		g.answered("+ACK", seconds)
		t.wait(500 * time.Millisecond)
		if n := len(g.events(bus.EventFinished)); n != 1 {
			g.failf("%d finished events, want 1", n)
		}
	}},
	{Name: "ended-trigger-again", Passage: "Answers", Rule: "an attempt that has ended is acknowledged without running it", run: func(t *test) {
		g := t.trigger("echo", nil).pulled(1)
		g.ended(seconds)
		g.answered("+ACK", seconds)
		g.pulled(2)
		g.answered("+ACK", seconds)
		if again := g.events(bus.EventFinished); len(again) > 0 {
			g.failf("it reported another end: %s", again[0])
		}
	}},
	{Name: "pieces", Passage: "Trigger", Rule: "pieces of one run are attempts of their own: their events have ids with the index, and each numbers its lines from 1, in batches with the index", run: func(t *test) {
		t.firstPull()
		id := job.NewRunID(time.Now())
		var all []*given
		for i := range 3 {
			all = append(all, t.trigger("lines", map[string]any{"count": 3}, func(tr *bus.Trigger) {
				tr.RunID, tr.Piece, tr.Item = id, bus.Piece{Index: i, Total: 3}, json.RawMessage(`"x"`)
			}).pulled(1))
		}
		for _, g := range all {
			e := g.ended(seconds)
			g.want(e, job.StatusSucceeded, "")
			g.answered("+ACK", seconds)
			lines := g.lines()
			if len(lines) != 3 || e.LogLines != 3 {
				g.failf("%d lines of the piece came, log_lines is %d; want 3", len(lines), e.LogLines)
			}
			for i, line := range lines {
				if line.Seq != int64(i+1) {
					g.failf("line %d of the piece is number %d", i+1, line.Seq)
				}
			}
		}
	}},
}

// foreignKind returns what makes a trigger one of a kind of task that the executor does not run; nil
// if it runs all.
func (t *test) foreignKind() func(*bus.Trigger) {
	kinds := t.instance().Kinds
	for _, task := range []job.Task{{Shell: "true"}, {Command: []string{"true"}}, {HTTP: &job.HTTP{URL: "https://example.com/"}}} {
		if !slices.Contains(kinds, task.Kind()) {
			return func(tr *bus.Trigger) { tr.Task = task }
		}
	}
	return nil
}

// handedOver waits until the executor hands the trigger to a server, and fails if it does anything
// else with it.
func (g *given) handedOver() {
	found, ok := g.await(g.ctx, g.mark, 1, seconds, func(h heard) bool { return h.subject == "hand."+group })
	if !ok {
		g.failf("no request on hand.%s", group)
	}
	if got := found[0].header.Get(bus.HeaderAck); got != g.ack {
		g.failf("the request has %s %q, want %q", bus.HeaderAck, got, g.ack)
	}
	if got := found[0].header.Get("Carillon-Instance"); got != g.instance().Instance.Instance {
		g.failf("the request has Carillon-Instance %q", got)
	}
	g.wait(500 * time.Millisecond)
	g.dropped()
}
