package shard

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// waitFor makes a step one that waits.
func waitFor(w job.Wait) func(*job.Step) {
	return func(s *job.Step) { s.Task, s.Wait = job.Task{}, &w }
}

// flowRun is the run that a flow plays.
var flowRun = job.FireRunID("g/a", noon.Add(time.Second).UnixMilli(), job.CauseSchedule)

// pass lets time go by.
func (f *flow) pass(d time.Duration) {
	f.t.Helper()
	f.now += d
	f.goOn()
}

// notify asks to tell a step what it waits for, and returns what is answered.
func (f *flow) notify(r bus.WaitRequest) (*Asked, error) {
	f.t.Helper()
	r.ID, r.Job = job.NewRunID(noon.Add(f.now)), "g/a"
	if done, err := f.m.Requests.Wait(r); done != nil || err != nil {
		return done, err
	}
	f.goOn()
	return f.m.Requests.Wait(r) // asked again, it has no second effect
}

// must tells a step, and wants its status from then on.
func (f *flow) must(want job.Status, r bus.WaitRequest) {
	f.t.Helper()
	got, err := f.notify(r)
	if err != nil || got == nil || got.Status != want || got.Of != flowRun || got.Step == "" || got.Round == 0 {
		f.t.Fatalf("answered %+v, %v; want %s", got, err, want)
	}
}

// wantWait compares what the item says of a wait, "" for none.
func (f *flow) wantWait(step, want string) {
	f.t.Helper()
	got := ""
	for _, d := range f.trig.deferred {
		if d.Kind != journal.DeferredSteps || f.m.items.isReleased(d, f.trig) {
			continue
		}
		if w, ok := d.Steps.Waits[step]; ok {
			got = w.Text()
		}
	}
	if got != want {
		f.t.Errorf("step %s waits for %s\nwant %s", step, got, want)
	}
}

// isReleased reports whether an item of a stream is to go.
func (is *items) isReleased(d *journal.Deferred, s *stream) bool {
	for _, seq := range is.released {
		if s.deferred[seq] == d {
			return true
		}
	}
	return false
}

func TestAStepWaitsForTime(t *testing.T) {
	f := newFlow(t, with(after("pause"), waitFor(job.Wait{For: job.Duration(10 * time.Minute)})),
		with(after("night", "pause"), waitFor(job.Wait{Until: "${params.at}"})), after("ship", "night"),
		with(after("past"), waitFor(job.Wait{Until: "${fire_time|-1h}"})),
		with(after("far", "past:always"), waitFor(job.Wait{Until: "${fire_time|+31d}"})),
		with(after("when", "past:always"), waitFor(job.Wait{Until: "${params.never}"})))
	f.fire(func(v *job.Version) {
		v.AtOnce = 1
		v.Params = json.RawMessage(`{"at":"2026-03-02T22:00:00+08:00","never":"soon"}`)
	})
	f.wantSaid(`pause queued: it waits until 2026-03-02T12:10:01Z`,
		`past succeeded: it has waited until 2026-03-02T11:00:01Z`,
		`far failed: it would wait until 2026-04-02T12:00:01Z; at most 720h are allowed`,
		`when failed: the instant for which it waits is not written as RFC 3339, such as 2026-01-05T22:00:00Z`)
	f.wantWait("pause", `{"kind":"time","since":"2026-03-02T12:00:01Z","at":"2026-03-02T12:10:01Z"}`)
	f.succeed()
	f.pass(10*time.Minute - time.Millisecond)
	f.wantSaid()
	f.pass(time.Millisecond)
	f.wantSaid(`pause succeeded: it has waited until 2026-03-02T12:10:01Z`, `night queued: it waits until 2026-03-02T14:00:00Z`)
	if at, ok := f.m.NextAt(noon.Add(f.now).UnixMilli()); !ok || at > noon.Add(2*time.Hour).UnixMilli() {
		t.Errorf("the machine is next needed at %d, %t", at, ok)
	}
	f.pass(2 * time.Hour)
	f.wantSaid(`night succeeded: it has waited until 2026-03-02T14:00:00Z`)
	f.wantOut("ship")
	f.ends("ship", job.StatusSucceeded, ``)
	f.wantSaid(`run failed: 2 of 6 steps ended badly: far, when`)
	f.wantOver()
}

