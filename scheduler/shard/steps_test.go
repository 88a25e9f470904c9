package shard

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// after returns a step that does the handler of its name. Each source may have a condition behind a colon.
func after(name string, sources ...string) job.Step {
	s := job.Step{Step: workflow.Step{Name: name}, Task: job.Task{Handler: name}}
	for _, source := range sources {
		of, on, _ := strings.Cut(source, ":")
		if on == "" {
			on = string(workflow.OnSuccess)
		}
		s.After = append(s.After, workflow.Edge{Step: of, On: workflow.On(on)})
	}
	return s
}

func with(s job.Step, change func(*job.Step)) job.Step {
	change(&s)
	return s
}

func params(text string) func(*job.Step) {
	return func(s *job.Step) { s.Params = json.RawMessage(text) }
}

func onlyIf(text string) func(*job.Step) { return func(s *job.Step) { s.If = text } }

// flow is one run of a workflow, which fires a second after noon.
type flow struct {
	*bench
	steps []job.Step
	job   func(*job.Version)
	now   time.Duration
	seq   uint64
	asked int                     // how often somebody asked for a hold
	out   map[string]*bus.Trigger // by step
	// pieces are those of steps, by step and index.
	pieces map[string]*bus.Trigger
	said   []string             // what the records say of steps, and of the run
	told   []*journal.ParentEnd // what children are told
	// records and events are all that were stored.
	records []*journal.Record
	events  []*bus.Event
	written int // bytes that said how far the run had come
}

func newFlow(t *testing.T, steps ...job.Step) *flow {
	t.Helper()
	return &flow{bench: newBench(t), steps: steps, out: map[string]*bus.Trigger{}, pieces: map[string]*bus.Trigger{}}
}

// fire has the run begin.
func (f *flow) fire(change ...func(*job.Version)) {
	f.t.Helper()
	f.job = func(v *job.Version) {
		once := noon.Add(time.Second)
		v.Schedule.Once, v.Task, v.Steps = &once, job.Task{}, f.steps
		for _, c := range change {
			c(v)
		}
	}
	v := f.put(0, 1, f.job)
	if err := v.Validate(); err != nil {
		f.t.Fatal(err)
	}
	f.step(0, bus.MaxBatch)
	f.now = time.Second
	f.goOn()
}

// goOn makes steps of the machine until there is nothing more to do.
func (f *flow) goOn() {
	f.t.Helper()
	for {
		batch := f.m.Step(noon.Add(f.now).UnixMilli(), bus.MaxBatch)
		readAll(f.m, noon.Add(f.now).UnixMilli())
		if batch == nil {
			return
		}
		s := f.trig.publish(batch.Messages)
		if s == nil {
			f.t.Fatal("refused")
		}
		f.m.Committed(s.first)
		for _, t := range s.triggers {
			if t.Total > 0 {
				f.pieces[fmt.Sprint(t.Step, t.Index)] = t
			} else {
				f.out[t.Step] = t
			}
		}
		for _, k := range batch.Kills {
			f.said = append(f.said, f.stepOf(k.RunID)+" killed: "+k.Reason)
		}
		for _, d := range s.deferred {
			if d.Parent != nil {
				f.told = append(f.told, d.Parent)
			}
			if m, err := d.Msg(simShard); d.Kind == journal.DeferredSteps && err == nil {
				f.written += len(m.Data)
			}
		}
		if s.record != nil {
			f.hear(s.record)
		}
	}
}

// stepOf returns the step whose run that is, as far as an executor has it.
func (f *flow) stepOf(id job.RunID) string {
	for _, t := range f.out {
		if t.RunID == id {
			return t.Step
		}
	}
	for _, t := range f.pieces {
		if t.RunID == id {
			return t.Step
		}
	}
	return "nothing"
}

