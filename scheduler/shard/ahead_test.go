package shard

import (
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

func TestAPositionAheadOfTheClockMakesNothingDueAtOnce(t *testing.T) {
	b := hourAhead(t)
	old := func() { b.put(0, 1, func(v *job.Version) { v.Job.Job, v.Schedule.Cron = "g/old", "*/30 * * * *" }) }
	b.succeed()
	old()
	b.put(30*time.Second, 1, minutely) // a new job, at 12:00:30
	b.want(b.step(31*time.Second, bus.MaxBatch))
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@1 pending schedule")
	b.want(b.step(2*time.Minute, bus.MaxBatch), "12:02:00 g/a@1 pending schedule")
	b.succeed()
	old()
	b.put(30*time.Second, 1, minutely)
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:03:00 g/a@1 pending schedule")
	b.put(3*time.Minute+time.Second, 2, func(v *job.Version) { v.Schedule.Cron = "30 * * * * ?" })
	b.want(b.step(4*time.Minute, bus.MaxBatch), "12:03:30 g/a@2 pending misfire: noticed 30s late")
}

// A successor must find the edit to begin where it did for its predecessor, which has
// skipped one of its fires for a run in its place.
func TestASuccessorKnowsWhereAnEditBeginsThatWaitsForTheClock(t *testing.T) {
	b := hourAhead(t)
	old := func() { b.put(0, 1, func(v *job.Version) { v.Job.Job, v.Schedule.Cron = "g/old", "*/30 * * * *" }) }
	b.succeed()
	old()
	v := b.put(30*time.Second, 1, minutely)
	next, r := b.hasten(v, 90*time.Second, 3*time.Minute)
	b.want(b.step(3*time.Minute, bus.MaxBatch),
		"12:01:00 g/a@1 pending schedule", "12:02:00 g/a@2 pending schedule",
		"12:03:00 g/a@2 skipped schedule: ada asked for it early, as run "+string(r.RunID))
	b.wantBegins(
		bus.Begin{Job: "g/a", Version: 1, After: noon.Add(30 * time.Second)},
		bus.Begin{Job: "g/a", Version: 2, After: noon.Add(90 * time.Second)})
	b.succeed()
	old()
	b.tell(v)
	b.tell(next)
	b.want(b.step(4*time.Minute, bus.MaxBatch), "12:04:00 g/a@2 pending schedule")
	b.wantBegins(
		bus.Begin{Job: "g/a", Version: 1, After: noon.Add(30 * time.Second)},
		bus.Begin{Job: "g/a", Version: 2, After: noon.Add(90 * time.Second)})
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

func TestAMachineWhoseClockIsBehindItsPositionLooksAgainSoon(t *testing.T) {
	b := hourAhead(t)
	now := noon.Add(time.Minute).UnixMilli()
	if at, ok := b.m.NextAt(now); !ok || at > now {
		t.Errorf("the first look is at %s", instant(at))
	}
	b.step(time.Minute, bus.MaxBatch)
	if at, ok := b.m.NextAt(now); !ok || at != now+waitAhead {
		t.Errorf("the next look is at %s", instant(at))
	}
}
