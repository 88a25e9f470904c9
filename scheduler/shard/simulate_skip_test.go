package shard

import (
	"fmt"
	"maps"
	"strings"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// fireOf names a fire.
type fireOf struct {
	job job.Name
	at  int64
}

// early is a fire that somebody wanted to run early: what became of it, and of the run
// in its place.
type early struct {
	run     job.RunID
	made    bool // the run in its place is stored
	refused bool // it is recorded that there is none
	ran     bool // a run for the fire is stored
	skipped bool // the fire is, as one that ran early
}

// lateFor begins the reason of a run in the place of a fire that was decided already.
const lateFor = "the fire of "

// callFireOff has v call off one of its fires, or take one back.
func (w *world) callFireOff(v *job.Version) {
	name := v.Job.Job
	if len(v.Skips) > 0 && w.chance(30) {
		s := v.Skips[w.rng.IntN(len(v.Skips))]
		if s.RunID == "" { // what runs early cannot be taken back
			v.TakeBack(s.FireTime)
		}
		return
	}
	at, ok := w.fireAhead(v)
	if ok && v.SkipOf(instant(at)) == nil {
		v.Skip(job.Skip{FireTime: instant(at), At: instant(w.clock), By: "ada", Reason: fmt.Sprintf("no need, version %d", v.Version)})
		w.say("the fire of %s at %s is called off", name, instant(at))
	}
}

// fireAhead returns one of the next fires of v.
func (w *world) fireAhead(v *job.Version) (int64, bool) {
	lo := v.EffectiveFrom.UnixMilli()
	fires := w.oracle.fires(v, lo, lo+600*w.scale.unit.Milliseconds())
	if len(fires) == 0 {
		return 0, false
	}
	return fires[w.rng.IntN(min(len(fires), 5))], true
}

// runEarly has one of the next fires of a job run now, as the API does: it saves a version
// that says so, and then may ask the owner what became of the run, or die.
func (w *world) runEarly() {
	was := w.newest[w.names[w.rng.IntN(len(w.names))]]
	if was == nil || was.Deleted || w.refuses(was.Job.Job) {
		return
	}
	v := w.editOf(was)
	at, ok := w.fireAhead(v)
	if !ok {
		return
	}
	if s := v.SkipOf(instant(at)); s != nil && s.RunID != "" {
		return
	}
	id := job.FireRunID(v.Job.Job, w.clock, job.Cause(fmt.Sprintf("early %d", len(w.asked))))
	v.Skip(job.Skip{FireTime: instant(at), At: instant(w.clock), By: "ada", RunID: id})
	w.asked[id] = false
	w.hastened[fireOf{v.Job.Job, at}] = &early{run: id}
	w.saveVersion(v)
	w.say("the fire of %s at %s is to run early, as %s", v.Job.Job, instant(at), id)
	if o := w.owner; o != nil && !w.punctual && w.chance(30) { // it hears when the fire has run
		w.clock = max(w.clock, at+heardVersion{Version: v}.offset()-o.skew)
		w.step(o)
		return
	}
	if o := w.owner; o != nil && w.chance(50) {
		r := bus.TriggerRequest{RunID: id, Job: v.Job.Job, Cause: job.CauseManual, InsteadOf: instant(at)}
		w.asking = append(w.asking, simRequest{TriggerRequest: r, at: w.clock})
		if _, err := o.m.Requests.Submit(r); err != nil && o.heard == len(w.changes) {
			fail("who asks for run %s, of which its owner has heard, is told: %v", id, err)
		}
	}
}

// editOf returns the next version of a job, which says the same.
func (w *world) editOf(was *job.Version) *job.Version {
	v := *was
	v.Version++
	v.Task = job.Task{Shell: fmt.Sprintf("version %d", v.Version)}
	if v.EffectiveFrom = instant(w.clock); !v.EffectiveFrom.After(was.EffectiveFrom) {
		v.EffectiveFrom = instant(was.EffectiveFrom.UnixMilli() + 1)
		if w.punctual {
			w.clock = v.EffectiveFrom.UnixMilli()
		}
	}
	return &v
}

// saveVersion saves a job's next version.
func (w *world) saveVersion(v *job.Version) {
	if v.Deleted { // whoever makes the job anew begins anew
		v.Skips = nil
		maps.DeleteFunc(w.hastened, func(f fireOf, _ *early) bool { return f.job == v.Job.Job })
	}
	v.ForgetSkips()
	w.newest[v.Job.Job] = v
	w.keep(v)
	w.save(v)
}

// checkEarly sees that of a fire and the run in its place at most one is made, as a
// stored batch tells of a job.
func (w *world) checkEarly(name job.Name, lines []journal.Decided) {
	for _, l := range lines {
		switch l.Cause { //nolint:exhaustive // nobody runs early for the others
		case job.CauseManual:
			for f, e := range w.hastened {
				if e.run != l.RunID {
					continue
				}
				if e.made || e.refused {
					fail("run %s in the place of the fire of %s at %s is decided twice", e.run, f.job, instant(f.at))
				}
				e.refused = strings.HasPrefix(l.Reason, lateFor)
				e.made = !e.refused
			}
		case job.CauseSchedule, job.CauseMisfire:
			e := w.hastened[fireOf{name, l.FireTime.UnixMilli()}]
			switch {
			case e == nil:
			case strings.HasSuffix(l.Reason, string(e.run)):
				e.skipped = true
			case l.Status != job.StatusSkipped && l.Status != job.StatusMissed:
				e.ran = true
			}
		}
	}
	for f, e := range w.hastened {
		if e.made && e.ran {
			fail("the fire of %s at %s runs, and run %s in its place does too", f.job, instant(f.at), e.run)
		}
	}
}

// checkEarlyEnd sees, once everything has come to rest, that each run that was wanted
// early is made, or its fire was decided before.
func (w *world) checkEarlyEnd() {
	for f, e := range w.hastened {
		switch {
		case !e.made && !e.refused:
			fail("the fire of %s at %s was to run early, as %s; nothing became of that", f.job, instant(f.at), e.run)
		case e.skipped && e.refused:
			fail("the fire of %s at %s is skipped, and run %s in its place is not made", f.job, instant(f.at), e.run)
		}
	}
}
