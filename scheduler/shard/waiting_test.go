package shard

import (
	"encoding/json"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// later asks for a run so long after noon, and returns its id.
func (b *bench) later(after time.Duration, change func(*bus.TriggerRequest)) job.RunID {
	b.t.Helper()
	r := bus.TriggerRequest{RunID: job.NewRunID(noon), Job: "g/a", Cause: job.CauseAPI, Due: noon.Add(after)}
	change(&r)
	if _, err := b.m.Requests.Submit(r); err != nil {
		b.t.Fatal(err)
	}
	return job.LaterRunID(r.RunID, r.Due.UnixMilli())
}

func asIs(*bus.TriggerRequest) {}

// takeOver makes a successor that has heard of these versions, and of all items.
func (b *bench) takeOver(versions ...*job.Version) {
	b.t.Helper()
	b.succeed()
	for _, v := range versions {
		b.tell(v)
	}
	for seq := uint64(1); seq <= b.trig.last; seq++ {
		if d := b.trig.deferred[seq]; d != nil && !b.trig.released[seq] {
			if err := b.m.PutDeferred(d, seq); err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

func TestARunThatIsAskedForAtAnInstantWaitsUntilThen(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(*job.Version) {})
	id := b.later(time.Hour, func(r *bus.TriggerRequest) { r.Params = json.RawMessage(`{"n":1}`) })
	b.want(b.step(time.Second, bus.MaxBatch), "13:00:00 g/a@1 queued api: it waits until 2026-03-02T13:00:00Z")
	if at, ok := b.m.NextAt(noon.Add(59 * time.Minute).UnixMilli()); !ok || at > noon.Add(time.Hour).UnixMilli() {
		t.Errorf("it is due next at %s", instant(at))
	}
	b.want(b.step(time.Hour-time.Millisecond, bus.MaxBatch))

	v := b.put(time.Minute, 2, func(v *job.Version) { v.Task.Handler = "new" })
	b.takeOver(v)
	batch := b.m.Step(noon.Add(time.Hour).UnixMilli(), bus.MaxBatch)
	s := b.trig.publish(batch.Messages)
	if len(s.triggers) != 1 {
		t.Fatalf("triggers %+v", s.triggers)
	}
	trigger := s.triggers[0]
	if trigger.RunID != id || !trigger.FireTime.Equal(noon.Add(time.Hour)) || trigger.Version != 2 || trigger.Task.Handler != "new" || string(trigger.Params) != `{"n":1}` || trigger.Cause != job.CauseAPI {
		t.Errorf("triggered %+v", trigger)
	}
	b.m.Committed(s.first)
	for seq, d := range b.trig.deferred {
		if d.RunID == id && !b.trig.released[seq] {
			t.Errorf("item %+v is left", d)
		}
	}
}

func TestARequestForARunAtAnInstantThatComesAgainMeansTheSameRun(t *testing.T) {
	b := newBench(t)
	v := b.put(0, 1, func(*job.Version) {})
	r := bus.TriggerRequest{RunID: job.NewRunID(noon), Job: "g/a", Cause: job.CauseAPI, Due: noon.Add(time.Hour)}
	if done, err := b.m.Requests.Submit(r); done != nil || err != nil {
		t.Fatal(done, err)
	}
	b.step(time.Second, bus.MaxBatch)
	b.takeOver(v)
	r.Due = noon.Add(2 * time.Hour) // "in an hour", said again later
	done, err := b.m.Requests.Submit(r)
	if err != nil || done == nil || done.Reply().RunID != job.LaterRunID(r.RunID, noon.Add(time.Hour).UnixMilli()) || done.Status != job.StatusQueued {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestARunThatWasDueBeforeItWasAskedForRunsAtOnce(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(*job.Version) {})
	b.later(-3*time.Minute, asIs)
	b.want(b.step(0, bus.MaxBatch), "12:00:00 g/a@1 pending api: it was due 3m earlier")
}

func TestARunThatWaitsIsLateWithItsOwners(t *testing.T) {
	b := newBench(t)
	v := b.put(0, 1, func(*job.Version) {})
	b.later(2*time.Minute, asIs)
	b.later(time.Minute, asIs)
	b.step(time.Second, bus.MaxBatch)
	b.takeOver(v)
	b.want(b.step(time.Hour, bus.MaxBatch),
		"12:01:00 g/a@1 pending api: it was due 59m earlier", "12:02:00 g/a@1 pending api: it was due 58m earlier")
}

func TestAPauseHoldsWhatProgramsHaveAskedFor(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(*job.Version) {})
	b.later(time.Minute, asIs)
	b.later(2*time.Minute, func(r *bus.TriggerRequest) { r.Expires = noon.Add(10 * time.Minute) })
	b.later(3*time.Minute, func(r *bus.TriggerRequest) { r.Cause = job.CauseManual })
	b.step(time.Second, bus.MaxBatch)
	paused := b.put(30*time.Second, 2, func(v *job.Version) { v.Paused = true })
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@1 queued api: the job is paused")
	b.want(b.step(3*time.Minute, bus.MaxBatch),
		"12:02:00 g/a@1 queued api: the job is paused", "12:03:00 g/a@2 pending manual: it was requested for 2026-03-02T12:03:00Z")
	b.takeOver(paused)
	b.want(b.step(4*time.Minute, bus.MaxBatch),
		"12:01:00 g/a@1 queued api: the job is paused", "12:02:00 g/a@1 queued api: the job is paused")
	b.want(b.step(10*time.Minute, bus.MaxBatch), "12:02:00 g/a@1 missed api: it expired: it had to begin by 2026-03-02T12:10:00Z")
	b.step(3*time.Hour, bus.MaxBatch)
	b.takeOver(paused)
	b.want(b.step(4*time.Hour, bus.MaxBatch)) // of one that is held for so long a record says so already
	b.put(4*time.Hour, 3, func(*job.Version) {})
	b.want(b.step(5*time.Hour, bus.MaxBatch), "12:01:00 g/a@3 pending api: it was due 4h59m earlier")
}

func TestRunsThatWaitEndWithTheirJob(t *testing.T) {
	deleted := func(v *job.Version) { v.Deleted = true }
	const end = "13:00:00 g/a@1 cancelled api: the job was deleted"
	b := newBench(t)
	v1 := b.put(0, 1, func(*job.Version) {})
	b.later(time.Hour, asIs)
	b.step(time.Second, bus.MaxBatch)
	v2 := b.put(time.Minute, 2, deleted)
	v3 := b.put(2*time.Minute, 3, func(*job.Version) {}) // before the owner has done anything
	stored := *b.trig
	b.want(b.step(3*time.Minute, bus.MaxBatch), end)

	for name, successor := range map[string][]*job.Version{"deleted": {v1, v2}, "made anew": {v1, v2, v3}, "forgotten": nil, "forgotten, and made anew": {{Version: 0, Job: v1.Job, EffectiveFrom: v3.EffectiveFrom}}} {
		again := stored
		again.released = map[uint64]bool{}
		b.trig = &again
		b.takeOver(successor...)
		got := b.step(3*time.Minute, bus.MaxBatch)
		if len(got) != 1 || got[0] != end {
			t.Errorf("%s: decided %q", name, got)
		}
	}
}

func TestARunThatWaitsCanBeCancelled(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(*job.Version) {})
	id := b.later(time.Hour, asIs)
	b.step(time.Second, bus.MaxBatch)
	if !b.m.Cancels.Add(id, "not any more", false) || !b.m.Cancels.Add(id, "twice", false) {
		t.Fatal("it cannot be cancelled")
	}
	batch := b.m.Step(noon.Add(time.Minute).UnixMilli(), bus.MaxBatch)
	s := b.trig.publish(batch.Messages)
	b.m.Committed(s.first)
	if len(batch.Cancelled) != 2 || batch.Cancelled[0] != (Cancelled{id, job.StatusQueued}) || len(s.record.Outcomes) != 1 || s.record.Outcomes[0].Reason != "not any more" {
		t.Errorf("%+v, %+v", batch.Cancelled, s.record)
	}
	b.want(b.step(2*time.Hour, bus.MaxBatch))
}

func TestARunHasToBeginBeforeItExpires(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) { v.Overlap = job.Overlap{Policy: job.OverlapQueue, Limit: 1, Queue: 5} })
	b.later(0, func(r *bus.TriggerRequest) { r.Expires = noon.Add(time.Hour) })
	b.later(time.Minute, func(r *bus.TriggerRequest) { r.Expires = noon.Add(2 * time.Minute) })
	b.want(b.step(0, bus.MaxBatch), "12:00:00 g/a@1 pending api", "12:01:00 g/a@1 queued api: it waits until 2026-03-02T12:01:00Z")
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@1 queued api: it waits for 1 earlier run")
	b.want(b.step(2*time.Minute, bus.MaxBatch), "12:01:00 g/a@1 missed api: it expired: it had to begin by 2026-03-02T12:02:00Z")
	// No instance begins the other one.
	b.want(b.step(time.Hour+startMargin, bus.MaxBatch), "12:00:00 g/a@1 missed api: it expired: it had to begin by 2026-03-02T13:00:00Z")
}