func TestASignalEndsAWait(t *testing.T) {
	f := newFlow(t, after("build"),
		with(after("paid", "build"), waitFor(job.Wait{Signal: "paid", Key: "${params.order}", Expires: job.Duration(48 * time.Hour)})),
		with(after("ship", "paid"), params(`"${results.paid.sum}"`)))
	f.fire(func(v *job.Version) { v.Params = json.RawMessage(`{"order":17}`) })
	f.ends("build", job.StatusSucceeded, ``)
	f.wantSaid(`paid queued: it waits for signal paid`)
	f.wantWait("paid", `{"kind":"signal","since":"2026-03-02T12:00:01Z","expires_at":"2026-03-04T12:00:01Z","signal":"paid","key":"17"}`)
	_, err := f.notify(bus.WaitRequest{Act: bus.WaitSignal, Signal: "paid", Key: "18"})
	f.wantRefused(err, "no run of g/a waits for signal paid with key 18")
	if !errors.Is(err, job.ErrNotFound) {
		t.Error(err)
	}
	_, err = f.notify(bus.WaitRequest{Act: bus.WaitSignal, Signal: "paid"})
	f.wantRefused(err, "no run of g/a waits for signal paid")
	_, err = f.notify(bus.WaitRequest{Act: bus.WaitSignal, RunID: flowRun, Signal: "called"})
	f.wantRefused(err, "does not wait for signal called")
	_, err = f.notify(bus.WaitRequest{Act: bus.WaitApprove, RunID: flowRun, Step: "paid", By: "ann"})
	f.wantRefused(err, "step paid waits for something else")
	f.must(job.StatusSucceeded, bus.WaitRequest{Act: bus.WaitSignal, Signal: "paid", Key: "17", Result: json.RawMessage(`{"sum":3}`), By: "shop"})
	f.wantSaid(`paid succeeded: the signal came from shop`)
	f.wantParams("ship", `3`)
	_, err = f.notify(bus.WaitRequest{Act: bus.WaitSignal, Signal: "paid", Key: "17"})
	f.wantRefused(err, "paid has come already, at 2026-03-02T12:00:01Z, from shop")
	if !errors.Is(err, job.ErrConflict) {
		t.Error(err)
	}
	f.ends("ship", job.StatusSucceeded, ``)
	f.wantSaid(`run succeeded`)
	f.wantOver()
}

func TestASignalToAQueuedRunIsRefusedUntilItBegins(t *testing.T) {
	f := newFlow(t, with(after("paid"), waitFor(job.Wait{Signal: "paid", Key: "${params.order}"})))
	f.fire(func(v *job.Version) {
		v.Params = json.RawMessage(`{"order":17}`)
		v.Overlap = job.Overlap{Policy: job.OverlapQueue, Limit: 1, Queue: 5}
	})
	next := job.RunID("019caeb2-0000-7000-8000-000000000001")
	if _, err := f.m.Requests.Submit(bus.TriggerRequest{RunID: next, Job: "g/a", Cause: job.CauseManual, Params: json.RawMessage(`{"order":18}`)}); err != nil {
		t.Fatal(err)
	}
	f.goOn()
	toNext, byKey := bus.WaitRequest{Act: bus.WaitSignal, RunID: next, Signal: "paid"}, bus.WaitRequest{Act: bus.WaitSignal, Signal: "paid", Key: "18"}
	for _, r := range []bus.WaitRequest{toNext, byKey} {
		_, err := f.notify(r)
		f.wantRefused(err, "run "+string(next)+" is queued and takes no signals: send paid again when the run has begun")
		if !errors.Is(err, job.ErrConflict) {
			t.Error(err)
		}
	}
	f.must(job.StatusSucceeded, bus.WaitRequest{Act: bus.WaitSignal, Signal: "paid", Key: "17"})
	f.goOn()
	if got, err := f.notify(byKey); err != nil || got == nil || got.Of != next || got.Status != job.StatusSucceeded {
		t.Errorf("the run has begun, and the signal is answered by %+v, %v", got, err)
	}
}

