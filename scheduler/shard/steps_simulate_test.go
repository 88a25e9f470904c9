package shard

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// stepWorld is one run of a random workflow, with owners that die at any moment, and executors whose ends
// come in any order.
type stepWorld struct {
	t       *testing.T
	rng     *rand.Rand
	version *job.Version
	trig    *stream
	m       *Machine
	now     time.Duration
	events  []*bus.Event // of EVT, the first with sequence 1
	told    int          // how many the owner has heard

	will      map[string]job.Status   // how each step ends, after its failed attempts
	failures  map[string]int          // how many of them there are
	out       map[string]*bus.Trigger // by step
	triggered map[string]bool         // step and attempt
	final     map[string]job.Status   // of each step, by record or event
	killed    map[job.RunID]bool
	cancelled bool
	over      []job.Status // of the run
	log       []string
}

func (w *stepWorld) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(w.log, "\n"))
}

func (w *stepWorld) say(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *stepWorld) chance(percent int) bool { return w.rng.IntN(100) < percent }

// randomSteps returns up to 12 steps with all kinds of edges and joins.
func (w *stepWorld) randomSteps() (steps []job.Step) {
	n := 1 + w.rng.IntN(12)
	finally := n
	if w.chance(50) {
		finally = n - w.rng.IntN(min(n, 3))
	}
	ons := []workflow.On{workflow.OnSuccess, workflow.OnSuccess, workflow.OnFailure, workflow.OnEnd, workflow.OnAlways}
	for i := range n {
		s := after(fmt.Sprintf("s%d", i))
		s.Finally, s.MayFail = i >= finally, w.chance(20)
		first := 0
		if s.Finally {
			first = finally
		}
		for k := first; k < i; k++ {
			if w.chance(40) {
				s.After = append(s.After, workflow.Edge{Step: fmt.Sprintf("s%d", k), On: ons[w.rng.IntN(len(ons))]})
			}
		}
		switch edges := len(s.After); {
		case edges == 0:
		case w.chance(20):
			s.Join.Taken = true
		case w.chance(30):
			s.Join.Least = 1 + w.rng.IntN(edges)
		}
		if w.chance(15) {
			s.If = []string{"1 == 2", "params.gone > 1", "params.x == 1"}[w.rng.IntN(3)]
		}
		if w.chance(30) {
			s.Retry = &job.Retry{Limit: 1 + w.rng.IntN(2), Delay: job.Duration(time.Minute)}
		}
		steps = append(steps, s)
		w.will[s.Name] = []job.Status{job.StatusSucceeded, job.StatusSucceeded, job.StatusSucceeded, job.StatusFailed, job.StatusTimedOut, job.StatusLost}[w.rng.IntN(6)]
		if s.Retry != nil && w.will[s.Name] == job.StatusSucceeded {
			w.failures[s.Name] = w.rng.IntN(s.Retry.Limit + 1)
		}
	}
	return steps
}

func newStepWorld(t *testing.T, seed uint64) *stepWorld {
	t.Helper()
	w := &stepWorld{
		t: t, rng: rand.New(rand.NewPCG(seed, 3)), trig: newStream(&journal.Cursor{Shard: simShard, Done: noon}), will: map[string]job.Status{},
		failures: map[string]int{}, out: map[string]*bus.Trigger{}, triggered: map[string]bool{}, final: map[string]job.Status{}, killed: map[job.RunID]bool{},
	}
	w.say("seed %d", seed)
	once := noon.Add(time.Second)
	v := &job.Version{Version: 1, EffectiveFrom: noon}
	v.Job.Job, v.Schedule.Once, v.Steps = "g/a", &once, w.randomSteps()
	v.Params = []byte(`{"x":1}`)
	v.AtOnce = w.rng.IntN(4)
	v.OnFailure = []job.FailurePolicy{"", "", "", job.FailureStops, job.FailureCancels}[w.rng.IntN(5)]
	v.Job = v.WithDefaults()
	if v.Validate() != nil {
		v.OnFailure = "" // a step waits for a failure
	}
	if err := v.Validate(); err != nil {
		w.fail("%v", err)
	}
	w.version = v
	w.begin()
	return w
}

