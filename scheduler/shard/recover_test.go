package shard

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// recover asks to retry or resolve a step of a run, under a key.
func (f *flow) recover(run job.RunID, step, key string, as job.Status, result string) (*Asked, error) {
	f.t.Helper()
	done, err := f.m.Requests.Recover(bus.RecoverRequest{
		ID: job.RetryRunID(run, step+key), RunID: run, Job: "g/a", Step: step, As: as, Result: json.RawMessage(result), By: "ann", Note: "disk freed",
	})
	f.goOn()
	return done, err
}

func (f *flow) wantRefused(err error, want string) {
	f.t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		f.t.Errorf("the error is %v, want %q", err, want)
	}
}

func TestAFailedStepIsRetriedWhileOthersRun(t *testing.T) {
	f := newFlow(t, after("extract"), after("long"), with(after("load", "extract"), params(`"${results.extract.path}"`)),
		after("report", "load"), after("tell", "load:failure"))
	f.fire()
	run := f.out["extract"].ParentRun
	f.ends("extract", job.StatusSucceeded, `{"path":"/a"}`)
	first := f.out["load"].RunID
	f.ends("load", job.StatusFailed, ``)
	f.wantSaid(`report skipped: it runs on success of step load, which ended as failed`)
	_, err := f.recover(run, "load", "1", "", "")
	f.wantRefused(err, "tell, which follows load, is running: wait for it or cancel it")
	f.ends("tell", job.StatusSucceeded, ``)
	_, err = f.recover(run, "extract", "1", "", "")
	f.wantRefused(err, "step extract is succeeded; only steps that ended badly or were cancelled can be retried or resolved")
	_, err = f.recover(run, "lod", "1", "", "")
	f.wantRefused(err, "the run has no step lod")

	if done, err := f.recover(run, "load", "1", "", ""); done != nil || err != nil {
		t.Fatal(done, err)
	}
	f.wantSaid(`load queued: retried by ann; disk freed`, `report queued: it is decided again, as step load was retried or resolved`,
		`tell queued: it is decided again, as step load was retried or resolved`)
	f.wantOut("load", "long")
	f.wantParams("load", `"/a"`)
	if id := f.out["load"].RunID; id != job.RoundRunID(run, "load", 2) || id == first {
		t.Errorf("the second round is run %s", id)
	}
	f.succeed()
	if done, err := f.recover(run, "load", "1", "", ""); err != nil || done == nil || done.Round != 2 || done.Status != job.StatusQueued {
		t.Errorf("asked again: %+v, %v", done, err)
	}
	f.ends("load", job.StatusFailed, ``)
	f.ends("tell", job.StatusFailed, ``)
	f.wantSaid(`report skipped: it runs on success of step load, which ended as failed`)
	if _, err := f.recover(run, "load", "2", job.StatusSucceeded, `{"rows":7}`); err != nil {
		t.Fatal(err)
	}
	f.wantSaid(`load succeeded: resolved by ann; disk freed`, `report queued: it is decided again, as step load was retried or resolved`,
		`tell queued: it is decided again, as step load was retried or resolved`, `tell skipped: it runs on failure of step load, which ended as succeeded`)
	f.wantOut("long", "report")
	f.ends("long", job.StatusSucceeded, ``)
	f.ends("report", job.StatusSucceeded, ``)
	f.wantSaid(`run succeeded: 4 of 5 steps succeeded; 1 was skipped`)
	f.wantOver()
	_, err = f.recover(run, "load", "3", "", "")
	f.wantRefused(err, "is not alive")
}

// retryWith asks to retry a step with other parameters.
func (f *flow) retryWith(run job.RunID, step, key string, p bus.GivenParams) error {
	f.t.Helper()
	_, err := f.m.Requests.Recover(bus.RecoverRequest{ID: job.RetryRunID(run, step+key), RunID: run, Job: "g/a", Step: step, By: "ann", GivenParams: p})
	f.goOn()
	return err
}

func fields(text string) bus.GivenParams {
	var set map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &set); err != nil {
		panic(err)
	}
	return bus.GivenParams{SetParams: set}
}