func TestASignalMayComeBeforeItsStepWaits(t *testing.T) {
	f := newFlow(t, after("build"), with(after("paid", "build"), waitFor(job.Wait{Signal: "paid"})),
		with(with(after("early", "build:always", "paid"), func(s *job.Step) { s.Join.Least = 1 }), params(`{"x":"${results.paid?}"}`)),
		with(after("other"), waitFor(job.Wait{Signal: "other"})))
	f.fire()
	f.said = nil
	f.must(job.StatusQueued, bus.WaitRequest{Act: bus.WaitSignal, Signal: "paid", Result: json.RawMessage(`{"sum":3}`), By: "shop"})
	f.wantSaid()
	_, err := f.notify(bus.WaitRequest{Act: bus.WaitSignal, RunID: flowRun, Signal: "paid"})
	f.wantRefused(err, "paid has come already, at 2026-03-02T12:00:01Z, from shop")
	f.succeed()
	f.ends("build", job.StatusFailed, ``)
	f.wantSaid(`paid skipped: it runs on success of step build, which ended as failed`)
	f.wantParams("early", `{"x":null}`) // what came is not what a skipped step returns
	if _, err := f.recover(flowRun, "build", "1", "", ""); err == nil {
		t.Fatal("recovered while a follower runs")
	}
	f.ends("early", job.StatusSucceeded, ``)
	if _, err := f.recover(flowRun, "build", "1", "", ""); err != nil {
		t.Fatal(err)
	}
	f.said = nil
	f.must(job.StatusQueued, bus.WaitRequest{Act: bus.WaitSignal, Signal: "paid", Result: json.RawMessage(`{"sum":4}`)}) // of the next round
	f.succeed()
	f.ends("build", job.StatusSucceeded, ``)
	f.wantSaid(`paid succeeded: the signal came`)
	f.wantParams("early", `{"x":{"sum":4}}`)
	f.ends("early", job.StatusSucceeded, ``)
	f.must(job.StatusSucceeded, bus.WaitRequest{Act: bus.WaitSignal, RunID: flowRun, Signal: "other"})
	f.wantOver()
}

func TestAStepWaitsForApproval(t *testing.T) {
	approve := func(by, note string) bus.WaitRequest {
		return bus.WaitRequest{RunID: flowRun, Step: "ok", Act: bus.WaitApprove, By: by, Note: note}
	}
	steps := []job.Step{
		with(after("ok"), waitFor(job.Wait{Approval: &job.Approval{Min: 2, NotByRequester: true}, Expires: job.Duration(8 * time.Hour)})),
		with(after("ship", "ok"), params(`"${results.ok.note}"`)), after("undo", "ok:failure"),
	}
	f := newFlow(t, steps...)
	f.fire()
	f.wantSaid(`ok queued: it waits for approval by role:operator`)
	f.pass(time.Minute)
	f.must(job.StatusQueued, approve("ann", ""))
	f.wantSaid(`ok queued: it waits for approval by role:operator`)
	f.wantWait("ok", `{"kind":"approval","since":"2026-03-02T12:00:01Z","expires_at":"2026-03-02T20:00:01Z","by":["role:operator"],"not_by_requester":true,"min":2,"approvals":[{"by":"ann","at":"2026-03-02T12:01:01Z"}]}`)
	f.succeed()
	_, err := f.notify(approve("ann", ""))
	f.wantRefused(err, "ann has approved already, at 2026-03-02T12:01:01Z")
	f.must(job.StatusSucceeded, approve("bob", "looks well"))
	f.wantSaid(`ok succeeded: approved by bob`, `undo skipped: it runs on failure of step ok, which ended as succeeded`)
	f.wantParams("ship", `"looks well"`)
	_, err = f.notify(approve("cho", ""))
	f.wantRefused(err, "step ok does not wait: it is succeeded")
	f.ends("ship", job.StatusSucceeded, ``)
	f.said = nil
	f.wantOver()
	_, err = f.notify(approve("cho", ""))
	f.wantRefused(err, "is not alive")

	f = newFlow(t, steps...)
	f.fire()
	f.must(job.StatusQueued, approve("ann", ""))
	f.said = nil
	f.must(job.StatusFailed, bus.WaitRequest{RunID: flowRun, Step: "ok", Act: bus.WaitReject, By: "ann", Note: "not today"})
	f.wantSaid(`ok failed: rejected by ann; not today`, `ship skipped: it runs on success of step ok, which ended as failed`)
	f.wantOut("undo")
}