// begin has another owner take over.
func (w *stepWorld) begin() {
	w.m = New(Config{Tokens: tokens, Shard: simShard, Epoch: 7, Node: "n", Planner: &job.Planner{}}, w.trig.cursor, w.trig.cursorSeq)
	if err := w.m.PutVersion(w.version, 1); err != nil {
		w.fail("%v", err)
	}
	for _, seq := range slices.Sorted(maps.Keys(w.trig.deferred)) {
		if err := w.m.PutDeferred(w.trig.deferred[seq], seq); err != nil {
			w.fail("%v", err)
		}
	}
	w.told = int(w.trig.cursor.EventSeq)
}

// act does something by chance.
func (w *stepWorld) act() {
	switch w.rng.IntN(10) {
	case 0, 1, 2, 3:
		w.step()
	case 4, 5:
		w.endOne()
	case 6, 7:
		for w.told < len(w.events) && w.chance(70) {
			w.tell()
		}
	case 8:
		w.now += time.Duration(w.rng.IntN(40)) * time.Second
	case 9:
		if w.chance(30) {
			w.say("the owner dies")
			w.begin()
		}
		for _, seq := range w.m.Released() {
			if w.trig.deferred[seq] != nil && w.chance(80) {
				w.trig.remove(seq)
				w.m.Deleted(map[uint64]bool{seq: true})
			}
		}
	}
}

// step makes one step of the machine. Its batch may be lost with the owner, or stored without its knowledge.
func (w *stepWorld) step() {
	room := bus.MaxBatch
	if w.chance(30) {
		room = 8 + w.rng.IntN(10)
	}
	batch := w.m.Step(noon.Add(w.now).UnixMilli(), room)
	if batch == nil {
		return
	}
	if n := len(batch.Messages); n > room {
		w.fail("the batch has %d messages, and room is for %d", n, room)
	}
	if w.chance(10) {
		w.say("a batch is lost with its owner")
		w.begin()
		return
	}
	s := w.trig.publish(batch.Messages)
	if s == nil {
		w.fail("refused")
	}
	w.note(s)
	if w.chance(10) {
		w.say("the owner dies after its batch")
		w.begin()
		return
	}
	w.m.Committed(s.first)
	for _, k := range batch.Kills {
		w.killed[k.RunID] = true
	}
}

// note follows what a stored batch says.
func (w *stepWorld) note(s *stored) {
	for _, t := range s.triggers {
		w.say("%s attempt %d is triggered", t.Step, t.Attempt)
		key := fmt.Sprintf("%s/%d", t.Step, t.Attempt)
		if w.triggered[key] || w.final[t.Step] != "" || w.out[t.Step] != nil {
			w.fail("step %s, attempt %d, is triggered again", t.Step, t.Attempt)
		}
		w.triggered[key], w.out[t.Step] = true, t
		if n := w.version.AtOnce; n > 0 && len(w.out) > n && t.Attempt == 1 {
			w.fail("%d steps are out, of at most %d", len(w.out), n)
		}
	}
	if s.record == nil {
		return
	}
	err := s.record.Each(func(d journal.Decided) {
		name := ""
		for i := range w.version.Steps {
			if n := w.version.Steps[i].Name; job.StepRunID(d.Parent, n) == d.RunID {
				name = n
			}
		}
		w.say("record: %q %s %s", name, d.Status, d.Reason)
		switch {
		case !d.Status.Final():
		case name != "":
			w.end(name, d.Status)
		default:
			w.over = append(w.over, d.Status)
		}
	})
	if err != nil {
		w.fail("%v", err)
	}
}

// end notes the final status of a step.
func (w *stepWorld) end(name string, s job.Status) {
	if was := w.final[name]; was != "" {
		w.fail("step %s ended as %s, and then as %s", name, was, s)
	}
	if len(w.over) > 0 {
		w.fail("step %s ended after its run", name)
	}
	w.final[name] = s
}

