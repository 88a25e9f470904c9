package shard

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// passing returns a bench whose position is at 12:03, and whose machine can hear late.
func passing(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) { v.Job.Job, v.Schedule.Cron = "g/clock", "*/3 * * * *" })
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:03:00 g/clock@1 pending schedule")
	return b
}

func (b *bench) wantBegins(want ...journal.Begin) {
	b.t.Helper()
	if diff := cmp.Diff(want, b.trig.cursor.Begins); diff != "" {
		b.t.Errorf("versions that begin later (-want +got):\n%s", diff)
	}
}

func minutely(v *job.Version) {
	v.Schedule.Cron, v.Misfire.Grace = "* * * * *", job.Duration(time.Hour)
}

func TestANewJobIsOwedItsFiresHoweverLateItsOwnerHears(t *testing.T) {
	b := passing(t)
	b.put(time.Minute, 1, minutely) // not at the instant at which it was saved, but at that of the position
	if at, ok := b.m.NextAt(b.m.sweep.done); !ok || at > noon.Add(3*time.Minute).UnixMilli() {
		t.Errorf("the next look is at %s", instant(at))
	}
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:02:00 g/a@1 pending schedule", "12:03:00 g/a@1 pending schedule")
	b.want(b.step(3*time.Minute, bus.MaxBatch))
	b.want(b.step(4*time.Minute, bus.MaxBatch), "12:04:00 g/a@1 pending schedule")
	b.wantBegins()
}

func TestASuccessorDecidesOfANewJobWhatItsPredecessorDidNot(t *testing.T) {
	b := passing(t)
	put := func() { b.put(time.Minute, 1, minutely) }
	put()
	b.m.Step(noon.Add(3*time.Minute).UnixMilli(), bus.MaxBatch) // and it dies
	b.succeed()
	put()
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:02:00 g/a@1 pending schedule", "12:03:00 g/a@1 pending schedule")
	b.succeed()
	put()
	b.want(b.step(4*time.Minute, bus.MaxBatch), "12:04:00 g/a@1 pending schedule")
}

func TestNewJobsAreDecidedInTheOrderInWhichTheyWereSaved(t *testing.T) {
	b := passing(t)
	put := func() {
		for i := range 5 {
			b.put(time.Minute, 1, func(v *job.Version) { minutely(v); v.Job.Job = job.Name(fmt.Sprintf("g/new-%d", i)) })
		}
	}
	put()
	clock := b.revs["g/clock@1"]
	known := func(want uint64) {
		t.Helper()
		if got := b.trig.cursor.JobsSeq; got != clock+want {
			t.Errorf("the cursor knows of %d new jobs, want %d", got-clock, want)
		}
	}
	// Nothing else is decided before, though it is due.
	b.want(b.step(6*time.Minute, overhead+4),
		"12:02:00 g/new-0@1 pending schedule", "12:02:00 g/new-1@1 pending schedule",
		"12:03:00 g/new-0@1 pending schedule", "12:03:00 g/new-1@1 pending schedule")
	known(2)
	b.succeed()
	b.put(0, 1, func(v *job.Version) { v.Job.Job, v.Schedule.Cron = "g/clock", "*/3 * * * *" })
	put()
	b.want(b.step(6*time.Minute, overhead+7),
		"12:02:00 g/new-2@1 pending schedule", "12:02:00 g/new-3@1 pending schedule", "12:02:00 g/new-4@1 pending schedule",
		"12:03:00 g/new-2@1 pending schedule", "12:03:00 g/new-3@1 pending schedule", "12:03:00 g/new-4@1 pending schedule")
	known(5)
}

func TestASuccessorKnowsHowFarALateVersionHasFired(t *testing.T) {
	b := passing(t)
	put := func() {
		b.put(30*time.Second, 1, minutely)
		b.put(90*time.Second, 2, minutely)
	}
	put()
	b.want(b.step(3*time.Minute, overhead+1), "12:01:00 g/a@1 pending schedule") // no room for those of version 2
	b.succeed()
	put()
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:02:00 g/a@2 pending schedule", "12:03:00 g/a@2 pending schedule")
}

func TestANewFixedDelayWaitsSinceItWasSaved(t *testing.T) {
	b := passing(t)
	b.put(time.Minute, 1, func(v *job.Version) { v.Schedule.FixedDelay = job.Duration(90 * time.Second) })
	b.step(3*time.Minute, overhead) // no room for its item
	if got := b.trig.cursor.JobsSeq; got >= b.revs["g/a@1"] {
		t.Errorf("the cursor knows of version %d, but the stream has no item of it", got)
	}
	b.want(b.step(3*time.Minute, bus.MaxBatch))
	if at, ok := b.m.NextAt(b.m.sweep.done); !ok || at != noon.Add(3*time.Minute).UnixMilli()+1 {
		t.Errorf("the next look is at %s, and not at the first instant at which a sweep may begin", instant(at))
	}
	b.want(b.step(3*time.Minute+time.Second, bus.MaxBatch), "12:02:30 g/a@1 pending misfire: noticed 31s late")
}

