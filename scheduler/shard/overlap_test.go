package shard

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon/bus"
	"carillon/job"
)

// everyMinute has a job fire each minute from noon on, with room for one run.
func everyMinute(p job.OverlapPolicy) func(*job.Version) {
	return func(v *job.Version) {
		every(time.Minute, job.MisfireSkip)(v)
		v.Overlap = job.Overlap{Policy: p}
	}
}

func runAt(after time.Duration) job.RunID {
	return job.FireRunID("g/a", noon.Add(after).UnixMilli(), job.CauseSchedule)
}

// end tells the machine of the end of an attempt of the job's run of 12:01.
func (b *bench) end(seq uint64, attempt int, s job.Status, after time.Duration) {
	b.m.Event(&bus.Event{Kind: bus.EventFinished, Job: "g/a", RunID: runAt(time.Minute), Attempt: attempt, Status: s}, seq, noon.Add(after).UnixMilli())
}

func TestARunThatReplacesAnotherHasItEndedAtOnce(t *testing.T) {
	b := newBench(t)
	b.put(time.Second, 1, everyMinute(job.OverlapReplace))
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@1 pending schedule")
	var kills []Kill
	for _, after := range []time.Duration{2 * time.Minute, 2*time.Minute + time.Second} {
		if batch := b.m.Step(noon.Add(after).UnixMilli(), bus.MaxBatch); batch != nil {
			kills = append(kills, batch.Kills...)
			b.m.Committed(b.trig.publish(batch.Messages).first)
		}
	}
	want := []Kill{{Job: "g/a", RunID: runAt(time.Minute), Reason: "run " + string(runAt(2*time.Minute)) + " replaces it"}}
	if diff := cmp.Diff(want, kills); diff != "" {
		t.Errorf("ended (-want +got):\n%s", diff)
	}
}

func TestTheEndOfAnEarlierAttemptEndsNothing(t *testing.T) {
	b := newBench(t)
	b.put(time.Second, 1, func(v *job.Version) {
		everyMinute(job.OverlapSkip)(v)
		v.Retry = job.Retry{Limit: 1, Backoff: job.BackoffConstant, Delay: job.Duration(10 * time.Second), On: []job.Status{job.StatusFailed}}
	})
	at := func(seconds int) time.Duration { return time.Minute + time.Duration(seconds)*time.Second }
	b.want(b.step(at(0), bus.MaxBatch), "12:01:00 g/a@1 pending schedule")
	b.end(2, 1, job.StatusFailed, at(5))
	b.want(b.step(at(5), bus.MaxBatch), "12:01:00 g/a@1 queued schedule: attempt 1 failed; the next is due 10s later")
	b.want(b.step(at(15), bus.MaxBatch), "12:01:00 g/a@1 pending schedule")

	b.end(3, 1, job.StatusSucceeded, at(20)) // another execution of the first attempt
	b.want(b.step(at(20), bus.MaxBatch))
	b.want(b.step(at(60), bus.MaxBatch), "12:02:00 g/a@1 skipped schedule: 1 run still alive, which is as many as may be")
	b.end(4, 2, job.StatusSucceeded, at(65))
	b.want(b.step(at(65), bus.MaxBatch))
	b.want(b.step(at(120), bus.MaxBatch), "12:03:00 g/a@1 pending schedule")
}