// endOne has a step end that an executor has.
func (w *stepWorld) endOne() {
	if len(w.out) == 0 {
		return
	}
	names := slices.Sorted(maps.Keys(w.out))
	name := names[w.rng.IntN(len(names))]
	t := w.out[name]
	delete(w.out, name)
	e := bus.EventOf(t, bus.EventFinished, noon.Add(w.now))
	switch {
	case w.killed[t.RunID]:
		e.Status, e.Final = job.StatusCancelled, true
	case t.Attempt <= w.failures[name]:
		e.Status, e.Retry = job.StatusFailed, true
	default:
		e.Status = w.will[name]
		e.Final = e.Status != job.StatusSucceeded
	}
	w.say("%s attempt %d ends as %s", name, t.Attempt, e.Status)
	if e.Status == job.StatusSucceeded || e.Final {
		w.end(name, e.Status)
	}
	w.events = append(w.events, e)
}

// tell has the owner hear of the next event.
func (w *stepWorld) tell() {
	w.told++
	w.m.Event(w.events[w.told-1], uint64(w.told), noon.Add(w.now).UnixMilli())
}

// cancel calls the run off, or a step of it that waits for its next attempt.
func (w *stepWorld) cancel() {
	for _, id := range slices.Sorted(maps.Keys(w.m.runs.byID)) {
		if w.chance(30) && w.m.Cancels.Add(id, "cancelled") {
			w.say("cancel %s", id)
			w.cancelled = true
		}
	}
}

// owed returns how the steps have to end if nobody calls the run off, by a look at each step alone. Steps stand
// behind their sources.
func (w *stepWorld) owed() map[string]job.Status {
	owed := map[string]job.Status{}
	bad := func(s job.Status) bool {
		return s == job.StatusFailed || s == job.StatusTimedOut || s == job.StatusLost
	}
	for i := range w.version.Steps {
		s := &w.version.Steps[i]
		met, skipped := 0, 0
		for _, e := range s.After {
			is := owed[e.Step]
			switch {
			case e.On == workflow.OnSuccess && is == job.StatusSucceeded, e.On == workflow.OnFailure && bad(is),
				e.On == workflow.OnEnd && (bad(is) || is == job.StatusSucceeded), e.On == workflow.OnAlways:
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
		case !runs, s.If == "1 == 2":
			owed[s.Name] = job.StatusSkipped
		case s.If == "params.gone > 1":
			owed[s.Name] = job.StatusFailed
		default:
			owed[s.Name] = w.will[s.Name]
		}
	}
	return owed
}

// run plays until the run is over and nothing of it is left.
func (w *stepWorld) run() {
	cancelAt := -1
	if w.chance(25) {
		cancelAt = w.rng.IntN(150)
	}
	for n := 0; len(w.over) == 0 || len(w.trig.deferred) > 0; n++ {
		if n > 20_000 {
			w.fail("the run does not end; steps %v, out %v, items %v", w.final, slices.Collect(maps.Keys(w.out)), w.trig.deferred)
		}
		w.act()
		if n == cancelAt && w.m.cursor.flight == nil {
			w.cancel()
		}
	}
	if len(w.over) != 1 || len(w.out) != 0 {
		w.fail("the run ended as %v, while %v are out", w.over, w.out)
	}
	if len(w.final) != len(w.version.Steps) {
		w.fail("of %d steps only %v are known to have ended", len(w.version.Steps), w.final)
	}
	if p := w.version.OnFailure; w.cancelled || p != "" {
		return
	}
	failed, ran := 0, 0
	for i := range w.version.Steps {
		s := &w.version.Steps[i]
		want := w.owed()[s.Name]
		if w.final[s.Name] != want {
			w.fail("step %s ended as %s; it had to end as %s", s.Name, w.final[s.Name], want)
		}
		if want != job.StatusSkipped {
			ran++
		}
		if want != job.StatusSkipped && want != job.StatusSucceeded && !s.MayFail {
			failed++
		}
	}
	want := job.StatusSucceeded
	if failed > 0 {
		want = job.StatusFailed
	} else if ran == 0 {
		want = job.StatusSkipped
	}
	if w.over[0] != want {
		w.fail("the run ended as %s; it had to end as %s", w.over[0], want)
	}
}

func TestRandomWorkflowsEndAsTheirGraphsSayThroughAnyCrash(t *testing.T) {
	seeds := uint64(2000)
	if testing.Short() {
		seeds = 400
	}
	for seed := range seeds {
		newStepWorld(t, seed).run()
	}
}
