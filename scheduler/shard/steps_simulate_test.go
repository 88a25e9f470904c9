package shard

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// stepWorld is runs of a random workflow, with owners that die at any moment, and executors whose ends come in
// any order. The first run fires; others repeat it in part.
type stepWorld struct {
	t       *testing.T
	rng     *rand.Rand
	version *job.Version
	trig    *stream
	m       *Machine
	now     time.Duration
	events  []*bus.Event // of EVT, the first with sequence 1
	records []*journal.Record
	told    int // how many the owner has heard

	plays     []*stepPlay
	killed    map[job.RunID]bool
	cancelled bool
	batches   int // how many are stored
	log       []string
}

// play returns the run with that id, if it is known.
func (w *stepWorld) play(id job.RunID) *stepPlay {
	for _, p := range w.plays {
		if p.id == id {
			return p
		}
	}
	return nil
}

func (w *stepWorld) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(w.log, "\n"))
}

func (w *stepWorld) say(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *stepWorld) chance(percent int) bool { return w.rng.IntN(100) < percent }

// unfillable are parameters of a step that cannot be computed.
const unfillable = `{"x":"${params.gone}"}`

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
		if w.chance(8) {
			s.Params = []byte(unfillable)
		}
		if w.chance(30) {
			s.Retry = &job.Retry{Limit: 1 + w.rng.IntN(2), Delay: job.Duration(time.Minute)}
		}
		if w.chance(25) {
			w.mapStep(&s)
		}
		if w.chance(15) {
			s.Rerun = workflow.RerunAlways
		}
		if w.chance(25) {
			s = job.Step{Step: s.Step, If: s.If, Wait: w.randomWait()}
		}
		steps = append(steps, s)
	}
	return steps
}

