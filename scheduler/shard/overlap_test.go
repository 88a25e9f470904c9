package shard

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
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
	b.want(b.step(at(60), bus.MaxBatch), "12:02:00 g/a@1 skipped schedule: overlap limit reached: 1 run is still alive")
	b.end(4, 2, job.StatusSucceeded, at(65))
	b.want(b.step(at(65), bus.MaxBatch))
	b.want(b.step(at(120), bus.MaxBatch), "12:03:00 g/a@1 pending schedule")
}

func TestNoFurtherAttemptIsPromisedForARunThatNobodyFollows(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) { minutely(v); v.Job.Job, v.Retry = nameIn(0, true), job.Retry{Limit: 1} })
	b.put(90*time.Second, 2, func(v *job.Version) { v.Job.Job = nameIn(0, true) }) // which has no rule for retries any more
	batch := b.m.Step(noon.Add(2*time.Minute).UnixMilli(), bus.MaxBatch)
	s := b.trig.publish(batch.Messages)
	if len(s.triggers) != 1 || len(s.deferred) != 0 {
		t.Fatalf("%d triggers and %d items, not a run that nobody follows", len(s.triggers), len(s.deferred))
	}
	of := s.triggers[0]
	e := bus.EventOf(of, bus.EventFinished, noon.Add(3*time.Minute))
	e.Status, e.Retry = job.StatusFailed, of.Retry.Again(1, job.StatusFailed, nil)
	m, err := e.Msg(s.tokens[of])
	if err != nil {
		t.Fatal(err)
	}
	heard, err := tokens.DecodeEvent(bus.SubjectEvent(simShard, of.Job.Group()), m.Header, m.Data, e.At, simShards)
	if err != nil || heard.Status != job.StatusFailed || heard.Retry {
		t.Errorf("version 1 has a rule for retries, %t; its run ends as %+v, %v", e.Retry, heard, err)
	}
}
