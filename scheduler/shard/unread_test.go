package shard

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// unreadable tells the machine of version 2 of g/a as a program does that cannot read it.
func (b *bench) unreadable(after time.Duration) {
	b.t.Helper()
	b.putUnreadable(after, 2)
}

func (b *bench) putUnreadable(after time.Duration, version int) {
	b.t.Helper()
	v := &job.Version{Version: version}
	v.Job.Job = "g/a"
	name := bus.JobVersion(v.Job.Job, version)
	if b.revs[name] == 0 {
		b.revs[name] = uint64(len(b.revs) + 1)
	}
	p := PrepareUnreadable(&job.Planner{}, v.Job.Job, bus.Envelope{Version: version, EffectiveFrom: noon.Add(after)}, b.revs[name])
	b.m.Put(&p)
}

func other(v *job.Version) { v.Job.Job, v.Schedule.Cron = "g/b", "* * * * *" }

func TestAJobIsHeldWhoseVersionTheOwnerCannotReadAndItsFiresAreDecidedByOneWhoCan(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, minutely)
	b.put(0, 1, other)
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@1 pending schedule", "12:01:00 g/b@1 pending schedule")
	b.unreadable(90 * time.Second)
	b.want(b.step(2*time.Minute, bus.MaxBatch), "12:02:00 g/b@1 pending schedule")
	b.put(2*time.Minute, 2, func(v *job.Version) { other(v); v.Schedule.Cron = "*/3 * * * *" }) // a later revision
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:03:00 g/b@2 pending schedule")
	load := func(second func()) {
		b.succeed()
		b.put(0, 1, minutely)
		b.put(0, 1, other)
		second()
		b.put(2*time.Minute, 2, func(v *job.Version) { other(v); v.Schedule.Cron = "*/3 * * * *" })
	}
	load(func() { b.unreadable(90 * time.Second) }) // another one who cannot
	b.want(b.step(6*time.Minute, bus.MaxBatch), "12:06:00 g/b@2 pending schedule")
	read := func() {
		b.put(90*time.Second, 2, func(v *job.Version) { minutely(v); v.Schedule.Cron = "*/2 * * * *" })
	}
	load(read)
	b.want(b.step(6*time.Minute, bus.MaxBatch),
		"12:02:00 g/a@2 pending schedule", "12:04:00 g/a@2 pending schedule", "12:06:00 g/a@2 pending schedule")
	b.want(b.step(8*time.Minute, bus.MaxBatch), "12:08:00 g/a@2 pending schedule")
	if n := len(b.trig.cursor.Unread); n != 0 {
		t.Errorf("the cursor lists %d versions that nobody could read", n)
	}
	// A downgrade: what was decided by one who could read it is not decided again.
	load(func() { b.unreadable(90 * time.Second) })
	b.want(b.step(9*time.Minute, bus.MaxBatch), "12:09:00 g/b@2 pending schedule")
	load(func() { b.unreadable(90 * time.Second) })
	b.want(b.step(10*time.Minute+IdleAfter*time.Millisecond, bus.MaxBatch))
	load(read)
	b.want(b.step(12*time.Minute, bus.MaxBatch),
		"12:10:00 g/a@2 pending schedule", "12:12:00 g/a@2 pending schedule", "12:12:00 g/b@2 pending schedule")
}

func TestARunOfAJobThatTheOwnerCannotReadIsRefusedUntilSomebodyCan(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, minutely)
	b.unreadable(time.Second)
	if _, err := b.m.Requests.Submit(bus.TriggerRequest{Job: "g/a", RunID: job.FireRunID("g/a", noon.UnixMilli(), job.CauseManual)}); err == nil {
		t.Error("a run was taken for a version that cannot be read")
	}
}

func TestAVersionThatNobodyCouldReadOwesItsFiresThoughTheOnesBeforeItAreGone(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, minutely)
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@1 pending schedule")
	b.unreadable(90 * time.Second)
	b.want(b.step(3*time.Minute, bus.MaxBatch))
	b.succeed()
	b.put(90*time.Second, 2, func(v *job.Version) { minutely(v); v.Schedule.Cron = "*/2 * * * *" })
	b.want(b.step(4*time.Minute, bus.MaxBatch), "12:02:00 g/a@2 pending schedule", "12:04:00 g/a@2 pending schedule")
}