func TestParametersThatDoNotFitTheNewestVersionAreSaid(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(*job.Version) {})
	b.later(time.Hour, func(r *bus.TriggerRequest) { r.Labels = job.Labels{"zone": "a"} })
	b.step(time.Second, bus.MaxBatch)
	b.put(time.Minute, 2, func(v *job.Version) {
		v.Task = job.Task{}
		v.Steps = []job.Step{after("one")}
	})
	got := b.step(time.Hour, bus.MaxBatch)
	if len(got) != 1 || !strings.HasPrefix(got[0], "13:00:00 g/a@2 skipped api: labels are those of the steps") {
		t.Errorf("decided %q", got)
	}
}

// TestManyRunsThatWaitLeaveRoomForOthers has so many runs end, or be due, at once that their items could fill
// the list of the cursor.
func TestManyRunsThatWaitLeaveRoomForOthers(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(*job.Version) {})
	b.put(0, 1, func(v *job.Version) { v.Job.Job = "g/other"; every(time.Minute, job.FireAll)(v) })
	const many = 11_000
	for range many {
		b.later(24*time.Hour, asIs)
	}
	for range many/200 + 5 {
		b.step(time.Second, bus.MaxBatch)
	}
	if n := len(b.m.waiting.byID); n != many {
		t.Fatalf("%d runs wait", n)
	}
	b.put(time.Minute, 2, func(v *job.Version) { v.Deleted = true })
	fired := 0
	for i := range 60 {
		lines := b.step(time.Minute+time.Duration(i)*time.Minute, bus.MaxBatch)
		ends := 0
		for _, line := range lines {
			if strings.Contains(line, "g/other") {
				fired++
			} else {
				ends++
			}
		}
		if ends > maxWaitingStep {
			t.Fatalf("a batch ends %d runs", ends)
		}
	}
	if fired != 60 {
		t.Errorf("another job fired %d times in an hour", fired)
	}
	if n := len(b.m.Released()); n >= maxReleased {
		t.Errorf("%d items wait to be deleted", n)
	}
	if at, _ := b.m.NextAt(noon.Add(time.Hour).UnixMilli()); at <= noon.Add(time.Hour).UnixMilli() {
		t.Errorf("the next step is due at %s, and has nothing to do until items are deleted", instant(at))
	}
	for range many { // the owner deletes them
		deleted := map[uint64]bool{}
		for _, seq := range b.m.Released() {
			b.trig.remove(seq)
			deleted[seq] = true
		}
		b.m.Deleted(deleted)
		if b.step(2*time.Hour, bus.MaxBatch) == nil {
			break
		}
	}
	if n := len(b.m.waiting.byID) + len(b.m.waiting.doomed); n != 0 {
		t.Errorf("%d runs of the deleted job are left", n)
	}
}

