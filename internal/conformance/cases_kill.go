package conformance

import (
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

var killCases = []Case{
	{Name: "kill", Passage: "Kill", Rule: "a run that is killed ends as cancelled, and is acknowledged", run: func(t *test) {
		g := t.trigger("sleep", map[string]any{"seconds": 30}).pulled(1)
		t.wait(500 * time.Millisecond)
		if reply := g.kill(); reply.Answer != fleet.AnswerAccepted {
			t.failf("kill is answered with %s", reply.Answer)
		}
		g.want(g.ended(seconds), job.StatusCancelled, "")
		g.answered("+ACK", seconds)
	}},
	{Name: "kill-unknown", Passage: "Kill", Rule: "a run that is not here is answered with gone; if its trigger comes within a minute, it is reported cancelled without running it", run: func(t *test) {
		g := t.trigger("echo", nil)
		if reply := g.kill(); reply.Answer != fleet.AnswerGone {
			t.failf("kill is answered with %s, want gone", reply.Answer)
		}
		g.pulled(1)
		e := g.ended(seconds)
		g.want(e, job.StatusCancelled, "")
		if !e.StartedAt.IsZero() {
			g.failf("it has a started_at")
		}
		g.answered("+ACK", seconds)
	}},
	{Name: "kill-stubborn", Passage: "Kill", Level: Robust, Slow: true, Rule: "a run that ignores its cancellation is reported cancelled all the same", run: func(t *test) {
		g := t.trigger("stubborn", map[string]any{"seconds": 60}).pulled(1)
		t.wait(500 * time.Millisecond)
		g.kill()
		g.want(g.ended(20*time.Second), job.StatusCancelled, "")
		g.answered("+ACK", seconds)
	}},
	{Name: "kill-then-success", Passage: "Kill", Rule: "a run that succeeds after a kill was accepted is reported cancelled, once", run: func(t *test) {
		g := t.trigger("stubborn", map[string]any{"seconds": 1.2}).pulled(1)
		t.wait(300 * time.Millisecond)
		if reply := g.kill(); reply.Answer != fleet.AnswerAccepted {
			t.failf("kill is answered with %s", reply.Answer)
		}
		g.want(g.ended(2*seconds), job.StatusCancelled, "")
		g.answered("+ACK", seconds)
		t.wait(1500 * time.Millisecond) // the handler has returned by then
		if n := len(g.events(bus.EventFinished)); n != 1 {
			g.failf("%d finished events, want 1", n)
		}
	}},
	{Name: "kill-pieces", Passage: "Kill", Rule: "in a run with pieces the answer lists those that are here, and all of them end", run: func(t *test) {
		t.firstPull()
		id := job.NewRunID(time.Now())
		var all []*given
		for i := range 2 {
			all = append(all, t.trigger("sleep", map[string]any{"seconds": 30}, func(tr *bus.Trigger) {
				tr.RunID, tr.Piece = id, bus.Piece{Index: i, Total: 2}
			}).pulled(1))
		}
		t.wait(500 * time.Millisecond)
		if reply := all[0].kill(); len(reply.Pieces) != 2 {
			t.failf("pieces: %v, want 0 and 1", reply.Pieces)
		}
		for _, g := range all {
			g.want(g.ended(seconds), job.StatusCancelled, "")
		}
	}},
}

// kill asks the instance to end the run.
func (g *given) kill() *fleet.InstanceReply {
	return g.ask(bus.VerbKill, nil, `{"run_id": "`+string(g.RunID)+`", "by": "ann", "reason": "wrong day"}`)
}
