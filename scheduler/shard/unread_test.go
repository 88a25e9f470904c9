package shard

import (
	"testing"
	"time"

	"carillon/bus"
	"carillon/job"
)

// unreadable tells the machine of a version of g/a as a program does that cannot read it.
func (b *bench) unreadable(after time.Duration) {
	b.t.Helper()
	const version = 2
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
	if _, err := b.m.Submit(bus.TriggerRequest{Job: "g/a", RunID: job.FireRunID("g/a", noon.UnixMilli(), job.CauseManual)}); err == nil {
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