func TestWordForAJobThatTheOwnerCannotReadWaits(t *testing.T) {
	b := newBench(t)
	b.unreadable(time.Second)
	parent := &bus.ParentEnd{Job: "g/p", RunID: job.FireRunID("g/p", noon.UnixMilli(), job.CauseSchedule), Status: job.StatusSucceeded, Met: true, At: noon.Add(30 * time.Second), Depth: 1}
	if err := b.m.PutDeferred(&bus.Deferred{Kind: bus.DeferredChild, Job: "g/a", Parent: parent}, 1000); err != nil {
		t.Fatal(err)
	}
	b.want(b.step(time.Minute, bus.MaxBatch))
	b.put(time.Minute, 3, func(v *job.Version) { minutely(v); v.Schedule = job.Schedule{} })
	b.want(b.step(2*time.Minute, bus.MaxBatch), "12:00:30 g/a@3 pending parent")
}

func TestAVersionThatNobodyCouldReadOwesItsFiresThoughAFixedDelayCameBeforeIt(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) { v.Schedule = job.Schedule{FixedDelay: job.Duration(time.Hour)} })
	b.want(b.step(time.Minute, bus.MaxBatch))
	b.unreadable(90 * time.Second)
	b.want(b.step(3*time.Minute, bus.MaxBatch))
	b.succeed()
	b.put(0, 1, func(v *job.Version) { v.Schedule = job.Schedule{FixedDelay: job.Duration(time.Hour)} })
	b.put(90*time.Second, 2, func(v *job.Version) { minutely(v); v.Schedule.Cron = "*/2 * * * *" })
	b.want(b.step(4*time.Minute, bus.MaxBatch), "12:02:00 g/a@2 pending schedule", "12:04:00 g/a@2 pending schedule")
}

func TestAVersionThatNobodyCouldReadBeginsBehindWhatAFixedDelayMayHaveFiredInItsTime(t *testing.T) {
	b := newBench(t)
	delay := func(v *job.Version) { v.Schedule = job.Schedule{FixedDelay: job.Duration(2 * time.Minute)} }
	b.put(0, 1, delay)
	b.want(b.step(time.Second, bus.MaxBatch))
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:02:00 g/a@1 pending misfire: noticed 1m late") // nobody knows yet of the version of 12:00:30
	b.unreadable(30 * time.Second)
	b.want(b.step(4*time.Minute, bus.MaxBatch))
	b.succeed()
	b.put(0, 1, delay)
	b.put(30*time.Second, 2, minutely)
	b.want(b.step(5*time.Minute, bus.MaxBatch), "12:04:00 g/a@2 pending schedule", "12:05:00 g/a@2 pending schedule")
}

func TestAVersionBeginsBehindWhatOneThatTheOwnerCannotReadHasFiredInItsTime(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, func(v *job.Version) { v.Schedule = job.Schedule{} })
	b.put(time.Second, 2, minutely)
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@2 pending schedule")
	b.want(b.step(2*time.Minute, bus.MaxBatch), "12:02:00 g/a@2 pending schedule") // nobody knows yet of the version of 12:01:30
	b.succeed()
	b.put(0, 1, func(v *job.Version) { v.Schedule = job.Schedule{} })
	b.unreadable(time.Second)
	b.put(90*time.Second, 3, minutely)
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:03:00 g/a@3 pending schedule")
}

func TestQueuedRunsOfAJobThatTheOwnerCannotReadWait(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, everyMinute(job.OverlapAllow))
	b.put(time.Second, 2, everyMinute(job.OverlapQueue))
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@2 pending schedule")
	b.want(b.step(2*time.Minute, bus.MaxBatch), "12:02:00 g/a@2 queued schedule: it waits for 1 earlier run")
	load := func(second func()) {
		b.succeed()
		b.put(0, 1, everyMinute(job.OverlapAllow))
		second()
		for _, seq := range slices.Sorted(maps.Keys(b.trig.deferred)) {
			if err := b.m.PutDeferred(b.trig.deferred[seq], seq); err != nil {
				t.Fatal(err)
			}
		}
	}
	load(func() { b.unreadable(time.Second) }) // by the version before, as many may be alive as there are
	b.want(b.step(150*time.Second, bus.MaxBatch))
	load(func() { b.put(time.Second, 2, everyMinute(job.OverlapQueue)) })
	b.want(b.step(151*time.Second, bus.MaxBatch))
	b.end(1, 1, job.StatusSucceeded, 152*time.Second)
	b.want(b.step(152*time.Second, bus.MaxBatch), "12:02:00 g/a@2 pending schedule: it was queued for 32s")
}