func TestAWaitExpiresAndMayBeRetried(t *testing.T) {
	f := newFlow(t, with(after("ok"), waitFor(job.Wait{Approval: &job.Approval{}, Expires: job.Duration(time.Hour)})), after("ship", "ok"),
		with(after("go"), waitFor(job.Wait{Signal: "go"})))
	f.fire()
	f.said = nil
	f.pass(time.Hour)
	f.wantSaid(`ok timed_out: what it waited for did not come within 1h`, `ship skipped: it runs on success of step ok, which ended as timed_out`)
	if _, err := f.recover(flowRun, "ok", "1", "", ""); err != nil {
		t.Fatal(err)
	}
	f.said = nil
	f.wantWait("ok", `{"kind":"approval","since":"2026-03-02T13:00:01Z","expires_at":"2026-03-02T14:00:01Z","by":["role:operator"],"min":1}`)
	f.succeed()
	f.pass(time.Hour - time.Millisecond)
	f.wantSaid()
	f.pass(time.Millisecond)
	f.wantSaid(`ok timed_out: what it waited for did not come within 1h`, `ship skipped: it runs on success of step ok, which ended as timed_out`)
	if _, err := f.recover(flowRun, "ok", "2", job.StatusSucceeded, ""); err != nil {
		t.Fatal(err)
	}
	f.ends("ship", job.StatusSucceeded, ``)
	f.must(job.StatusSucceeded, bus.WaitRequest{Act: bus.WaitSignal, Signal: "go"})
	f.wantOver()
}

func TestAStepWaitsForRuns(t *testing.T) {
	f := newFlow(t,
		with(after("hours"), waitFor(job.Wait{Runs: &job.AwaitedRuns{Job: "g/hour", From: "${fire_time|-1d|day}", To: "${fire_time|day}", Need: "80%", Skipped: "ok"}, Expires: job.Duration(6 * time.Hour)})),
		with(after("past"), waitFor(job.Wait{Runs: &job.AwaitedRuns{Job: "g/a", Last: 1}})),
		with(after("back"), waitFor(job.Wait{Runs: &job.AwaitedRuns{Job: "g/a", From: "${fire_time}", To: "${fire_time}"}})),
		with(after("build", "hours", "past"), params(`"${results.hours.met}"`)))
	f.fire()
	f.wantSaid(`hours queued: it waits for runs of job g/hour`, `past queued: it waits for runs of job g/a`,
		`back failed: the period of runs for which it waits ends before it begins: 2026-03-02T12:00:01Z to 2026-03-02T12:00:01Z`)
	f.wantWait("hours", `{"kind":"runs","since":"2026-03-02T12:00:01Z","expires_at":"2026-03-02T18:00:01Z","runs":{"job":"g/hour","from":"2026-03-01T00:00:00Z","to":"2026-03-02T00:00:00Z","need":"80%","skipped":"ok"}}`)
	f.wantWait("past", `{"kind":"runs","since":"2026-03-02T12:00:01Z","runs":{"job":"g/a","last":1,"skipped":"bad"}}`)
	met := func(step string, since time.Time) bus.WaitRequest {
		return bus.WaitRequest{RunID: flowRun, Step: step, Act: bus.WaitMet, Result: json.RawMessage(`{"met":20,"of":24}`), Since: since}
	}
	_, err := f.notify(met("hours", noon))
	f.wantRefused(err, "step hours has begun to wait anew")
	f.must(job.StatusSucceeded, met("hours", noon.Add(time.Second)))
	f.must(job.StatusSucceeded, met("past", time.Time{}))
	f.wantSaid(`hours succeeded: the runs for which it waited are there`, `past succeeded: the runs for which it waited are there`)
	f.wantParams("build", `20`)
}

