package conformance

import (
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

var clockCases = []Case{
	{Name: "clock-behind", Passage: "Heartbeats", Level: Robust, Ahead: 10 * time.Minute, Rule: "an executor whose clock is 10 minutes behind corrects instants of events, start_by and end_by by the difference, and leaves `at` of its heartbeats", run: wrongClock},
	{Name: "clock-ahead", Passage: "Heartbeats", Level: Robust, Ahead: -10 * time.Minute, Rule: "an executor whose clock is 10 minutes ahead corrects instants of events, start_by and end_by by the difference, and leaves `at` of its heartbeats", run: wrongClock},
}

// clockTolerance is by how much clocks may differ that nobody corrects, and how long a busy machine may take.
const clockTolerance = 5 * time.Second

// wrongClock runs attempts with instants of NATS' clock.
func wrongClock(t *test) {
	t.firstPull()
	if off := time.Since(t.instance().At); off.Abs() > 2*clockTolerance {
		t.failf("at of its heartbeat is %s off its machine's clock, which servers watch", off)
	}
	late := t.trigger("echo", nil, func(tr *bus.Trigger) { tr.StartBy = t.now().Add(-5 * time.Second) }).pulled(1)
	late.want(late.ended(seconds), job.StatusMissed, "")
	for _, limit := range []func(*bus.Trigger){
		func(tr *bus.Trigger) { tr.StartBy = t.now().Add(time.Minute) },
		func(tr *bus.Trigger) { tr.EndBy = t.now().Add(time.Minute) },
	} {
		g := t.trigger("sleep", map[string]any{"seconds": 1.5}, limit).pulled(1)
		e := g.ended(2 * seconds)
		g.want(e, job.StatusSucceeded, "")
		if took := e.FinishedAt.Sub(e.StartedAt); took < 1400*time.Millisecond || took > 1500*time.Millisecond+clockTolerance {
			g.failf("it slept for 1.5 s, and took %s", took)
		}
		if off := t.now().Sub(e.FinishedAt); off.Abs() > clockTolerance {
			g.failf("finished_at is %s off NATS' clock", off)
		}
	}
	g := t.trigger("sleep", map[string]any{"seconds": 30}, func(tr *bus.Trigger) { tr.EndBy = t.now().Add(4 * time.Second) }).pulled(1)
	e := g.ended(3 * seconds)
	g.want(e, job.StatusTimedOut, "")
	if took := e.FinishedAt.Sub(e.StartedAt); took < time.Second {
		g.failf("it had 4 s, and was ended after %s", took)
	}
}
