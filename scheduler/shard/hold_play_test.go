package shard

import (
	"fmt"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// ask asks to put the run on hold or to resume it, and maybe asks again at once.
func (p *stepPlay) ask(resume bool) {
	w := p.w
	r := bus.HoldRequest{ID: job.RetryRunID(p.id, fmt.Sprint("hold", len(w.log))), RunID: p.id, Job: "g/a", Resume: resume, By: "ann", At: noon.Add(w.now)}
	for range 1 + w.rng.IntN(3) {
		done, err := w.m.Requests.Hold(r)
		w.say("hold %s, resume %t: %v %v", p.id, resume, done, err)
		if w.chance(50) {
			w.step()
		}
	}
}

// noteHold follows that the run was put on hold or resumed.
func (p *stepPlay) noteHold(h *runlog.Hold) {
	was := 0
	if p.hold != nil {
		was = p.hold.Change
	}
	if h.Held() == p.hold.Held() || h.Change != was+1 || len(p.over) > 0 {
		p.w.fail("the hold of %s is %s, and was %s", p.id, h.Text(), p.hold.Text())
	}
	p.hold = h
}