func TestAWaitEndsWithItsRun(t *testing.T) {
	steps := []job.Step{
		with(after("ok"), waitFor(job.Wait{Approval: &job.Approval{}})), after("ship", "ok"), after("work"),
		with(with(after("last"), waitFor(job.Wait{Signal: "last"})), func(s *job.Step) { s.Finally = true }),
	}
	begin := func(change ...func(*job.Version)) *flow {
		f := newFlow(t, steps...)
		f.fire(change...)
		f.said = nil
		return f
	}
	f := begin()
	f.m.Cancels.Add(flowRun, "cancelled by ann", false)
	f.goOn()
	f.wantSaid(`work killed: cancelled by ann`, `ok cancelled: cancelled by ann`, `ship cancelled: cancelled by ann`)
	f.ends("work", job.StatusCancelled, ``)
	f.wantSaid(`last queued: it waits for signal last`) // finally steps run all the same
	f.succeed()
	f.pass(time.Hour)
	f.wantSaid(`last timed_out: what it waited for did not come within 1h`, `run cancelled: cancelled by ann`)
	f.wantOver()

	f = begin(func(v *job.Version) { v.TotalTimeout = job.Duration(time.Hour) })
	f.pass(time.Hour)
	f.wantSaid(`work killed: the run took longer than 1h`, `ok cancelled: the run took longer than 1h`, `ship cancelled: the run took longer than 1h`)

	f = begin(func(v *job.Version) { v.OnFailure = job.FailureStops })
	f.ends("work", job.StatusFailed, ``)
	f.wantSaid(`ok cancelled: step work ended badly, after which no further step begins`, `ship cancelled: step work ended badly, after which no further step begins`,
		`last queued: it waits for signal last`)
	f.m.Cancels.Add(flowRun, "cancelled by ann", true)
	f.goOn()
	f.wantSaid(`last cancelled: cancelled by ann`, `run cancelled: cancelled by ann`)
	f.wantOver()

	f = begin()
	f.put(f.now, 2, func(v *job.Version) { v.Deleted = true })
	f.goOn()
	f.wantSaid(`ok cancelled: the job was deleted before the step began`, `ship cancelled: the job was deleted before the step began`,
		`last cancelled: the job was deleted before the step began`)
	f.ends("work", job.StatusSucceeded, ``)
	f.said = nil
	f.wantOver()
}

func TestAWaitIsCancelledAlone(t *testing.T) {
	f := newFlow(t, with(after("ok"), waitFor(job.Wait{Approval: &job.Approval{}})), after("ship", "ok"), after("tell", "ok:always"))
	f.fire()
	f.said = nil
	if !f.m.Cancels.Add(job.StepRunID(flowRun, "ok"), "cancelled by ann", false) {
		t.Fatal("the step is not known")
	}
	if _, alive := f.m.Alive(job.StepRunID(flowRun, "ok"), "g/a"); !alive {
		t.Error("the step is not alive")
	}
	if out := f.m.Out(1 << 62); len(out) != 0 {
		t.Errorf("%v are out", out)
	}
	f.goOn()
	f.wantSaid(`ok cancelled: cancelled by ann`, `ship skipped: it runs on success of step ok, which ended as cancelled`)
	f.wantOut("tell")
	f.wantWait("ok", "")
	f.ends("tell", job.StatusSucceeded, ``)
	f.wantSaid(`run cancelled: 1 of 3 steps were cancelled: ok`)
	f.wantOver()
}

func TestStepsThatWaitLeaveRoomForOthers(t *testing.T) {
	f := newFlow(t, with(after("ok"), waitFor(job.Wait{Approval: &job.Approval{}})), after("a"), after("b"), with(after("go"), waitFor(job.Wait{Signal: "go"})))
	f.fire(func(v *job.Version) { v.AtOnce = 1 })
	f.wantOut("a")
	f.wantSaid(`ok queued: it waits for approval by role:operator`, `go queued: it waits for signal go`)
	f.succeed()
	f.wantOut("a")
	f.ends("a", job.StatusSucceeded, ``)
	f.wantOut("b")
}