// hear keeps what a record says, but that steps have been triggered.
func (f *flow) hear(r *journal.Record) {
	f.records = append(f.records, r)
	err := r.Each(func(d journal.Decided) {
		who := "run"
		if d.Cause == job.CauseStep {
			who = d.Step
		}
		if (d.Status == job.StatusPending || d.Status == job.StatusRunning) && d.Reason == "" {
			return
		}
		line := fmt.Sprintf("%s %s", who, d.Status)
		if d.Reason != "" {
			line += ": " + d.Reason
		}
		f.said = append(f.said, line)
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// ends has a step end that an executor has.
func (f *flow) ends(step string, s job.Status, result string) {
	f.t.Helper()
	t := f.out[step]
	if t == nil {
		f.t.Fatalf("step %s is not with an executor", step)
	}
	delete(f.out, step)
	e := bus.EventOf(t, bus.EventFinished, noon.Add(f.now))
	e.Status, e.Result = s, json.RawMessage(result)
	f.tell(e)
}

// tell has the machine hear of an event, and go on.
func (f *flow) tell(e *bus.Event) {
	f.t.Helper()
	f.events = append(f.events, e)
	f.seq++
	f.m.Event(e, f.seq, noon.Add(f.now).UnixMilli())
	f.goOn()
}

// succeed has another machine go on.
func (f *flow) succeed() {
	f.t.Helper()
	f.bench.succeed()
	f.put(0, 1, f.job)
	var seqs []uint64
	for seq := range f.trig.deferred {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	for _, seq := range seqs {
		if err := f.m.PutDeferred(f.trig.deferred[seq], seq); err != nil {
			f.t.Fatal(err)
		}
	}
	f.m.Events.Skip(f.seq)
	f.goOn()
}

func (f *flow) wantOut(want ...string) {
	f.t.Helper()
	var got []string
	for name := range f.out {
		got = append(got, name)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		f.t.Errorf("steps %v are with executors, want %v", got, want)
	}
}

// wantSaid compares what was said since it was last asked.
func (f *flow) wantSaid(want ...string) {
	f.t.Helper()
	f.want(f.said, want...)
	f.said = nil
}

func (f *flow) wantParams(step, want string) {
	f.t.Helper()
	if t := f.out[step]; t == nil || string(t.Params) != want {
		f.t.Errorf("step %s has the parameters %s, want %s", step, t.Params, want)
	}
}

// wantOver checks that nothing of the run is left.
func (f *flow) wantOver() {
	f.t.Helper()
	if n := len(f.m.runs.byID); n != 0 {
		f.t.Errorf("%d runs are alive", n)
	}
	for _, seq := range f.m.Released() {
		f.trig.remove(seq)
	}
	for _, d := range f.trig.deferred {
		if d.Kind != journal.DeferredAsked { // which goes after a while
			f.t.Errorf("an item is left: %+v", d)
		}
	}
	for _, d := range f.m.steps.definitions {
		if d.uses != 0 {
			f.t.Errorf("a definition has %d uses", d.uses)
		}
	}
}

func TestStepsFollowEachOtherAndPassValuesOn(t *testing.T) {
	f := newFlow(t,
		with(after("extract"), params(`{"day":"${fire_time|yyyy-MM-dd}","region":"${params.region}"}`)),
		with(after("clean", "extract"), params(`{"path":"${results.extract.path}"}`)),
		after("enrich", "extract"),
		with(after("load", "clean", "enrich"), params(`{"clean":"${results.clean.path}","extra":"${results.enrich}","of":"${workflow.run_id}"}`)))
	f.fire(func(v *job.Version) {
		v.Params, v.Result = json.RawMessage(`{"region":"eu"}`), json.RawMessage(`{"rows":"${results.load.rows}"}`)
		v.Children = []job.Child{{Job: "g/child", On: job.OnSuccess, PassResult: true}}
	})
	run := f.out["extract"].ParentRun
	f.wantOut("extract")
	f.wantParams("extract", `{"day":"2026-03-02","region":"eu"}`)
	if e := f.out["extract"]; e.Cause != job.CauseStep || e.Task.Handler != "extract" || e.RunID != job.StepRunID(run, "extract") {
		t.Errorf("the trigger of a step is %+v", e)
	}
	f.ends("extract", job.StatusSucceeded, `{"path":"/a","big":9007199254740993}`)
	f.wantOut("clean", "enrich")
	f.wantParams("clean", `{"path":"/a"}`)
	f.wantParams("enrich", `{"region":"eu"}`)
	f.ends("enrich", job.StatusSucceeded, `9007199254740993`)
	f.succeed()
	f.wantOut("clean")
	f.ends("clean", job.StatusSucceeded, `{"path":"/b"}`)
	if n := len(f.m.runs.byID[run].steps.results); n != 3 {
		t.Errorf("%d results are kept, want those of extract, enrich and clean, which load or its retry may ask for", n)
	}
	f.wantParams("load", fmt.Sprintf(`{"clean":"/b","extra":9007199254740993,"of":%q}`, run))
	f.wantSaid()
	f.ends("load", job.StatusSucceeded, `{"rows":7}`)
	f.wantSaid("run succeeded")
	if len(f.told) != 1 || string(f.told[0].Params) != `{"rows":7}` {
		t.Errorf("children are told %+v", f.told)
	}
	f.wantOver()
}

func TestWhyAStepDoesNotRun(t *testing.T) {
	f := newFlow(t,
		after("check"),
		with(after("full", "check"), onlyIf("results.check.rows > 0")),
		with(after("empty", "check"), onlyIf("results.check.rows == 0")),
		with(after("book", "full", "empty"), func(s *job.Step) { s.Join.Taken = true }),
		after("tell", "book:failure"),
		with(after("odd", "check"), onlyIf("results.check.none == 1")),
		with(after("late", "check"), params(`{"x":"${results.check.none}"}`)),
		after("last", "odd", "tell:always"),
		with(after("unlock"), func(s *job.Step) {
			s.Finally, s.Params = true, json.RawMessage(`{"status":"${workflow.status}"}`)
		}))
	f.fire()
	f.ends("check", job.StatusSucceeded, `{"rows":3}`)
	f.wantOut("full")
	f.wantSaid(
		`empty skipped: its condition is false: results.check.rows == 0`,
		`odd failed: its condition cannot be computed: no such key: none`,
		`late failed: its parameters cannot be computed: results.check has no field none; it has rows`)
	f.ends("full", job.StatusSucceeded, ``)
	f.wantOut("book")
	f.ends("book", job.StatusSucceeded, ``)
	f.wantOut("unlock")
	f.wantParams("unlock", `{"status":"failed"}`)
	f.wantSaid(
		`tell skipped: it runs on failure of step book, which ended as succeeded`,
		`last skipped: it runs on success of step odd, which ended as failed`)
	f.ends("unlock", job.StatusSucceeded, ``)
	f.wantSaid(`run failed: 2 of 9 steps ended badly: odd, late`)
	f.wantOver()
}

func TestAStepIsTriedAgainByItsOwnRule(t *testing.T) {
	f := newFlow(t, with(after("a"), func(s *job.Step) { s.Retry = &job.Retry{Limit: 1, Delay: job.Duration(time.Minute)} }), after("b"))
	f.fire()
	f.ends("a", job.StatusFailed, ``)
	f.ends("b", job.StatusFailed, ``)
	f.wantSaid(`a queued: attempt 1 failed; the next is due 1m later`)
	f.succeed()
	f.now += time.Minute
	f.goOn()
	f.wantOut("a")
	if n := f.out["a"].Attempt; n != 2 {
		t.Errorf("attempt %d", n)
	}
	f.ends("a", job.StatusSucceeded, ``)
	f.wantSaid(`run failed: 1 of 2 steps ended badly: b`)
	f.wantOver()
}

func TestAtMostSoManyStepsAreOutAtOnce(t *testing.T) {
	f := newFlow(t, after("a"), after("b"), after("c"))
	f.fire(func(v *job.Version) { v.AtOnce = 2 })
	f.wantOut("a", "b")
	f.ends("a", job.StatusSucceeded, ``)
	f.wantOut("b", "c")
}

func TestAWideWorkflowLeavesRoomForOthers(t *testing.T) {
	var steps []job.Step
	for i := range workflow.MaxSteps {
		steps = append(steps, after(fmt.Sprintf("s%d", i)))
	}
	f := newFlow(t, steps...)
	f.job = func(v *job.Version) {
		once := noon.Add(time.Second)
		v.Schedule.Once, v.Task, v.Steps = &once, job.Task{}, steps
	}
	f.put(0, 1, f.job)
	f.step(0, bus.MaxBatch)
	for n := 0; n < workflow.MaxSteps; {
		s := f.publish(time.Second)
		if s == nil || len(s.triggers) > stepsAtOnce {
			t.Fatalf("after %d steps: %+v", n, s)
		}
		n += len(s.triggers)
	}
}

func TestALongChainWritesLittleOfHowFarItHasCome(t *testing.T) {
	const most = 2 << 20
	steps := []job.Step{after("s0")}
	for i := range workflow.MaxSteps - 1 {
		steps = append(steps, after(fmt.Sprintf("s%d", i+1), fmt.Sprintf("s%d", i)))
	}
	f := newFlow(t, steps...)
	f.fire()
	for i := range steps {
		f.ends(steps[i].Name, job.StatusSucceeded, "")
	}
	f.wantOver()
	if f.written > most {
		t.Errorf("a chain of %d steps writes %d bytes, want at most %d", len(steps), f.written, most)
	}
}

func TestRunsOfAWorkflowOverlapAsAWhole(t *testing.T) {
	f := newFlow(t, after("a"), after("b"))
	f.fire(func(v *job.Version) {
		v.Overlap = job.Overlap{Policy: job.OverlapSkip, Limit: 1}
		v.Schedule.Once = nil
		every(time.Second, job.FireAll)(v)
	})
	f.now += time.Second
	f.goOn()
	f.wantSaid("run skipped: overlap limit reached: 1 run is still alive")
	f.ends("a", job.StatusSucceeded, ``)
	f.ends("b", job.StatusSucceeded, ``)
	f.now += time.Second
	f.goOn()
	f.wantOut("a", "b")
}
