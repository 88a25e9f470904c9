package shard

import (
	"encoding/json"
	"strings"
	"testing"

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
	f.wantRefused(err, "is only for a step that counts as succeeded")
	if !f.m.Cancels.Add(run, "cancelled", false) {
		t.Fatal("not cancelled")
	}
	f.goOn()
	f.ends("b", job.StatusCancelled, ``)
	_, err = f.recover(run, "b", "1", "", "")
	f.wantRefused(err, "is being ended")
}
