package shard

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// starter is a run whose code starts others. Its fire time is before that of any machine of a test.
var starter = job.FireRunID("g/parent", noon.Add(-time.Hour).UnixMilli(), job.CauseSchedule)

// started asks for the count-th run that the code of starter starts.
func (b *bench) started(count int, change func(*bus.TriggerRequest)) bus.TriggerRequest {
	b.t.Helper()
	r := bus.TriggerRequest{
		RunID: job.StartID(starter, "g/a", "x", count), Job: "g/a", Cause: job.CauseParent, By: "g/parent", Parent: starter, Depth: 2,
	}
	change(&r)
	if done, err := b.m.Requests.Submit(r); done != nil || err != nil {
		b.t.Fatal(done, err)
	}
	return r
}

func TestARunThatCodeStartsIsAChildOfItsRun(t *testing.T) {
	b := newBench(t)
	v := b.put(0, 1, func(*job.Version) {})
	r := b.started(0, func(r *bus.TriggerRequest) { r.Params = json.RawMessage(`{"n":1}`) })
	s := b.publish(time.Minute)
	if len(s.triggers) != 1 {
		t.Fatalf("triggers %+v", s.triggers)
	}
	at := noon.Add(time.Minute)
	got := s.triggers[0]
	if got.RunID != job.LaterRunID(r.RunID, at.UnixMilli()) || !got.FireTime.Equal(at) || got.Cause != job.CauseParent || got.ParentRun != starter || got.Depth != 2 || string(got.Params) != `{"n":1}` {
		t.Errorf("triggered %+v", got)
	}
	if isCalled(got) {
		t.Error("it counts as a run that a step has called")
	}
	b.takeOver(v)
	done, err := b.m.Requests.Submit(r)
	if err != nil || done == nil || done.Reply().RunID != got.RunID {
		t.Errorf("asked again, a successor answers %+v, %v", done, err)
	}
}

func TestARunThatCodeStartsAtAnInstantStaysAChild(t *testing.T) {
	b := newBench(t)
	v := b.put(0, 1, func(*job.Version) {})
	b.started(0, func(r *bus.TriggerRequest) { r.Due = noon.Add(time.Hour) })
	b.want(b.step(time.Second, bus.MaxBatch), "13:00:00 g/a@1 queued parent: it waits until 2026-03-02T13:00:00Z")
	b.takeOver(v)
	s := b.publish(time.Hour)
	if len(s.triggers) != 1 {
		t.Fatalf("triggers %+v", s.triggers)
	}
	if got := s.triggers[0]; got.Cause != job.CauseParent || got.ParentRun != starter || got.Depth != 2 {
		t.Errorf("triggered %+v", got)
	}
}

func TestARunThatCodeStartsHasALaterFireTimeThanItsParent(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(*job.Version) {})
	ahead := job.FireRunID("g/parent", noon.Add(time.Hour).UnixMilli(), job.CauseSchedule) // by another clock
	b.started(0, func(r *bus.TriggerRequest) {
		r.Parent, r.RunID, r.Due = ahead, job.StartID(ahead, "g/a", "x", 0), noon.Add(-time.Minute)
	})
	if s := b.publish(time.Second); len(s.triggers) != 1 || isCalled(s.triggers[0]) {
		t.Errorf("triggers %+v", s.triggers)
	}
}
