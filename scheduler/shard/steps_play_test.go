package shard

import (
	"fmt"
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// stepPlay is one run of a workflow: what its steps will do, and what is known to have become of them.
type stepPlay struct {
	w         *stepWorld
	id        job.RunID
	taken     map[string]bool       // steps that are taken over from another run
	will      map[string]job.Status // how each step ends, after its failed attempts
	failures  map[string]int        // how many of them there are
	out       map[string]*bus.Trigger
	mapped    map[string]*mappedPlay // steps that are done in pieces
	waits     map[string]*stepWait   // of each step that waits, what is known of it in its newest round
	triggered map[string]bool        // run of a step and attempt
	final     map[string]job.Status  // of each step in its newest round, by record or event
	round     map[string]int         // how often steps were retried or resolved, or decided again
	resolved  map[string]job.Status  // steps that somebody resolved
	keys      map[string]int         // how often somebody asked to retry or resolve a step
	recovered map[string]int         // how often that was done
	stopped   int                    // the batch since which no step may begin, as the scheduler failed one; 0 if none
	hold      *runlog.Hold           // that the records tell of last
	over      []job.Status           // of the run
}

func (w *stepWorld) newPlay(id job.RunID, taken map[string]bool) *stepPlay {
	p := &stepPlay{
		w: w, id: id, taken: taken, mapped: map[string]*mappedPlay{}, will: map[string]job.Status{}, failures: map[string]int{}, out: map[string]*bus.Trigger{},
		triggered: map[string]bool{}, final: map[string]job.Status{}, round: map[string]int{}, resolved: map[string]job.Status{},
		keys: map[string]int{}, recovered: map[string]int{}, waits: map[string]*stepWait{},
	}
	for i := range w.version.Steps {
		p.draw(&w.version.Steps[i])
	}
	return p
}

// draw chooses how a step ends.
func (p *stepPlay) draw(s *job.Step) {
	ends := []job.Status{job.StatusSucceeded, job.StatusSucceeded, job.StatusSucceeded, job.StatusFailed, job.StatusTimedOut, job.StatusLost}
	p.will[s.Name], p.failures[s.Name] = ends[p.w.rng.IntN(len(ends))], 0
	if s.Retry != nil && p.will[s.Name] == job.StatusSucceeded {
		p.failures[s.Name] = p.w.rng.IntN(s.Retry.Limit + 1)
	}
	if s.Map != nil {
		p.drawPieces(s)
	}
}

// recover asks to retry or resolve a step that has ended, and maybe asks again at once.
func (p *stepPlay) recover() {
	w := p.w
	s := &w.version.Steps[w.rng.IntN(len(w.version.Steps))]
	p.keys[s.Name]++
	r := bus.RecoverRequest{
		ID: job.RetryRunID(p.id, fmt.Sprint(s.Name, p.keys[s.Name])), RunID: p.id, Job: "g/a", Step: s.Name, By: "ann",
		As: []job.Status{"", "", job.StatusSucceeded, job.StatusSkipped}[w.rng.IntN(4)],
	}
	for range 1 + w.rng.IntN(3) {
		done, err := w.m.Requests.Recover(r)
		w.say("recover %s of %s as %q: %v %v", s.Name, p.id, r.As, done, err)
		if w.chance(50) {
			w.step()
		}
	}
}

// again notes that another round of a step begins.
func (p *stepPlay) again(d journal.Decided) {
	if p.out[d.Step] != nil || p.inPieces(d.Step) || p.final[d.Step] == "" || len(p.over) > 0 {
		p.w.fail("step %s of %s is %s, and begins another round", d.Step, p.id, p.final[d.Step])
	}
	delete(p.final, d.Step)
	delete(p.resolved, d.Step)
	delete(p.taken, d.Step)
	delete(p.waits, d.Step)
	p.round[d.Step]++
	if reason.Read(d.Reason).Code == reason.StepDecidedAgain.Code {
		return
	}
	p.stopped = 0
	if p.recovered[d.Step]++; p.recovered[d.Step] > p.keys[d.Step] {
		p.w.fail("step %s of %s is recovered %d times, and that was asked for %d times", d.Step, p.id, p.recovered[d.Step], p.keys[d.Step])
	}
	if d.Status.Final() {
		p.resolved[d.Step] = d.Status
	}
}

// begins notes that a step is triggered.
func (p *stepPlay) begins(t *bus.Trigger) {
	key := fmt.Sprintf("%s/%d/%d", t.RunID, t.Attempt, t.Index)
	goesOn := t.Attempt > 1 || p.inPieces(t.Step)
	if t.RunID != job.RoundRunID(p.id, t.Step, p.round[t.Step]+1) || p.resolved[t.Step] != "" {
		p.w.fail("step %s of %s is triggered as run %s in round %d", t.Step, p.id, t.RunID, p.round[t.Step]+1)
	}
	if p.triggered[key] || p.final[t.Step] != "" || p.out[t.Step] != nil || p.taken[t.Step] {
		p.w.fail("step %s of %s, attempt %d, is triggered again", t.Step, p.id, t.Attempt)
	}
	if p.hold.Held() && !goesOn {
		p.w.fail("step %s of %s begins, though the run is on hold", t.Step, p.id)
	}
	if p.stopped > 0 && p.stopped < p.w.batches && !goesOn && !p.step(t.Step).Finally {
		p.w.fail("step %s of %s begins, though one has failed", t.Step, p.id)
	}
	p.triggered[key] = true
	if t.Total > 0 {
		p.beginsPiece(t)
	} else {
		p.out[t.Step] = t
	}
	if n := p.w.version.AtOnce; n > 0 && p.outNow() > n && !goesOn {
		p.w.fail("%d steps are out, of at most %d", p.outNow(), n)
	}
}

// notes follows what a record says of a step.
func (p *stepPlay) notes(d journal.Decided) {
	if d.RunID == job.RoundRunID(p.id, d.Step, p.round[d.Step]+2) {
		p.again(d)
		p.draw(p.step(d.Step))
	}
	if d.RunID != job.RoundRunID(p.id, d.Step, p.round[d.Step]+1) {
		p.w.fail("%s is not the run of step %s in round %d", d.RunID, d.Step, p.round[d.Step]+1)
	}
	if d.Retry { // an attempt of pieces, of which another follows
		return
	}
	p.noteWait(d)
	if d.Status.Final() {
		p.end(d.Step, d.Status)
	}
	if endedBadly(d.Status) && !p.step(d.Step).MayFail && p.w.version.OnFailure != "" && p.stopped == 0 {
		p.stopped = p.w.batches
	}
}

func (p *stepPlay) step(name string) *job.Step {
	i := slices.IndexFunc(p.w.version.Steps, func(s job.Step) bool { return s.Name == name })
	return &p.w.version.Steps[i]
}

// end notes the final status of a step.
func (p *stepPlay) end(name string, s job.Status) {
	if was := p.final[name]; was != "" {
		p.w.fail("step %s ended as %s, and then as %s", name, was, s)
	}
	if len(p.over) > 0 {
		p.w.fail("step %s ended after its run", name)
	}
	p.final[name] = s
	if m := p.mapped[name]; m != nil {
		if len(m.out) > 0 {
			p.w.fail("step %s ended as %s, while %d of its pieces are out", name, s, len(m.out))
		}
		m.begun = false
	}
}

func endedBadly(s job.Status) bool {
	return s == job.StatusFailed || s == job.StatusTimedOut || s == job.StatusLost
}

// owed returns how the steps have to end if nobody calls the run off, by a look at each step alone, and at how
// its sources have ended. What the failure of another step has cancelled may have ended so.
func (p *stepPlay) owed() map[string]job.Status {
	owed := map[string]job.Status{}
	for i := range p.w.version.Steps {
		s := &p.w.version.Steps[i]
		met, skipped := 0, 0
		for _, e := range s.After {
			is := p.final[e.Step]
			switch {
			case e.On == workflow.OnSuccess && is == job.StatusSucceeded, e.On == workflow.OnFailure && endedBadly(is),
				e.On == workflow.OnEnd && (endedBadly(is) || is == job.StatusSucceeded), e.On == workflow.OnAlways:
				met++
			case is == job.StatusSkipped:
				skipped++
			}
		}
		runs := met == len(s.After)
		if s.Join.Taken {
			runs = met > 0 && met+skipped == len(s.After)
		} else if s.Join.Least > 0 {
			runs = met >= s.Join.Least
		}
		switch {
		case p.taken[s.Name]:
			owed[s.Name] = job.StatusSucceeded
		case p.resolved[s.Name] != "":
			owed[s.Name] = p.resolved[s.Name]
		case p.final[s.Name] == job.StatusCancelled && p.w.version.OnFailure != "" && !s.Finally:
			owed[s.Name] = job.StatusCancelled
		case p.final[s.Name] == job.StatusFailed && p.w.version.OnFailure == job.FailureCancels && (p.failures[s.Name] > 0 || s.Map != nil):
			owed[s.Name] = job.StatusFailed // its next attempt is cancelled
		case !runs, s.If == "1 == 2":
			owed[s.Name] = job.StatusSkipped
		case s.If == "params.gone > 1", s.Params != nil:
			owed[s.Name] = job.StatusFailed
		case s.Map != nil:
			owed[s.Name] = p.owedOfPieces(s)
		case s.Wait != nil:
			owed[s.Name] = p.waitOwed(s)
		default:
			owed[s.Name] = p.will[s.Name]
		}
	}
	return owed
}

// takenOver returns which steps a run takes over that repeats this one: what failed, or from some steps on.
func (p *stepPlay) takenOver(w *stepWorld) map[string]bool {
	from := map[string]bool{}
	failed := w.chance(50)
	repeated := map[string]bool{} // itself, or a source that it depends on
	for i := range w.version.Steps {
		s := &w.version.Steps[i]
		if !failed && w.chance(25) {
			from[s.Name] = true
		}
		repeated[s.Name] = from[s.Name] || s.Finally || failed && p.final[s.Name] != job.StatusSucceeded && p.final[s.Name] != job.StatusSkipped
		for _, e := range s.After {
			repeated[s.Name] = repeated[s.Name] || repeated[e.Step]
		}
	}
	taken := map[string]bool{}
	for i := range w.version.Steps {
		s := &w.version.Steps[i]
		if !repeated[s.Name] && p.final[s.Name] == job.StatusSucceeded && (s.Rerun != workflow.RerunAlways || !w.chance(50)) {
			taken[s.Name] = true
		}
	}
	return taken
}

// check compares how the run has ended with how it had to.
func (p *stepPlay) check() {
	w := p.w
	if len(p.over) != 1 || p.outNow() != 0 {
		w.fail("the run ended as %v, while %v are out", p.over, p.out)
	}
	if w.cancelled {
		return
	}
	if len(p.final) != len(w.version.Steps) {
		w.fail("of %d steps only %v are known to have ended", len(w.version.Steps), p.final)
	}
	failed, cancelled, ran := 0, 0, 0
	owed := p.owed()
	for i := range w.version.Steps {
		s := &w.version.Steps[i]
		want := owed[s.Name]
		if p.final[s.Name] != want {
			w.fail("step %s of %s ended as %s; it had to end as %s", s.Name, p.id, p.final[s.Name], want)
		}
		if want != job.StatusSkipped && want != job.StatusCancelled {
			ran++
		}
		switch {
		case s.MayFail:
		case endedBadly(want):
			failed++
		case want == job.StatusCancelled:
			cancelled++
		}
	}
	want := job.StatusSucceeded
	switch {
	case failed > 0:
		want = job.StatusFailed
	case cancelled > 0:
		want = job.StatusCancelled
	case ran == 0:
		want = job.StatusSkipped
	}
	if p.over[0] != want {
		w.fail("the run ended as %s; it had to end as %s", p.over[0], want)
	}
}