func TestAnEditHeardLateBeginsAfterTheLastFireOfTheVersionBefore(t *testing.T) {
	b := newBench(t)
	spread := func(v *job.Version) { minutely(v); v.Schedule.Spread = job.Duration(time.Hour) }
	b.put(0, 1, minutely)
	b.want(b.step(2*time.Minute+10*time.Second, bus.MaxBatch), "12:01:00 g/a@1 pending schedule", "12:02:00 g/a@1 pending schedule")
	b.put(90*time.Second, 2, spread)
	offset := time.Duration(b.m.jobs.at(0).plans[1].Offset) * time.Millisecond
	if offset < 2*time.Minute || offset > 50*time.Minute {
		t.Fatalf("an offset of %s shows nothing", offset)
	}
	b.want(b.step(2*time.Minute+40*time.Second, bus.MaxBatch))
	b.want(b.step(3*time.Minute+IdleAfter*time.Millisecond, bus.MaxBatch))
	b.wantBegins(journal.Begin{Job: "g/a", Version: 2, After: noon.Add(2 * time.Minute)})
	b.succeed()
	b.put(0, 1, minutely)
	b.put(90*time.Second, 2, spread)
	b.want(b.step(3*time.Minute+offset, bus.MaxBatch), "12:03:00 g/a@2 pending schedule")
	// The next edit comes in time: once all of the other one is decided, it is forgotten.
	b.put(3*time.Minute+offset, 3, minutely)
	at := 6*time.Minute + 2*offset
	b.step(at, bus.MaxBatch)
	b.wantBegins()
}

func TestAnEditWhoseEarlierVersionsAreGoneBeginsAtThePosition(t *testing.T) {
	b := passing(t)
	b.put(time.Minute, 40, minutely)
	b.want(b.step(4*time.Minute, bus.MaxBatch), "12:04:00 g/a@40 pending schedule")
}

func TestAJobForgottenInTheMiddleOfASweepMayComeBack(t *testing.T) {
	b := newBench(t)
	for i := range 10 {
		b.put(0, 1, func(v *job.Version) { minutely(v); v.Job.Job = job.Name(fmt.Sprintf("g/%d", i)) })
	}
	b.step(time.Minute, overhead+3)
	last := b.m.jobs.at(b.m.sweep.ids[len(b.m.sweep.ids)-1]).name
	b.m.Forget(last, 11)
	back := func(v *job.Version) { minutely(v); v.Job.Job = last }
	v := &job.Version{Version: 1, EffectiveFrom: noon.Add(30 * time.Second)}
	back(v)
	v.Task.Handler = "h"
	v.Job = v.WithDefaults()
	if err := b.m.PutVersion(v, 12); err != nil {
		t.Fatal(err)
	}
	got := b.step(time.Minute, bus.MaxBatch)
	if want := fmt.Sprintf("12:01:00 %s@1 pending schedule", last); len(got) != 7 || got[6] != want {
		t.Errorf("decided %q, want %q at the end", got, want)
	}
	b.m.Forget(last, 13)
	b.want(b.step(2*time.Minute, bus.MaxBatch)[:1], "12:02:00 g/0@1 pending schedule")
	if b.m.Jobs() != 9 {
		t.Errorf("%d jobs", b.m.Jobs())
	}
}

func TestAJobThatIsMadeAnewIsOwedItsFiresThoughOfItsVersionsBeforeTheDeletionAloneIsKept(t *testing.T) {
	b := newBench(t)
	deleted := func(v *job.Version) { minutely(v); v.Deleted = true }
	b.put(0, 1, minutely)
	b.put(30*time.Second, 2, deleted)
	b.want(b.step(3*time.Minute, bus.MaxBatch)) // nobody knows yet of the version of 12:01:30
	b.succeed()
	b.put(30*time.Second, 2, deleted)
	b.put(90*time.Second, 3, minutely)
	b.want(b.step(4*time.Minute, bus.MaxBatch), "12:02:00 g/a@3 pending schedule", "12:03:00 g/a@3 pending schedule", "12:04:00 g/a@3 pending schedule")
}

func TestAVersionIsNotLateForTimeThatNoCursorSays(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) { v.Schedule = job.Schedule{FixedDelay: job.Duration(time.Hour)} })
	b.step(time.Second, bus.MaxBatch)
	if got := b.step(20*time.Second, bus.MaxBatch); got != nil {
		t.Fatalf("decided %q, and nothing is due", got)
	}
	b.put(10*time.Second, 2, every(5*time.Second, job.MisfireSkip)) // begins behind the cursor, and before the last step
	b.want(b.step(25*time.Second, bus.MaxBatch),
		"12:00:15 g/a@2 pending schedule", "12:00:20 g/a@2 pending schedule", "12:00:25 g/a@2 pending schedule")
}

func TestACursorHasTheGreatestRevisionOfTheJOBSThatThereIs(t *testing.T) {
	b := newBench(t)
	known := func(made time.Time, want uint64) {
		t.Helper()
		b.succeed()
		if got := b.m.BeginJobs(made); got != want {
			t.Errorf("of the JOBS created at %v, revision %d is known; want %d", made, got, want)
		}
	}
	known(noon, 0)
	b.put(0, 1, minutely)
	b.put(time.Second, 2, minutely)
	b.step(time.Minute, 100)
	known(noon, 2)
	b.put(0, 1, minutely) // the others are gone, with the end of the bucket
	b.step(2*time.Minute, 100)
	known(noon, 1)
	known(noon.Add(time.Hour), 0) // created again
	b.step(3*time.Minute, 100)
	known(noon, 0)
}
