package shard

import (
	"fmt"
	"testing"

	"github.com/carillon-scheduler/carillon/job"
)

func TestCallsThatDoNotFitIntoABatchAreCalledOffInTheNext(t *testing.T) {
	var steps []job.Step
	for i := range 20 {
		steps = append(steps, with(after(fmt.Sprintf("s%d", i)), func(s *job.Step) { s.Task, s.Call = job.Task{}, nameOn(0, "other") }))
	}
	f := newFlow(t, steps...)
	f.m.cfg.Shards = callShards
	f.fire()
	now := noon.Add(f.now).UnixMilli()
	for id := range f.m.runs.byID {
		f.m.Cancels.Add(id, "cancelled", false)
	}
	batches := 0
	for at, ok := f.m.NextAt(now); ok && at <= now; at, ok = f.m.NextAt(now) {
		batch := f.m.Step(now, 10)
		if batch == nil {
			break
		}
		f.m.Committed(f.trig.publish(batch.Messages).first)
		batches++
	}
	if n := len(f.m.steps.callingOff); n > 0 || batches < 3 {
		t.Errorf("after %d batches %d of 20 calls are still to be called off", batches, n)
	}
}