func TestAVersionThatCannotBeReadBeginsWhereItSaysOnceTheOneBeforeTurnsOutToDoSo(t *testing.T) {
	b := newBench(t)
	manual := func(v *job.Version) { v.Schedule = job.Schedule{} }
	b.put(0, 1, manual)
	b.put(time.Second, 2, manual)
	b.want(b.step(10*time.Minute, bus.MaxBatch)) // by a clock that is ahead
	load := func(second, fourth func()) {
		b.succeed()
		b.put(0, 1, manual)
		second()
		b.put(90*time.Second, 3, manual)
		fourth()
	}
	load(func() { b.unreadable(time.Second) }, func() { b.putUnreadable(100*time.Second, 4) }) // version 2 may have fired up to the position
	b.m.Committed(b.trig.publish(b.m.Claim(noon.Add(2 * time.Minute).UnixMilli()).Messages).first)
	load(func() { b.put(time.Second, 2, manual) }, func() { b.put(100*time.Second, 4, minutely) })
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:02:00 g/a@4 pending schedule", "12:03:00 g/a@4 pending schedule")
}

func TestAVersionThatCannotBeReadBeginsNoEarlierThanALateOneBeforeIt(t *testing.T) {
	b := newBench(t)
	load := func(third func()) {
		b.put(0, 1, func(v *job.Version) { v.Schedule = job.Schedule{FixedDelay: job.Duration(2 * time.Minute)} })
		b.put(30*time.Second, 2, func(v *job.Version) { v.Schedule = job.Schedule{} })
		third()
	}
	b.put(0, 1, func(v *job.Version) { v.Schedule = job.Schedule{FixedDelay: job.Duration(2 * time.Minute)} })
	b.want(b.step(time.Second, bus.MaxBatch))
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:02:00 g/a@1 pending misfire: noticed 1m late") // nobody knows yet of version 2
	load(func() { b.putUnreadable(40*time.Second, 3) })
	b.want(b.step(4*time.Minute, bus.MaxBatch))
	b.succeed()
	load(func() { b.put(40*time.Second, 3, minutely) })
	b.want(b.step(5*time.Minute, bus.MaxBatch), "12:04:00 g/a@3 pending schedule", "12:05:00 g/a@3 pending schedule")
}

func TestAVersionThatHasFiredGoesOnThoughAFixedDelayCameBeforeItThatCouldNotBeRead(t *testing.T) {
	b := newBench(t)
	delay := func() {
		b.put(0, 1, func(v *job.Version) { v.Schedule = job.Schedule{FixedDelay: job.Duration(time.Hour)} })
	}
	delay()
	b.want(b.step(time.Second, bus.MaxBatch))
	b.succeed()
	b.putUnreadable(0, 1)
	b.want(b.step(10*time.Minute, bus.MaxBatch)) // by a clock that is ahead
	b.put(90*time.Second, 2, minutely)
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:02:00 g/a@2 pending schedule", "12:03:00 g/a@2 pending schedule")
	b.succeed()
	delay()
	b.put(90*time.Second, 2, minutely)
	b.want(b.step(5*time.Minute, bus.MaxBatch), "12:04:00 g/a@2 pending schedule", "12:05:00 g/a@2 pending schedule")
}

func TestAVersionThatCannotBeReadEndsWhereTheOneBehindItBeginsWhoeverReadsIt(t *testing.T) {
	b := newBench(t)
	manual := func(v *job.Version) { v.Schedule = job.Schedule{} }
	spread := func(v *job.Version) {
		minutely(v)
		v.Schedule.Spread = job.Duration(time.Minute)
	}
	b.put(0, 1, manual)
	offset := b.put(time.Second, 2, spread).Schedule.Offset("g/a")
	if offset < time.Second {
		t.Fatalf("fires are spread by %s", offset)
	}
	b.want(b.step(time.Minute, bus.MaxBatch))
	b.want(b.step(2*time.Minute+offset-time.Millisecond, bus.MaxBatch), "12:01:00 g/a@2 pending schedule") // 12:02:00 is not due yet
	load := func(second func()) {
		b.succeed()
		b.put(0, 1, manual)
		second()
		b.put(90*time.Second, 3, manual) // it begins behind what version 2 may have fired
		b.put(100*time.Second, 4, manual)
	}
	load(func() { b.unreadable(time.Second) })
	b.want(b.step(4*time.Minute, bus.MaxBatch))
	load(func() { b.put(time.Second, 2, spread) })
	b.want(b.step(5*time.Minute, bus.MaxBatch), "12:02:00 g/a@2 pending schedule")
}
