package shard

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// callWorld is the shards of several partitions, with workflows that call each other's jobs.
type callWorld struct {
	t          *testing.T
	rng        *rand.Rand
	partitions bus.Partitions
	now        time.Duration
	last       []uint64 // sequences of the streams
	shards     []*callShard
	jobs       map[int][]*job.Version // by shard
	forgotten  map[job.Name]bool      // removed while runs of them may be alive
	out        []*bus.Trigger         // with the executors
	begun      map[job.RunID]int
	ended      map[job.RunID]job.Status // by executors and records, the last one counts
	final      map[job.RunID]int        // how many records say that a run has ended
	answers    map[job.RunID]int        // letters that say so
	by         map[job.RunID]job.Name   // whose end that is
	crashes    int
	killed     int // runs that executors had, because a workflow was called off
}

// callShard is one shard with its owner.
type callShard struct {
	n         int
	m         *Machine
	cursor    *journal.Cursor
	cursorSeq uint64
	items     map[uint64]*journal.Deferred
	events    []*bus.Event
	heard     int
}

const callShards = 6

// nameOn returns the name of a job whose shard is n.
func nameOn(n int, prefix string) job.Name {
	for i := 0; ; i++ {
		if name := job.Name(fmt.Sprintf("g%d/%s-%d", n, prefix, i)); name.Shard(callShards) == n {
			return name
		}
	}
}

func newCallWorld(t *testing.T, seed uint64) *callWorld {
	t.Helper()
	w := &callWorld{
		t: t, rng: rand.New(rand.NewPCG(seed, 7)), partitions: 3, last: make([]uint64, 3), jobs: map[int][]*job.Version{}, forgotten: map[job.Name]bool{},
		begun: map[job.RunID]int{}, ended: map[job.RunID]job.Status{}, final: map[job.RunID]int{}, answers: map[job.RunID]int{}, by: map[job.RunID]job.Name{},
	}
	for n := range callShards {
		w.shards = append(w.shards, &callShard{n: n, cursor: &journal.Cursor{Shard: n, Done: noon}, items: map[uint64]*journal.Deferred{}})
		w.put(nameOn(n, "plain"), func(v *job.Version) {
			if w.chance(50) {
				v.Overlap = job.Overlap{Policy: job.OverlapQueue, Limit: 1, Queue: 1, WhenFull: job.SkipOldest}
			}
			v.Children = []job.Child{{Job: nameOn(0, "child"), On: job.OnEnd}} // which a called run does not have
		})
		w.put(nameOn(n, "paused"), func(v *job.Version) { v.Paused = true })
		w.put(nameOn(n, "inner"), func(v *job.Version) { w.calling(v, "plain") })
		w.put(nameOn(n, "outer"), func(v *job.Version) {
			once := noon.Add(time.Second)
			v.Schedule.Once = &once
			w.calling(v, "plain", "inner", "paused", "gone")
			v.TotalTimeout = job.Duration(w.rng.Int64N(2)) * job.Duration(4*time.Minute)
		})
	}
	for _, s := range w.shards {
		w.boot(s)
	}
	return w
}

func (w *callWorld) chance(percent int) bool { return w.rng.IntN(100) < percent }

func (w *callWorld) put(name job.Name, change func(*job.Version)) {
	v := &job.Version{Version: 1, EffectiveFrom: noon}
	v.Job.Job, v.Task.Handler = name, "h"
	change(v)
	v.Job = v.WithDefaults()
	n := name.Shard(callShards)
	w.jobs[n] = append(w.jobs[n], v)
}

// calling makes a job one of steps that call others of these kinds, in all shards.
func (w *callWorld) calling(v *job.Version, kinds ...string) {
	v.Task = job.Task{}
	for i := range 1 + w.rng.IntN(4) {
		s := job.Step{Step: workflow.Step{Name: fmt.Sprintf("s%d", i)}, Call: nameOn(w.rng.IntN(callShards), kinds[w.rng.IntN(len(kinds))])}
		if i > 0 && w.chance(40) {
			s.After = []workflow.Edge{{Step: "s0", On: workflow.OnAlways}}
			s.Params = json.RawMessage(`{"of":"${results.s0?}"}`)
		}
		if w.chance(20) {
			s.Timeout = job.Duration(2 * time.Minute)
		}
		v.Steps = append(v.Steps, s)
	}
}

// boot gives a shard a new owner.
func (w *callWorld) boot(s *callShard) {
	w.crashes++
	s.m = New(Config{
		Tokens: tokens, Shard: s.n, Shards: callShards, Partitions: w.partitions, Epoch: 7, Node: "n", Planner: &job.Planner{},
	}, s.cursor, s.cursorSeq)
	s.m.Committed(w.publish(s, s.m.Claim(noon.Add(w.now).UnixMilli()).Messages))
	for i, v := range w.jobs[s.n] {
		if w.forgotten[v.Job.Job] {
			continue
		}
		if err := s.m.PutVersion(v, uint64(i+1)); err != nil {
			w.t.Fatal(err)
		}
	}
	s.heard = int(s.cursor.EventSeq)
	w.deliver(s)
}