func TestAStepIsRetriedWithOtherParameters(t *testing.T) {
	f := newFlow(t, after("a"), with(after("b", "a"), params(`{"path":"${results.a.path}","day":"x","old":1}`)), after("plain", "a"), after("long"))
	f.fire(func(v *job.Version) { v.Params = json.RawMessage(`{"region":"eu"}`) })
	run := f.out["a"].ParentRun
	f.ends("a", job.StatusSucceeded, `{"path":"/a"}`)
	f.ends("b", job.StatusFailed, ``)
	if err := f.retryWith(run, "b", "1", fields(`{"day":"y","old":null}`)); err != nil {
		t.Fatal(err)
	}
	f.wantParams("b", `{"day":"y","path":"/a"}`)
	f.ends("b", job.StatusFailed, ``)
	if err := f.retryWith(run, "b", "2", bus.GivenParams{Params: json.RawMessage(`["${results.a.path}"]`)}); err != nil {
		t.Fatal(err)
	}
	f.wantParams("b", `["${results.a.path}"]`)
	f.ends("b", job.StatusFailed, ``)
	if err := f.retryWith(run, "b", "3", bus.GivenParams{}); err != nil {
		t.Fatal(err)
	}
	f.wantParams("b", `{"day":"x","old":1,"path":"/a"}`)
	f.ends("b", job.StatusSucceeded, ``)
	f.ends("plain", job.StatusFailed, ``)
	if err := f.retryWith(run, "plain", "1", fields(`{"n":9007199254740993}`)); err != nil {
		t.Fatal(err)
	}
	f.wantParams("plain", `{"n":9007199254740993,"region":"eu"}`)
	f.ends("plain", job.StatusSucceeded, ``)
	f.ends("long", job.StatusSucceeded, ``)
	f.wantOver()
}

func TestParametersOfARetryOutliveTheOwner(t *testing.T) {
	again := with(after("b"), func(s *job.Step) { s.Retry = &job.Retry{Limit: 1, Delay: job.Duration(time.Minute)} })
	f := newFlow(t, again, after("c", "a"), after("a"))
	f.fire(func(v *job.Version) { v.OnFailure, v.AtOnce = job.FailureStops, 2 })
	run := f.out["a"].ParentRun
	f.wantOut("a", "b")
	f.m.PutRoom(&Room{Full: map[string]bool{"g": true}}, noon.Add(f.now).UnixMilli())
	f.ends("a", job.StatusFailed, ``)
	if err := f.retryWith(run, "a", "1", fields(`{"x":1}`)); err != nil {
		t.Fatal(err)
	}
	f.wantOut("b") // a has no room
	if err := f.retryWith(run, "a", "2", fields(`{"x":2}`)); err == nil {
		t.Error("it is retried while it waits for room")
	}
	f.succeed()
	f.wantParams("a", `{"x":1}`)
	f.ends("a", job.StatusSucceeded, ``)
	f.ends("c", job.StatusFailed, ``)
	if err := f.retryWith(run, "c", "1", fields(`{"x":3}`)); err != nil {
		t.Fatal(err)
	}
	f.wantParams("c", `{"x":3}`)
	f.ends("c", job.StatusSucceeded, ``)

	f.ends("b", job.StatusFailed, ``)
	f.now += 2 * time.Minute
	f.goOn()
	f.ends("b", job.StatusFailed, ``)
	f.wantOver()
}

func TestAttemptsOfARetryKeepItsParameters(t *testing.T) {
	f := newFlow(t, with(after("a"), func(s *job.Step) { s.Retry = &job.Retry{Limit: 1, Delay: job.Duration(time.Minute)} }), after("long"))
	f.fire()
	run := f.out["a"].ParentRun
	f.ends("a", job.StatusFailed, ``)
	f.now += 2 * time.Minute
	f.goOn()
	f.ends("a", job.StatusFailed, ``)
	if err := f.retryWith(run, "a", "1", fields(`{"x":1}`)); err != nil {
		t.Fatal(err)
	}
	f.ends("a", job.StatusFailed, ``)
	f.succeed()
	f.now += 4 * time.Minute
	f.goOn()
	f.wantParams("a", `{"x":1}`)
	f.ends("a", job.StatusSucceeded, ``)
	f.ends("long", job.StatusSucceeded, ``)
	f.wantOver()
}

func TestParametersOfARetryAreRefused(t *testing.T) {
	call := with(after("call", "list"), func(s *job.Step) { s.Task, s.Call = job.Task{}, "h/none" })
	wait := with(after("wait", "list"), func(s *job.Step) { s.Task, s.Wait = job.Task{}, &job.Wait{For: job.Duration(time.Minute)} })
	f := newFlow(t, with(after("list"), params(`[1]`)), call, after("long"), wait)
	f.fire(func(v *job.Version) { v.OnFailure = job.FailureStops })
	run := f.out["long"].ParentRun
	f.ends("list", job.StatusFailed, ``)
	f.wantRefused(f.retryWith(run, "long", "1", fields(`{"x":1}`)), "step long is running")
	f.wantRefused(f.retryWith(run, "call", "1", fields(`{"x":1}`)), "step call passes no parameters to the job that it calls: give all of them, not some")
	f.wantRefused(f.retryWith(run, "wait", "1", fields(`{"x":1}`)), "step wait waits, and takes no parameters")
	f.wantRefused(f.retryWith(run, "call", "1", bus.GivenParams{Params: json.RawMessage(`1`), SetParams: map[string]json.RawMessage{"x": nil}}), "set_params")
	f.wantRefused(f.retryWith(run, "call", "1", bus.GivenParams{Params: json.RawMessage(`{`)}), "params")
	long := json.RawMessage(fmt.Sprintf("%q", strings.Repeat("x", job.MaxParams)))
	f.wantRefused(f.retryWith(run, "call", "1", bus.GivenParams{Params: long}), "at most 65536 are passed on")
	f.said = nil
	if err := f.retryWith(run, "list", "1", fields(`{"x":1}`)); err != nil {
		t.Fatal(err)
	}
	f.wantSaid("list queued: retried by ann", "call queued: it is decided again, as step list was retried or resolved",
		"wait queued: it is decided again, as step list was retried or resolved",
		"list failed: its parameters cannot be computed: they are no object, so no field of them can be changed",
		"call cancelled: step list ended badly, after which no further step begins",
		"wait cancelled: step list ended badly, after which no further step begins")
}

