package shard

import (
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// stepWait is what is known of the round of a step that waits: what it was told, or may have been, as a request may be lost
// with its owner.
type stepWait struct {
	wait                  *runlog.Wait // as it was recorded; nil before it begins
	approved              map[string]bool
	signal, rejected, met bool
	ended                 job.Status
}

// unfillableKey is a key that cannot be computed.
const unfillableKey = "${params.gone}"

// randomWait returns a wait of any kind.
func (w *stepWorld) randomWait() *job.Wait {
	wait := &job.Wait{}
	switch w.rng.IntN(7) {
	case 0:
		wait.For = job.Duration(w.rng.IntN(180)+1) * job.Duration(time.Second)
		return wait
	case 1:
		wait.Until = fmt.Sprintf("${fire_time|%+dm}", w.rng.IntN(10)-2)
		return wait
	case 2, 3:
		wait.Signal = []string{"go", "paid"}[w.rng.IntN(2)]
		wait.Key = []string{"", "", "${params.x}", unfillableKey}[w.rng.IntN(4)]
	case 4, 5:
		wait.Approval = &job.Approval{Min: 1 + w.rng.IntN(2)}
	case 6:
		wait.Runs = &job.AwaitedRuns{Job: "g/b", Last: 1}
	}
	if w.chance(50) {
		wait.Expires = job.Duration(w.rng.IntN(300)+1) * job.Duration(time.Second)
	}
	return wait
}

// waitOf returns what is known of a step's round.
func (p *stepPlay) waitOf(step string) *stepWait {
	if p.waits[step] == nil {
		p.waits[step] = &stepWait{approved: map[string]bool{}}
	}
	return p.waits[step]
}

// tell sends something that a step may wait for, and maybe sends it again.
func (p *stepPlay) tell() {
	w := p.w
	s := &w.version.Steps[w.rng.IntN(len(w.version.Steps))]
	if s.Wait == nil {
		return
	}
	r := bus.WaitRequest{ID: job.NewRunID(noon.Add(w.now)), RunID: p.id, Job: "g/a", Step: s.Name, By: []string{"ann", "bob", "cho"}[w.rng.IntN(3)]}
	switch {
	case s.Wait.Signal != "":
		r.Act, r.Step, r.Signal, r.Result = bus.WaitSignal, "", s.Wait.Signal, []byte(`"sent"`)
		r.Key = []string{"", "1", "2"}[w.rng.IntN(3)]
	case s.Wait.Approval != nil && w.chance(80):
		r.Act = bus.WaitApprove
	case s.Wait.Approval != nil:
		r.Act = bus.WaitReject
	default: // also for one that waits for time
		r.Act = bus.WaitMet
		r.Result = fmt.Appendf(nil, `{"met":1,"of":1,"runs":[{"fire_time":%q,"run_id":%q}]}`, noon.Format(time.RFC3339), job.FireRunID("g/b", noon.UnixMilli(), job.CauseSchedule))
	}
	for range 1 + w.rng.IntN(2) {
		done, err := w.m.Requests.Wait(r)
		w.say("%s %s of %s, key %q, by %s: %v %v", r.Act, s.Name, p.id, r.Key, r.By, done, err)
		if err == nil && done == nil {
			p.mayBeTold(&r)
		}
		if w.chance(50) {
			w.step()
		}
	}
}

// mayBeTold notes a request that the owner has taken. A signal may be for any step that waits for it.
func (p *stepPlay) mayBeTold(r *bus.WaitRequest) {
	for i := range p.w.version.Steps {
		s := &p.w.version.Steps[i]
		if s.Wait != nil && r.Act == bus.WaitSignal && s.Wait.Signal == r.Signal && (r.Key == "" || s.Wait.Key == "${params.x}" && r.Key == "1") {
			p.waitOf(s.Name).signal = true
		}
	}
	switch r.Act {
	case bus.WaitApprove:
		p.waitOf(r.Step).approved[r.By] = true
	case bus.WaitReject:
		p.waitOf(r.Step).rejected = true
	case bus.WaitMet:
		p.waitOf(r.Step).met = true
	case bus.WaitSignal:
	}
}

// noteWait follows what a record says of a step that waits.
func (p *stepPlay) noteWait(d journal.Decided) {
	s := p.step(d.Step)
	if s.Wait == nil {
		if d.Wait != nil {
			p.w.fail("step %s waits for %v", d.Step, d.Wait)
		}
		return
	}
	of := p.waitOf(d.Step)
	switch {
	case d.Status == job.StatusQueued && d.Wait != nil:
		p.noteBegun(s, of, d.Wait)
	case d.Status.Final():
		of.ended = d.Status
		p.noteWaited(s, of, d.Status)
	}
}

// noteBegun follows that a step has begun to wait, or has one of several approvals.
func (p *stepPlay) noteBegun(s *job.Step, of *stepWait, wait *runlog.Wait) {
	w := p.w
	switch {
	case of.wait != nil && (!of.wait.Since.Equal(wait.Since) || len(wait.Approvals) != len(of.wait.Approvals)+1 || len(wait.Approvals) >= wait.Min):
		w.fail("step %s of %s waits for %+v, and then for %+v", s.Name, p.id, of.wait, wait)
	case of.wait == nil && (len(wait.Approvals) > 0 || !wait.Since.Equal(noon.Add(w.now))):
		w.fail("step %s of %s begins with %+v at %s", s.Name, p.id, wait, w.now)
	case p.final[s.Name] != "" || p.taken[s.Name] || p.resolved[s.Name] != "":
		w.fail("step %s of %s waits, but is %s", s.Name, p.id, p.final[s.Name])
	case of.wait == nil && p.hold.Held():
		w.fail("step %s of %s begins to wait, though the run is on hold", s.Name, p.id)
	case of.wait == nil && p.stopped > 0 && p.stopped < w.batches && !s.Finally:
		w.fail("step %s of %s begins to wait, though one has failed", s.Name, p.id)
	}
	of.wait = wait
	w.say("step %s of %s waits for %s", s.Name, p.id, wait.Text())
}

// noteWaited checks that a wait could end as it did.
func (p *stepPlay) noteWaited(s *job.Step, of *stepWait, is job.Status) {
	now, begun := noon.Add(p.w.now), of.wait != nil
	timed := s.Wait.For != 0 || s.Wait.Until != ""
	may := true
	switch is { //nolint:exhaustive // whatever else, anybody may have cancelled or resolved it
	case job.StatusTimedOut:
		may = begun && !timed && !of.wait.Expires.IsZero() && !of.wait.Expires.After(now)
	case job.StatusFailed:
		may = of.rejected && begun || !begun && (s.Wait.Key == unfillableKey || s.If == "params.gone > 1")
	case job.StatusSucceeded:
		switch {
		case p.resolved[s.Name] != "" || p.taken[s.Name]:
		case s.Wait.For != 0:
			may = begun && !of.wait.At.After(now)
		case s.Wait.Until != "":
			may = !begun || !of.wait.At.After(now)
		case s.Wait.Signal != "":
			may = of.signal
		case s.Wait.Approval != nil:
			may = begun && len(of.approved) >= s.Wait.Approval.Least()
		default:
			may = begun && of.met
		}
	}
	if !may {
		p.w.fail("step %s of %s ends as %s at %s, and was told %+v", s.Name, p.id, is, p.w.now, of)
	}
}

// waitOwed returns how a step has to end that waits, and may run: as [stepPlay.noteWaited] has checked, unless it is of a
// kind that ends in one way only.
func (p *stepPlay) waitOwed(s *job.Step) job.Status {
	switch {
	case s.Wait.Key == unfillableKey:
		return job.StatusFailed
	case s.Wait.For != 0 || s.Wait.Until != "":
		return job.StatusSucceeded
	case p.waitOf(s.Name).ended == "":
		return "never ended"
	}
	return p.waitOf(s.Name).ended
}

// checkWaits compares what the machine knows of waits: each pending step has a run and a wait, and no other has.
func (w *stepWorld) checkWaits() {
	for id, a := range w.m.runs.byID {
		if a.steps == nil {
			if a.stage == waiting && (a.over || a.of.steps.out[a.index] != a) {
				w.fail("the wait %s is left behind", id)
			}
			continue
		}
		for i, s := range a.steps.states {
			wait, run := a.steps.waits[i], a.steps.out[i]
			if (s == workflow.Pending) != (wait != nil) || (wait != nil) != (run != nil && run.stage == waiting) || wait != nil && w.m.runs.byID[run.runID] != run {
				w.fail("step %d of %s is %c, waits for %v, and has the run %v", i, id, s, wait, run)
			}
		}
	}
}