// publish stores messages of an owner, and returns the sequence of the first.
func (w *callWorld) publish(s *callShard, messages []*nats.Msg) uint64 {
	p := w.partitions.Of(s.n)
	first := w.last[p] + 1
	for _, m := range messages {
		w.last[p]++
		var err error
		switch m.Header.Get(bus.HeaderMessage) {
		case bus.MessageCursor:
			s.cursor, err = journal.DecodeCursor(m.Header, m.Data)
			s.cursorSeq = w.last[p]
		case bus.MessageTrigger:
			var t *bus.Trigger
			t, err = bus.DecodeTrigger(m.Header, m.Data)
			w.begun[t.RunID]++
			w.out = append(w.out, t)
		case bus.MessageDeferred:
			var d *journal.Deferred
			d, err = journal.DecodeDeferred(m.Header, m.Data)
			for _, to := range w.shards {
				if m.Subject == bus.SubjectDeferred(to.n) {
					to.items[w.last[p]] = d
				}
			}
			if d.CallEnd != nil {
				w.answers[d.CallEnd.RunID]++
			}
		case bus.MessageRecord:
			if m.Subject == bus.SubjectRecord(s.n) {
				var r *journal.Record
				if r, err = journal.DecodeRecord(m.Header, m.Data); err == nil {
					err = r.Each(w.hear)
				}
			}
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return first
}

func (w *callWorld) hear(d journal.Decided) {
	if d.Job == nameOn(0, "child") {
		w.t.Errorf("a called run tells its job's children: %+v", d)
	}
	if d.Status.Final() && !d.Retry {
		w.ended[d.RunID] = d.Status
		w.final[d.RunID]++
		w.by[d.RunID] = d.Job
	}
}

// deliver tells an owner of letters and events.
func (w *callWorld) deliver(s *callShard) {
	for _, seq := range slices.Sorted(maps.Keys(s.items)) {
		if seq > s.m.LastItem() {
			if err := s.m.PutDeferred(s.items[seq], seq); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	for s.heard < len(s.events) {
		s.heard++
		s.m.Event(s.events[s.heard-1], uint64(s.heard), noon.Add(w.now).UnixMilli())
	}
}

// step makes a step of an owner, who may die around it. It returns false if there was nothing to do.
func (w *callWorld) step(s *callShard, calm bool) bool {
	w.deliver(s)
	room := bus.MaxBatch
	if w.chance(30) {
		room = 7 + w.rng.IntN(6)
	}
	batch := s.m.Step(noon.Add(w.now).UnixMilli(), room)
	readAll(s.m, noon.Add(w.now).UnixMilli())
	if batch != nil && len(batch.Messages) > room {
		w.t.Errorf("the batch has %d messages, and room is for %d", len(batch.Messages), room)
	}
	if batch == nil {
		return w.relay(s, calm)
	}
	switch dies := w.rng.IntN(100); {
	case !calm && dies < 8:
		w.boot(s)
		return true
	case !calm && dies < 16:
		w.publish(s, batch.Messages)
		w.boot(s)
		return true
	}
	s.m.Committed(w.publish(s, batch.Messages))
	if at, ok := s.m.NextAt(noon.Add(w.now).UnixMilli()); len(s.m.steps.callingOff) > 0 && (!ok || at > noon.Add(w.now).UnixMilli()) {
		w.t.Errorf("%d runs are to be called off, and the owner waits until %s", len(s.m.steps.callingOff), instant(at))
	}
	for _, k := range batch.Kills {
		for _, t := range slices.Clone(w.out) {
			if t.RunID == k.RunID {
				w.end(t, job.StatusCancelled)
				w.killed++
			}
		}
	}
	if calm || w.chance(50) {
		deleted := map[uint64]bool{}
		for _, seq := range s.m.Released() {
			deleted[seq] = true
			delete(s.items, seq)
		}
		s.m.Deleted(deleted)
	}
	return w.relay(s, calm) || len(batch.Messages) > 1 // beside the cursor
}

// relay sends letters to other partitions. The owner may die before it knows that they are stored.
func (w *callWorld) relay(s *callShard, calm bool) (sent bool) {
	for p := range w.partitions.Count() {
		letters := s.m.Relay.Next(p, 1+w.rng.IntN(3))
		for _, letter := range letters {
			w.last[p]++
			w.shards[letter.Shard].items[w.last[p]] = s.m.Relay.Item(letter)
			sent = true
		}
		if !calm && len(letters) > 0 && w.chance(10) {
			w.boot(s)
			return true
		}
		s.m.Relay.Sent(p, len(letters))
	}
	return sent
}

// forget removes a job that steps call, whatever runs of it are alive.
func (w *callWorld) forget() {
	s := w.shards[w.rng.IntN(len(w.shards))]
	name := nameOn(s.n, []string{"plain", "inner"}[w.rng.IntN(2)])
	if !w.forgotten[name] {
		w.forgotten[name] = true
		s.m.Forget(name, uint64(100+len(w.forgotten)))
	}
}

// end reports the end of a run.
func (w *callWorld) end(t *bus.Trigger, status job.Status) {
	w.out = slices.DeleteFunc(w.out, func(o *bus.Trigger) bool { return o == t })
	s := w.shards[t.Shard]
	s.events = append(s.events, &bus.Event{
		Kind: bus.EventFinished, Job: t.Job, Attempt: t.Attempt, RunID: t.RunID, Status: status, Result: json.RawMessage(`{"n":1}`),
	})
	if w.final[t.RunID] == 0 {
		w.ended[t.RunID] = status
	}
}

func (w *callWorld) play() {
	for range 300 {
		if w.chance(30) {
			w.now += time.Duration(w.rng.IntN(5)) * time.Second
		}
		if len(w.out) > 0 && w.chance(20) {
			w.end(w.out[w.rng.IntN(len(w.out))], []job.Status{job.StatusSucceeded, job.StatusSucceeded, job.StatusFailed}[w.rng.IntN(3)])
		}
		s := w.shards[w.rng.IntN(len(w.shards))]
		if w.chance(1) {
			for id, a := range s.m.runs.byID {
				if a.steps != nil && a.caller == nil {
					s.m.Cancels.Add(id, "called off by ann", false)
				}
			}
		}
		if w.chance(1) {
			w.forget()
		}
		w.step(s, false)
	}
	for quiet := 0; quiet < 3; quiet++ {
		if len(w.out) > 0 {
			quiet = 0
		}
		for _, t := range slices.Clone(w.out) {
			w.end(t, job.StatusSucceeded)
		}
		w.now += time.Minute
		for _, s := range w.shards {
			for w.step(s, true) {
				quiet = 0
			}
		}
	}
}

// check holds the whole against what calls promise.
func (w *callWorld) check() {
	for _, s := range w.shards {
		for id, a := range s.m.runs.byID {
			w.t.Errorf("run %s of %s is alive in the end, %v", id, a.job, a.stage)
		}
		for seq, d := range s.items {
			if !slices.Contains(s.cursor.Released, seq) && d.Kind != journal.DeferredFailures {
				w.t.Errorf("item %d is left in shard %d: %+v", seq, s.n, d)
			}
		}
		for _, v := range w.jobs[s.n] {
			if v.Schedule.Once != nil {
				w.checkRun(v, job.FireRunID(v.Job.Job, v.Schedule.Once.UnixMilli(), job.CauseSchedule))
			}
		}
	}
	for id, n := range w.begun {
		if n > 1 {
			w.t.Errorf("run %s has begun %d times", id, n)
		}
	}
	for id, n := range w.answers {
		if n > 1 {
			w.t.Errorf("%d answers to call %s", n, id)
		}
	}
}

// checkRun checks a run of a workflow, and those that it has called.
func (w *callWorld) checkRun(v *job.Version, run job.RunID) {
	status := w.ended[run]
	if w.final[run] != 1 {
		w.t.Errorf("%d records say that run %s of %s has ended, as %q", w.final[run], run, v.Job.Job, status)
	}
	bad := false
	for i := range v.Steps {
		id := job.StepRunID(run, v.Steps[i].Name)
		called := w.ended[id]
		bad = bad || called != job.StatusSucceeded
		switch {
		case called == "":
			w.t.Errorf("nothing is known of step s%d of run %s of %s, which is %s", i, run, v.Job.Job, status)
		case w.answers[id] == 0 && called != job.StatusCancelled && v.Steps[i].Call.Shard(callShards) != v.Job.Job.Shard(callShards):
			w.t.Errorf("there is no answer to call %s, which is %s", id, called)
		}
		for _, of := range w.jobs[v.Steps[i].Call.Shard(callShards)] {
			if of.Job.Job == v.Steps[i].Call && len(of.Steps) > 0 && w.by[id] == of.Job.Job && !w.forgotten[of.Job.Job] {
				w.checkRun(of, id)
			}
		}
	}
	if status == job.StatusSucceeded && bad || status == job.StatusFailed && !bad {
		w.t.Errorf("run %s of %s is %s, and its calls say otherwise", run, v.Job.Job, status)
	}
}

func TestRandomHistoriesCallEachJobOnceWhoeverDies(t *testing.T) {
	crashes, killed := 0, 0
	for seed := range histories(200) {
		w := newCallWorld(t, seed)
		w.play()
		w.check()
		crashes, killed = crashes+w.crashes, killed+w.killed
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if killed == 0 {
		t.Error("no called run was called off")
	}
	t.Logf("%d owners died, and %d called runs were killed", crashes, killed)
}
