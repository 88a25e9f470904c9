package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

var stepCases = []Case{
	{Name: "steps-at-once", Passage: "Trigger", Rule: "steps of one job and version are done at the same time, each by its own task and parameters", run: func(t *test) {
		step := t.steps()
		long := step("long", "sleep", map[string]any{"seconds": 60}).pulled(1)
		t.wait(300 * time.Millisecond)
		good := step("good", "echo", map[string]any{"rows": 3}).pulled(1)
		e := good.ended(seconds)
		good.want(e, job.StatusSucceeded, "")
		if string(e.Result) != `{"rows":3}` || e.Cause != job.CauseStep {
			good.failf("the result is %s and the cause %s, want its parameters and %s", e.Result, e.Cause, job.CauseStep)
		}
		bad := step("bad", "fail", map[string]any{"message": "no rows"}).pulled(1)
		bad.want(bad.ended(seconds), job.StatusFailed, "no rows")
		if got := long.events(bus.EventFinished); len(got) > 0 {
			long.failf("it has ended, too: %s", got[0])
		}
		long.kill()
		long.want(long.ended(seconds), job.StatusCancelled, "")
	}},
	{Name: "unknown-cause", Passage: "Trigger", Newer: true, Rule: "a cause that is not known is repeated by each event of the attempt", run: func(t *test) {
		g := t.trigger("sleep", map[string]any{"seconds": 1.5}, func(tr *bus.Trigger) { tr.Cause = "moonrise" }).pulled(1)
		g.answered("+ACK", seconds)
		ends := 0
		for _, h := range g.since(g.mark, func(h heard) bool { return strings.HasPrefix(h.subject, "evt.") }) {
			var e bus.Event // a server of this version knows no such cause
			if err := json.Unmarshal(h.data, &e); err != nil || e.Cause != "moonrise" {
				g.failf("the cause of %s is %q (%v), want that of the trigger", h, e.Cause, err)
			}
			if e.Kind == bus.EventFinished && e.Status == job.StatusSucceeded {
				ends++
			}
		}
		if ends != 1 {
			g.failf("it ended %d times as succeeded, want once", ends)
		}
	}},
	{Name: "large-number", Passage: "Events", Level: Robust, Rule: "a whole number that a handler returns as it got it keeps its digits", run: func(t *test) {
		const large = 9007199254740993 // 2^53+1, which a double cannot hold
		g := t.trigger("echo", map[string]any{"id": large}).pulled(1)
		e := g.ended(seconds)
		g.want(e, job.StatusSucceeded, "")
		if want := fmt.Sprintf(`{"id":%d}`, large); string(e.Result) != want {
			g.failf("the result is %s, want %s", e.Result, want)
		}
	}},
	{Name: "step-items", Passage: "Trigger", Rule: "a piece of a step knows its item, whatever JSON it is, and its end says which piece it was", run: func(t *test) {
		step := t.steps()
		items := []string{`{"file":"a.csv","rows":[1,2]}`, `"b"`, `7`, `false`, `[]`}
		for i, item := range items {
			g := step(fmt.Sprintf("load%d", i), "item", nil, func(tr *bus.Trigger) {
				tr.Item, tr.Piece = json.RawMessage(item), bus.Piece{Index: i, Total: len(items)}
			}).pulled(1)
			e := g.ended(seconds)
			g.want(e, job.StatusSucceeded, "")
			if string(e.Result) != item || e.Piece != g.Piece {
				g.failf("piece %d of %d returns %s, want its item %s", e.Index, e.Total, e.Result, item)
			}
		}
	}},
	{Name: "kill-step", Passage: "Kill", Rule: "a kill of one step leaves the other steps of the job alone", run: func(t *test) {
		step := t.steps()
		killed := step("killed", "sleep", map[string]any{"seconds": 60}).pulled(1)
		other := step("other", "sleep", map[string]any{"seconds": 3}).pulled(1)
		t.wait(500 * time.Millisecond)
		if reply := killed.kill(); reply.Answer != fleet.AnswerAccepted {
			t.failf("kill is answered with %s", reply.Answer)
		}
		killed.want(killed.ended(seconds), job.StatusCancelled, "")
		other.want(other.ended(seconds), job.StatusSucceeded, "")
	}},
}

// steps returns what makes triggers of the steps of one run of a workflow.
func (t *test) steps() func(name, handler string, params any, change ...func(*bus.Trigger)) *given {
	const workflow = job.Name(group + "/workflow")
	parent := job.NewRunID(t.now())
	return func(name, handler string, params any, change ...func(*bus.Trigger)) *given {
		return t.trigger(handler, params, append(change, func(tr *bus.Trigger) {
			tr.RunID, tr.Job, tr.Cause = job.StepRunID(parent, name), workflow, job.CauseStep
			tr.ParentRun, tr.Depth, tr.Step = parent, 1, name
		})...)
	}
}