func TestTheOldestRunGetsASignal(t *testing.T) {
	f := newFlow(t, with(after("paid"), waitFor(job.Wait{Signal: "paid", Key: "${params.order?}"})), after("ship", "paid"))
	f.fire(func(v *job.Version) { v.Params = json.RawMessage(`{"order":"17"}`) })
	var runs []job.RunID
	for i := range 2 {
		r := bus.TriggerRequest{RunID: job.NewRunID(noon.Add(time.Duration(i+2) * time.Second)), Job: "g/a", Cause: job.CauseAPI, Params: json.RawMessage(`{"order":"18"}`)}
		if _, err := f.m.Requests.Submit(r); err != nil {
			t.Fatal(err)
		}
		f.goOn()
		runs = append(runs, r.RunID)
	}
	for _, want := range append(runs, "") {
		got, err := f.notify(bus.WaitRequest{Act: bus.WaitSignal, Signal: "paid", Key: "18", By: "shop"})
		if want == "" {
			f.wantRefused(err, "paid has come already, at 2026-03-02T12:00:01Z, from shop")
		} else if err != nil || got.Of != want {
			t.Errorf("%+v, %v; want %s", got, err, want)
		}
	}
	if got := f.m.runs.byID[flowRun].steps.states; string(got) != string([]workflow.State{workflow.Pending, workflow.Waiting}) {
		t.Errorf("the run with another key is %s", got)
	}
}

func TestARerunTakesOverWhatAWaitReturned(t *testing.T) {
	f := newFlow(t, with(after("ok"), waitFor(job.Wait{Approval: &job.Approval{}})), with(after("ship", "ok"), params(`"${results.ok.by[0]}"`)),
		with(after("go"), waitFor(job.Wait{Signal: "go"})))
	f.fire()
	f.said = nil
	f.must(job.StatusSucceeded, bus.WaitRequest{RunID: flowRun, Step: "ok", Act: bus.WaitApprove, By: "ann"})
	f.ends("ship", job.StatusFailed, ``)
	f.must(job.StatusSucceeded, bus.WaitRequest{Act: bus.WaitSignal, Signal: "go"})
	f.said = nil
	v := f.put(f.now, 1, f.job)
	r := bus.TriggerRequest{
		RunID: job.RetryRunID(flowRun, "1"), Job: "g/a", Cause: job.CauseRerun, RetryOf: flowRun, Version: 1, Body: bodyText(v),
		Taken: map[string]bus.TakenStep{"ok": {RunID: job.StepRunID(flowRun, "ok"), Result: json.RawMessage(`{"by":["ann"]}`)}},
	}
	if _, err := f.m.Requests.Submit(r); err != nil {
		t.Fatal(err)
	}
	f.goOn()
	f.wantParams("ship", `"ann"`)
	if waits := f.m.runs.byID[r.RunID].steps.waits; len(waits) != 1 || waits[2] == nil || waits[2].Kind != runlog.WaitSignal {
		t.Errorf("it waits for %v", waits)
	}
}

func TestAWaitOfDaysHoldsNothingBack(t *testing.T) {
	f := newFlow(t, with(after("week"), waitFor(job.Wait{For: job.Duration(7 * 24 * time.Hour)})))
	f.fire()
	f.said = nil
	idle, others := 0, 0
	for range 7*24*60*60*1000/IdleAfter - 1 {
		f.now += IdleAfter * time.Millisecond
		f.seq++
		f.m.Events.Skip(f.seq) // what other shards' runs leave on EVT
		batch := f.m.Step(noon.Add(f.now).UnixMilli(), bus.MaxBatch)
		if batch == nil {
			continue
		}
		s := f.trig.publish(batch.Messages)
		f.m.Committed(s.first)
		if idle++; len(batch.Messages) != 1 {
			others++
		}
		if f.trig.cursor.EventSeq != f.seq {
			t.Fatalf("after %s the cursor is at event %d of %d", f.now, f.trig.cursor.EventSeq, f.seq)
		}
	}
	if want := int(7*24*time.Hour/(IdleAfter*time.Millisecond)) - 1; idle > want || idle < want-1 || others != 0 {
		t.Errorf("a week takes %d batches, of which %d have more than a cursor", idle, others)
	}
	f.pass(2 * IdleAfter * time.Millisecond)
	f.wantSaid(`week succeeded: it has waited until 2026-03-09T12:00:01Z`, `run succeeded`)
	f.wantOver()
}
