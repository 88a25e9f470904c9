package shard

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

func TestAnItemWithoutRoomKeepsItsEventAndThePredecessor(t *testing.T) {
	b := newBench(t)
	names := []job.Name{"g/a", "g/b", "g/c"}
	for _, name := range names {
		b.put(0, 1, func(v *job.Version) { v.Job.Job, v.Schedule.FixedDelay = name, job.Duration(time.Minute) })
	}
	b.step(time.Minute, bus.MaxBatch)
	b.step(time.Minute, bus.MaxBatch)
	for i, name := range names {
		id := job.FireRunID(name, noon.Add(time.Minute).UnixMilli(), job.CauseSchedule)
		b.m.Event(&bus.Event{Kind: bus.EventFinished, Job: name, RunID: id}, uint64(10+i), noon.Add(2*time.Minute).UnixMilli())
	}
	b.step(2*time.Minute, overhead+1)
	if got := b.trig.cursor.EventSeq; got != 10 {
		t.Errorf("event position %d with one item of three written", got)
	}
	waiting := map[job.Name]int{}
	for seq, d := range b.trig.deferred {
		if !b.trig.released[seq] {
			waiting[d.Job]++
		}
	}
	if diff := cmp.Diff(map[job.Name]int{"g/a": 1, "g/b": 1, "g/c": 1}, waiting); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

func TestAnItemInFlightIsKeptUntilWhatOvertookItIsWritten(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) { v.Schedule.FixedDelay = job.Duration(time.Minute) })
	ends := func(seq uint64, fire time.Duration) {
		id := job.FireRunID("g/a", noon.Add(fire).UnixMilli(), job.CauseSchedule)
		b.m.Event(&bus.Event{Kind: bus.EventFinished, Job: "g/a", RunID: id}, seq, noon.Add(fire).UnixMilli())
	}
	b.step(0, bus.MaxBatch)
	b.step(time.Minute, bus.MaxBatch)
	ends(1, time.Minute)
	late := noon.Add(2*time.Minute + time.Second).UnixMilli()
	batch := b.m.Step(late, bus.MaxBatch) // it waits, and fires
	ends(2, 2*time.Minute)                // before the answer to the batch
	b.m.Committed(b.trig.publish(batch.Messages).first)
	b.step(2*time.Minute+2*time.Second, overhead) // no room for what it waits for now
	for seq, d := range b.trig.deferred {
		if !b.trig.released[seq] && d.Kind != journal.DeferredEnd {
			t.Errorf("item %+v has had its effect, and is not released", d)
		}
		if b.trig.released[seq] && d.Kind == journal.DeferredEnd && d.RunID.Time().Equal(noon.Add(2*time.Minute)) {
			t.Error("the newest item is released, and nothing is written in its place")
		}
	}
	b.step(2*time.Minute+3*time.Second, bus.MaxBatch)
	b.m.Forget("g/a", 99)
	b.step(2*time.Minute+4*time.Second, bus.MaxBatch)
	for seq, d := range b.trig.deferred {
		if !b.trig.released[seq] {
			t.Errorf("item %+v of a forgotten job", d)
		}
	}
}
