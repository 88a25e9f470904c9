package shard

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
)

// hold asks to put the run on hold, or to resume it, and returns what is answered.
func (f *flow) hold(r bus.HoldRequest) (*Asked, error) {
	f.t.Helper()
	f.asked++
	r.ID, r.Job, r.RunID = job.RetryRunID(flowRun, string(rune('a'+f.asked))), "g/a", flowRun
	if done, err := f.m.Requests.Hold(r); done != nil || err != nil {
		return done, err
	}
	f.goOn()
	return f.m.Requests.Hold(r) // asked again, it has no second effect
}

// mustHold is hold, and wants the run to be so from then on.
func (f *flow) mustHold(r bus.HoldRequest) {
	f.t.Helper()
	got, err := f.hold(r)
	if err != nil || got == nil || got.Of != flowRun || got.Status == "" || got.Reason != "" {
		f.t.Fatalf("answered %+v, %v", got, err)
	}
}

// wantHold compares what the item and the last record about it say of the hold.
func (f *flow) wantHold(want *runlog.Hold) {
	f.t.Helper()
	var item, said *runlog.Hold
	for _, d := range f.trig.deferred {
		if d.Kind == journal.DeferredSteps && d.RunID == flowRun && !f.m.items.isReleased(d, f.trig) {
			item = d.Steps.Hold
		}
	}
	for _, r := range f.records {
		if err := r.Each(func(d journal.Decided) {
			if d.Hold != nil {
				said = d.Hold
			}
		}); err != nil {
			f.t.Fatal(err)
		}
	}
	if d := cmp.Diff(want, item); d != "" {
		f.t.Error("item:", d)
	}
	if d := cmp.Diff(want, said); d != "" {
		f.t.Error("record:", d)
	}
}

func TestNoStepBeginsWhileARunIsOnHold(t *testing.T) {
	f := newFlow(t, after("a"), with(after("again"), func(s *job.Step) { s.Retry = &job.Retry{Limit: 1, Delay: job.Duration(time.Minute)} }),
		with(after("timer"), waitFor(job.Wait{For: job.Duration(time.Hour)})), after("b", "a"), with(after("w", "a"), waitFor(job.Wait{Signal: "go"})),
		after("c", "timer"), with(after("tidy"), func(s *job.Step) { s.Finally = true }))
	f.fire()
	f.wantOut("a", "again")
	f.said = nil
	f.mustHold(bus.HoldRequest{By: "ann", Note: "disk full", At: noon.Add(f.now)})
	held := &runlog.Hold{Since: noon.Add(time.Second), By: "ann", Note: "disk full", Change: 1}
	f.wantHold(held)
	f.mustHold(bus.HoldRequest{By: "bob", Note: "me, too", At: noon.Add(f.now + time.Minute)})
	f.wantHold(held)

	// What has begun goes on: attempts, and waits.
	f.ends("a", job.StatusSucceeded, ``)
	f.ends("again", job.StatusFailed, ``)
	f.pass(2 * time.Minute)
	f.wantOut("again")
	f.ends("again", job.StatusSucceeded, ``)
	f.pass(2 * time.Hour)
	f.wantOut()
	f.wantWait("w", "")
	f.succeed()
	f.wantHold(held)
	f.wantOut()

	f.mustHold(bus.HoldRequest{Resume: true, By: "bob", At: noon.Add(f.now)})
	held.ResumedAt, held.ResumedBy, held.Change = noon.Add(f.now), "bob", 2
	f.wantHold(held)
	f.wantOut("b", "c")
	if len(f.m.runs.byID[flowRun].steps.waits) != 1 {
		t.Error("step w does not wait")
	}
	f.mustHold(bus.HoldRequest{Resume: true, By: "eve", At: noon.Add(f.now)})
	f.wantHold(held)

	// Finally steps wait as well.
	f.mustHold(bus.HoldRequest{At: noon.Add(f.now)})
	f.wantHold(&runlog.Hold{Since: noon.Add(f.now), Change: 3})
	f.must(job.StatusSucceeded, bus.WaitRequest{RunID: flowRun, Act: bus.WaitSignal, Signal: "go"})
	f.ends("b", job.StatusSucceeded, ``)
	f.ends("c", job.StatusSucceeded, ``)
	f.wantOut()
	f.mustHold(bus.HoldRequest{Resume: true})
	f.wantOut("tidy")
	f.ends("tidy", job.StatusSucceeded, ``)
	f.wantOver()
	_, err := f.hold(bus.HoldRequest{})
	f.wantRefused(err, "of job g/a is not alive")
}

func TestARunOnHoldIsCancelled(t *testing.T) {
	f := newFlow(t, after("a"), after("b", "a"), with(after("tidy"), func(s *job.Step) { s.Finally = true }))
	f.fire()
	f.ends("a", job.StatusSucceeded, ``)
	f.wantOut("b")
	f.mustHold(bus.HoldRequest{By: "ann"})
	f.said = nil
	f.m.Cancels.Add(flowRun, "cancelled", false)
	f.goOn()
	f.ends("b", job.StatusCancelled, ``)
	f.wantOut() // tidy waits
	if len(f.m.runs.byID) == 0 {
		t.Fatal("the run is over")
	}
	f.m.Cancels.Add(flowRun, "cancelled", true)
	f.goOn()
	f.wantOver()
}

func TestARunOnHoldTimesOut(t *testing.T) {
	f := newFlow(t, after("a"), after("b", "a"))
	f.fire(func(v *job.Version) { v.TotalTimeout = job.Duration(time.Hour) })
	f.mustHold(bus.HoldRequest{By: "ann"})
	f.ends("a", job.StatusSucceeded, ``)
	f.said = nil
	f.pass(2 * time.Hour)
	f.wantSaid("b cancelled: the run took longer than 1h", "run timed_out: the run took longer than 1h")
	f.wantOver()
}

func TestOnlyABegunWorkflowIsPutOnHold(t *testing.T) {
	f := newFlow(t, after("a"))
	f.fire()
	step := f.out["a"].RunID
	for _, c := range []struct {
		r    bus.HoldRequest
		want string
	}{
		{bus.HoldRequest{ID: flowRun, RunID: step, Job: "g/a"}, "of job g/a is not alive"},
		{bus.HoldRequest{ID: flowRun, RunID: flowRun, Job: "g/b"}, "of job g/b is not alive"},
		{bus.HoldRequest{ID: flowRun, RunID: "x", Job: "g/a"}, "run_id"},
		{bus.HoldRequest{ID: flowRun, RunID: flowRun, Job: "g/a", Note: "late", Resume: true}, "note"},
	} {
		_, err := f.m.Requests.Hold(c.r)
		f.wantRefused(err, c.want)
	}
}