func TestOnlySoManyRunsMayWait(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(*job.Version) {})
	b.m.waiting.byJob["g/a"] = &waitingJob{count: maxWaitingOfJob}
	r := bus.TriggerRequest{RunID: job.NewRunID(noon), Job: "g/a", Cause: job.CauseAPI, Due: noon.Add(time.Hour)}
	if _, err := b.m.Requests.Submit(r); !errors.Is(err, job.ErrTooMany) || !strings.Contains(err.Error(), "100000 runs of job g/a wait for their instant") {
		t.Error(err)
	}
	b.m.waiting.byJob = map[job.Name]*waitingJob{}
	for i := range maxWaitingOfJob {
		b.m.waiting.byID[job.RunID(strconv.Itoa(i))] = nil
	}
	b.m.cfg.Shards = 64
	if _, err := b.m.Requests.Submit(r); !errors.Is(err, job.ErrTooMany) || !strings.Contains(err.Error(), "in shard 5") {
		t.Error(err)
	}
	b.m.cfg.Shards = 4 // each of which may have a quarter of those of the cluster
	if _, err := b.m.Requests.Submit(r); err != nil {
		t.Error(err)
	}
}

func BenchmarkRunsThatWait(b *testing.B) {
	m := newBench(&testing.T{})
	m.put(0, 1, func(*job.Version) {})
	params, err := json.Marshal(strings.Repeat("x", 298))
	if err != nil {
		b.Fatal(err)
	}
	const runs = 100_000
	var before, after runtime.MemStats
	for b.Loop() {
		m.m.waiting.byID, m.m.waiting.byJob, m.m.waiting.next = map[job.RunID]*waitingRun{}, map[job.Name]*waitingJob{}, nil
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range runs {
			due := noon.Add(time.Duration(i) * time.Second)
			c := &Command{TriggerRequest: bus.TriggerRequest{RunID: job.NewRunID(noon), Job: "g/a", Cause: job.CauseAPI, Due: due, Params: params}}
			id, _ := m.m.jobs.find("g/a")
			m.m.waiting.accept(newBuilder(&m.m.cfg, &m.m.items, m.m.Cluster, noon.UnixMilli(), bus.MaxBatch), id, c)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/runs, "B/run")
}
