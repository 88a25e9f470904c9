package shard

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// hourAhead returns a bench whose position is at 13:00, by a clock that was wrong, while it
// is 12:00.
func hourAhead(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) { v.Job.Job, v.Schedule.Cron = "g/old", "*/30 * * * *" })
	b.want(b.step(time.Hour, bus.MaxBatch), "13:00:00 g/old@1 pending schedule", "12:30:00 g/old@1 pending misfire: noticed 30m late")
	return b
}

func TestAShardWhosePositionIsAheadStandsUntilTheClockHasCaughtUp(t *testing.T) {
	b := hourAhead(t)
	load := func() {
		b.succeed()
		b.put(0, 1, func(v *job.Version) { v.Job.Job, v.Schedule.Cron = "g/old", "*/30 * * * *" })
		b.put(30*time.Second, 1, func(v *job.Version) { v.Schedule.Cron = "*/20 * * * *" }) // a new job, at 12:00:30
		b.put(31*time.Second, 1, func(v *job.Version) {
			v.Job.Job, v.Schedule = "g/delay", job.Schedule{FixedDelay: job.Duration(20 * time.Minute)}
		})
		for _, seq := range slices.Sorted(maps.Keys(b.trig.deferred)) {
			if err := b.m.PutDeferred(b.trig.deferred[seq], seq); err != nil {
				t.Fatal(err)
			}
		}
	}
	load()
	b.want(b.step(31*time.Second, bus.MaxBatch))
	b.want(b.step(30*time.Minute, bus.MaxBatch))
	now := noon.Add(30 * time.Minute).UnixMilli()
	if by := b.m.Ahead(now); by != 30*time.Minute.Milliseconds() {
		t.Errorf("the position is %d ms ahead", by)
	}
	if at, ok := b.m.NextAt(now); !ok || at != noon.Add(time.Hour).UnixMilli() {
		t.Errorf("the next step is at %s", instant(at))
	}
	load()
	b.want(b.step(time.Hour-time.Second, bus.MaxBatch))
	b.want(b.step(time.Hour, bus.MaxBatch),
		"13:00:00 g/a@1 pending schedule",
		"12:20:00 g/a@1 missed schedule: noticed too late; by misfire policy fire_once the latest stood for all",
		"12:40:00 g/a@1 pending misfire: noticed 20m late; it stands for 2 misfires")
	b.want(b.step(time.Hour+time.Second, bus.MaxBatch), "12:20:31 g/delay@1 pending misfire: noticed 39m30s late")
	if by := b.m.Ahead(noon.Add(time.Hour + time.Second).UnixMilli()); by != 0 {
		t.Errorf("the position is %d ms ahead", by)
	}
}

func TestAShardWhosePositionIsAheadStillHearsOfEndsAndRequests(t *testing.T) {
	b := hourAhead(t)
	id := job.FireRunID("g/old", noon.Add(time.Minute).UnixMilli(), job.CauseManual)
	if _, err := b.m.Requests.Submit(bus.TriggerRequest{Job: "g/old", RunID: id, Cause: job.CauseManual}); err != nil {
		t.Fatal(err)
	}
	now := noon.Add(time.Minute).UnixMilli()
	if at, ok := b.m.NextAt(now); !ok || at > now {
		t.Errorf("the next step is at %s", instant(at))
	}
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/old@1 pending manual")
}

// A successor takes it that a fixed delay has not fired beyond the position, when it hears of a version
// that has taken its place.
func TestAFixedDelayWaitsForTheSweepThatTheClockHasGoneBackIn(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) {
		v.Schedule.FixedDelay, v.Misfire.Policy = job.Duration(time.Minute), job.FireOnce
	})
	b.want(b.step(30*time.Second, bus.MaxBatch))
	b.want(b.step(time.Hour, overhead)) // no room for the fire
	b.want(b.step(30*time.Minute, bus.MaxBatch))
	b.want(b.step(time.Hour, bus.MaxBatch), "12:01:00 g/a@1 pending misfire: noticed 59m late")
}