func newStepWorld(t *testing.T, seed uint64) *stepWorld {
	t.Helper()
	w := &stepWorld{
		t: t, rng: rand.New(rand.NewPCG(seed, 3)), trig: newStream(&journal.Cursor{Shard: simShard, Done: noon}), killed: map[job.RunID]bool{},
	}
	w.say("seed %d", seed)
	once := noon.Add(time.Second)
	v := &job.Version{Version: 1, EffectiveFrom: noon}
	v.Job.Job, v.Schedule.Once, v.Steps = "g/a", &once, w.randomSteps()
	v.Params = []byte(`{"x":1,"list":[10,11,12],"none":[]}`)
	v.AtOnce = w.rng.IntN(4)
	if w.chance(50) {
		v.Overlap = job.Overlap{Policy: job.OverlapQueue, Limit: 1, Queue: 5}
	}
	v.OnFailure = []job.FailurePolicy{"", "", "", job.FailureStops, job.FailureCancels}[w.rng.IntN(5)]
	v.Job = v.WithDefaults()
	if v.Validate() != nil {
		v.OnFailure = "" // a step waits for a failure
	}
	if err := v.Validate(); err != nil {
		w.fail("%v", err)
	}
	w.version = v
	w.plays = append(w.plays, w.newPlay(job.FireRunID("g/a", once.UnixMilli(), job.CauseSchedule), nil))
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
	switch w.rng.IntN(11) {
	case 10:
		w.plays[w.rng.IntN(len(w.plays))].tell()
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
	readAll(w.m, noon.Add(w.now).UnixMilli())
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
	w.checkWaits()
	for _, k := range batch.Kills {
		w.killed[k.RunID] = true
	}
}

// note follows what a stored batch says.
func (w *stepWorld) note(s *stored) {
	w.batches++
	if s.record != nil {
		w.hear(s.record)
	}
	for _, d := range s.deferred {
		if p := w.play(d.RunID); d.Kind == journal.DeferredSteps && d.Steps.Hold.Text() != p.hold.Text() {
			w.fail("the item of %s says of its hold %s, and the records say %s", p.id, d.Steps.Hold.Text(), p.hold.Text())
		}
		if d.Kind == journal.DeferredSteps && strings.Count(d.Steps.States, "w") != len(d.Steps.Waits) {
			w.fail("the item with %s has the waits %v", d.Steps.States, d.Steps.Waits)
		}
	}
	for _, t := range s.triggers {
		w.say("%s attempt %d of %s is triggered", t.Step, t.Attempt, t.ParentRun)
		w.play(t.ParentRun).begins(t)
	}
}

// hear follows what a record says.
func (w *stepWorld) hear(r *journal.Record) {
	w.records = append(w.records, r)
	err := r.Each(func(d journal.Decided) {
		w.say("record: %s of %s %s %s", d.RunID, d.Parent, d.Status, d.Reason)
		p := w.play(d.RunID)
		switch {
		case d.Cause == job.CauseStep:
			w.play(d.Parent).notes(d)
		case d.Hold != nil:
			p.noteHold(d.Hold)
		case d.Status.Final():
			p.over = append(p.over, d.Status)
		}
	})
	if err != nil {
		w.fail("%v", err)
	}
}

// endOne has a step end that an executor has.
func (w *stepWorld) endOne() {
	p := w.plays[w.rng.IntN(len(w.plays))]
	if w.chance(50) {
		p.endPiece()
	}
	if len(p.out) == 0 {
		return
	}
	names := slices.Sorted(maps.Keys(p.out))
	name := names[w.rng.IntN(len(names))]
	t := p.out[name]
	delete(p.out, name)
	e := bus.EventOf(t, bus.EventFinished, noon.Add(w.now))
	switch {
	case w.killed[t.RunID]:
		e.Status, e.Final = job.StatusCancelled, true
	case t.Attempt <= p.failures[name]:
		e.Status, e.Retry = job.StatusFailed, true
	default:
		e.Status = p.will[name]
		e.Final = e.Status != job.StatusSucceeded
	}
	w.say("%s attempt %d of %s ends as %s", name, t.Attempt, p.id, e.Status)
	if e.Status == job.StatusSucceeded {
		e.Result = resultOf(name)
	}
	if e.Status == job.StatusSucceeded || e.Final {
		p.end(name, e.Status)
	}
	w.events = append(w.events, e)
}

// tell has the owner hear of the next event.
func (w *stepWorld) tell() {
	w.told++
	w.m.Event(w.events[w.told-1], uint64(w.told), noon.Add(w.now).UnixMilli())
}

// cancel calls runs off, or steps of them that wait for their next attempts.
func (w *stepWorld) cancel() {
	for _, id := range slices.Sorted(maps.Keys(w.m.runs.byID)) {
		if w.chance(30) && w.m.Cancels.Add(id, "cancelled", w.chance(30)) {
			w.say("cancel %s", id)
			w.cancelled = true
		}
	}
}

// repeat asks for a run that repeats a part of one that is over, and asks on until it is stored.
func (w *stepWorld) repeat() {
	of := w.plays[w.rng.IntN(len(w.plays))]
	if len(of.over) != 1 || len(of.final) < len(w.version.Steps) {
		return
	}
	p := w.newPlay(job.RetryRunID(of.id, strconv.Itoa(len(w.plays))), of.takenOver(w))
	r := bus.TriggerRequest{
		RunID: p.id, Job: "g/a", Cause: job.CauseRerun, RetryOf: of.id, Version: 1, Body: bodyText(w.version), Taken: map[string]bus.TakenStep{},
	}
	for name := range p.taken {
		r.Taken[name] = bus.TakenStep{RunID: job.RoundRunID(of.id, name, of.round[name]+1), Result: resultOf(name)}
	}
	w.say("%s repeats %s, but for %v", p.id, of.id, slices.Sorted(maps.Keys(p.taken)))
	w.plays = append(w.plays, p)
	for {
		done, err := w.m.Requests.Submit(r)
		if err != nil {
			w.fail("%v", err)
		}
		if done != nil {
			return
		}
		w.step()
	}
}

// over reports whether all runs are.
func (w *stepWorld) over() bool {
	return !slices.ContainsFunc(w.plays, func(p *stepPlay) bool { return len(p.over) == 0 })
}

// run plays until all runs are over and nothing of them is left.
func (w *stepWorld) run() {
	cancelAt := -1
	if w.chance(25) {
		cancelAt = w.rng.IntN(150)
	}
	repeats, recovers, holds := w.rng.IntN(3), w.rng.IntN(30), w.rng.IntN(8)
	for n := 0; !w.over() || len(w.live()) > 0 || repeats > 0; n++ {
		if n > 20_000 {
			w.fail("the runs do not end; items %v", w.trig.deferred)
		}
		w.act()
		if n == cancelAt && w.m.cursor.flight == nil {
			w.cancel()
		}
		if p := w.plays[w.rng.IntN(len(w.plays))]; recovers > 0 && len(p.final) > 0 && w.chance(20) {
			p.recover()
			recovers--
		}
		if p := w.plays[w.rng.IntN(len(w.plays))]; p.hold.Held() && w.chance(10) {
			p.ask(true)
		} else if holds > 0 && w.chance(10) {
			p.ask(w.chance(20))
			holds--
		}
		if known := len(w.plays); repeats > 0 && w.chance(5) {
			if w.repeat(); len(w.plays) > known {
				repeats--
			}
		}
	}
	for _, p := range w.plays {
		p.check()
	}
}

// live returns the items that are left of runs.
func (w *stepWorld) live() (items []*journal.Deferred) {
	for _, d := range w.trig.deferred {
		if d.Kind != journal.DeferredAsked {
			items = append(items, d)
		}
	}
	return items
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
