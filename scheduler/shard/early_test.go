package shard

import (
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// hasten tells the machine of v's next version, saved so long after noon, which wants the
// fire at another instant early.
func (b *bench) hasten(v *job.Version, saved, fire time.Duration) (next *job.Version, request bus.TriggerRequest) {
	b.t.Helper()
	n := *v
	n.Version, n.EffectiveFrom = v.Version+1, noon.Add(saved)
	s := offAt(fire)
	s.RunID, s.Reason = job.NewRunID(n.EffectiveFrom), ""
	n.Skip(s)
	b.tell(&n)
	return &n, bus.TriggerRequest{RunID: s.RunID, Job: v.Job.Job, Cause: job.CauseManual, InsteadOf: s.FireTime}
}

func TestAFireThatIsWantedEarlyRunsOnceThoughNobodyAsksAgain(t *testing.T) {
	b := newBench(t)
	v := b.put(0, 1, every(time.Minute, job.FireOnce))
	next, r := b.hasten(v, 30*time.Second, 2*time.Minute)
	if at, ok := b.m.NextAt(noon.UnixMilli()); !ok || at > noon.UnixMilli() {
		t.Errorf("the next look is at %s", instant(at))
	}
	if done, err := b.m.Requests.Submit(r); err != nil || done != nil {
		t.Errorf("asked before it is made: %+v, %v", done, err)
	}
	b.want(b.step(30*time.Second, bus.MaxBatch), "12:00:30 g/a@2 pending manual")
	want := Asked{RunID: r.RunID, Version: 2, Status: job.StatusPending}
	if done, err := b.m.Requests.Submit(r); err != nil || done == nil || *done != want {
		t.Errorf("asked after that: %+v, %v", done, err)
	}
	b.succeed()
	b.tell(v)
	b.tell(next)
	b.want(b.step(time.Minute, bus.MaxBatch), "12:01:00 g/a@2 pending schedule")
	b.want(b.step(2*time.Minute, bus.MaxBatch), "12:02:00 g/a@2 skipped schedule: ada asked for it early, as run "+string(r.RunID))
	// An edit takes the skip along, and makes no second run.
	edit := *next
	edit.Version, edit.EffectiveFrom = 3, noon.Add(2*time.Minute+time.Second)
	b.tell(&edit)
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:03:00 g/a@3 pending schedule")
}

func TestASuccessorRunsEarlyWhatItsPredecessorDidNot(t *testing.T) {
	b := newBench(t)
	v := b.put(0, 1, every(time.Minute, job.MisfireSkip))
	next, r := b.hasten(v, 30*time.Second, 2*time.Minute)
	b.m.Step(noon.Add(30*time.Second).UnixMilli(), bus.MaxBatch) // and it dies
	b.succeed()
	b.tell(v)
	b.tell(next)
	b.want(b.step(150*time.Second, bus.MaxBatch), // the fire has passed, too
		"12:00:30 g/a@2 pending manual",
		"12:01:00 g/a@2 missed schedule: noticed too late; the misfire policy is skip",
		"12:02:00 g/a@2 skipped schedule: ada asked for it early, as run "+string(r.RunID))
}

func TestARunInThePlaceOfAFireIsNotMadeIfThatHasRun(t *testing.T) {
	b := passing(t)
	v := b.put(0, 1, minutely)
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:01:00 g/a@1 pending schedule", "12:02:00 g/a@1 pending schedule", "12:03:00 g/a@1 pending schedule")
	_, r := b.hasten(v, 150*time.Second, 3*time.Minute) // of which the owner hears now
	b.want(b.step(3*time.Minute, bus.MaxBatch),
		"12:02:30 g/a@2 skipped manual: the fire of 2026-03-02T12:03:00Z, in whose place it was wanted, was decided before that was known")
	if done, err := b.m.Requests.Submit(r); err != nil || done == nil || done.Status != job.StatusSkipped {
		t.Errorf("who asks hears %+v, %v", done, err)
	}
}

func TestARunInThePlaceOfAFireIsMadeLateWhereTheFireIsSkippedFor(t *testing.T) {
	b := passing(t)
	paused := func(v *job.Version) { minutely(v); v.Paused = true }
	v := b.put(0, 1, paused)
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:01:00-12:03:00(3) g/a@1 skipped schedule: the job is paused")
	b.hasten(v, 2*time.Minute, 4*time.Minute)
	b.want(b.step(3*time.Minute, bus.MaxBatch), "12:02:00 g/a@2 pending manual")
}

func TestWantsBeyondTheRoomOfABatchGoIntoTheNext(t *testing.T) {
	b := newBench(t)
	v := b.put(0, 1, every(time.Minute, job.FireOnce))
	next := *v
	next.Version, next.EffectiveFrom = 2, noon.Add(30*time.Second)
	for i := range 3 {
		s := offAt(time.Duration(5+i) * time.Minute)
		s.RunID, s.Reason = job.FireRunID("g/a", next.EffectiveFrom.UnixMilli(), job.Cause(s.FireTime.String())), ""
		next.Skip(s)
	}
	b.tell(&next)
	b.want(b.step(time.Minute, overhead+roomAsked), "12:00:30 g/a@2 pending manual")
	if known := b.trig.cursor.JobsSeq; known != 1 {
		t.Errorf("with runs left to be made, the cursor knows of revision %d", known)
	}
	deferred := b.trig.deferred
	b.succeed()
	for seq, d := range deferred {
		if err := b.m.PutDeferred(d, seq); err != nil {
			t.Fatal(err)
		}
	}
	b.tell(v)
	b.tell(&next)
	b.want(b.step(time.Minute, bus.MaxBatch), "12:00:30 g/a@2 pending manual", "12:00:30 g/a@2 pending manual", "12:01:00 g/a@2 pending schedule")
}

func TestARequestForARunInThePlaceOfAFireMakesNone(t *testing.T) {
	b := newBench(t)
	b.put(0, 1, every(time.Minute, job.FireOnce))
	r := bus.TriggerRequest{RunID: job.NewRunID(noon), Job: "g/a", Cause: job.CauseManual, InsteadOf: noon.Add(time.Minute)}
	if _, err := b.m.Requests.Submit(r); !errors.Is(err, job.ErrConflict) {
		t.Errorf("a fire that no version wants early: %v", err)
	}
	b.want(b.step(0, bus.MaxBatch))
}