func TestARetryLiftsTheStop(t *testing.T) {
	f := newFlow(t, after("a"), after("b"), after("c", "a"), after("d", "b"))
	f.fire(func(v *job.Version) { v.OnFailure = job.FailureStops })
	run := f.out["a"].ParentRun
	f.ends("a", job.StatusFailed, ``)
	f.said = nil
	if _, err := f.recover(run, "a", "1", "", ""); err != nil {
		t.Fatal(err)
	}
	f.said = nil
	f.ends("a", job.StatusSucceeded, ``)
	f.ends("b", job.StatusSucceeded, ``)
	f.wantOut("c", "d")
	f.ends("c", job.StatusFailed, ``)
	f.ends("d", job.StatusFailed, ``)
	f.wantSaid(`run failed: 2 of 4 steps ended badly: c, d`)
	f.wantOver()
}

// cancelStep has a step cancelled by a person while an executor has it.
func (f *flow) cancelStep(step string) {
	f.t.Helper()
	if !f.m.Cancels.Condemn(f.out[step], "cancelled by bob") {
		f.t.Fatalf("step %s is not cancelled", step)
	}
	f.goOn()
	f.ends(step, job.StatusCancelled, ``)
}

func TestARetryLeavesAloneWhatAPersonHasCancelled(t *testing.T) {
	f := newFlow(t, after("a"), after("before"), after("later"), after("out"), after("next", "a"), after("other", "out"))
	f.fire(func(v *job.Version) { v.OnFailure = job.FailureStops })
	run := f.out["a"].ParentRun
	f.cancelStep("before")
	f.ends("a", job.StatusFailed, ``)
	f.cancelStep("later")
	f.succeed()
	f.said = nil
	if _, err := f.recover(run, "a", "1", "", ""); err != nil {
		t.Fatal(err)
	}
	f.wantOut("a", "out")
	f.wantSaid("a queued: retried by ann; disk freed",
		"next queued: it is decided again, as step a was retried or resolved", "other queued: it is decided again, as step a was retried or resolved")
	f.ends("a", job.StatusSucceeded, ``)
	f.ends("out", job.StatusSucceeded, ``)
	f.ends("next", job.StatusSucceeded, ``)
	f.ends("other", job.StatusSucceeded, ``)
	f.wantSaid("run cancelled: 2 of 6 steps were cancelled: before, later")
	f.wantOver()
}

func TestARetryDecidesAgainWhatTheStopHasKilled(t *testing.T) {
	f := newFlow(t, after("a"), after("before"), after("killed"), after("long"), after("other", "killed"))
	f.fire(func(v *job.Version) { v.OnFailure = job.FailureCancels })
	run := f.out["a"].ParentRun
	f.cancelStep("before")
	f.ends("a", job.StatusFailed, ``)
	f.ends("killed", job.StatusCancelled, ``)
	f.succeed()
	f.said = nil
	if _, err := f.recover(run, "a", "1", "", ""); err != nil {
		t.Fatal(err)
	}
	f.wantOut("a", "killed", "long")
	f.wantSaid("a queued: retried by ann; disk freed", "killed queued: it is decided again, as step a was retried or resolved",
		"other queued: it is decided again, as step a was retried or resolved")
}

func TestWhatIsResolvedReturnsAResult(t *testing.T) {
	f := newFlow(t, after("a"), after("b"), with(after("c", "a"), params(`{"n":"${results.a.n}"}`)))
	f.fire()
	run := f.out["a"].ParentRun
	f.ends("a", job.StatusLost, ``)
	if _, err := f.recover(run, "a", "1", job.StatusSucceeded, `{"n":7}`); err != nil {
		t.Fatal(err)
	}
	f.wantParams("c", `{"n":7}`)
	_, err := f.recover(run, "b", "1", job.StatusFailed, "")
	f.wantRefused(err, "must be succeeded or skipped")
	_, err = f.recover(run, "b", "1", job.StatusSkipped, "1")
	f.wantRefused(err, "is only for as: succeeded")
	if !f.m.Cancels.Add(run, "cancelled", false) {
		t.Fatal("not cancelled")
	}
	f.goOn()
	f.ends("b", job.StatusCancelled, ``)
	_, err = f.recover(run, "b", "1", "", "")
	f.wantRefused(err, "is being ended")
}
