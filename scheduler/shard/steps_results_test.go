package shard

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

func TestARunThatRepeatsAnotherTakesStepsOver(t *testing.T) {
	f := newFlow(t,
		after("extract"), after("clean", "extract"),
		with(after("load", "clean", "extract"), params(`{"from":"${results.extract.path}"}`)),
		with(after("sum", "load"), params(`{"path":"${results.extract.path}"}`)))
	f.fire(func(v *job.Version) { v.Overlap = job.Overlap{Policy: job.OverlapQueue, Limit: 1, Queue: 5} })
	of := f.out["extract"].ParentRun
	v := &job.Version{Version: 1, EffectiveFrom: noon}
	v.Job.Job = "g/a"
	f.job(v)
	v.Job = v.WithDefaults()
	r := bus.TriggerRequest{
		RunID: job.RetryRunID(of, "1"), Job: "g/a", Cause: job.CauseRerun, RetryOf: of, Version: 1, Body: bodyText(v),
		Taken: map[string]bus.TakenStep{"extract": {RunID: "earlier", Result: json.RawMessage(`{"path":"/a"}`)}, "clean": {RunID: "other"}},
	}
	if _, err := f.m.Requests.Submit(r); err != nil {
		t.Fatal(err)
	}
	f.goOn()
	f.wantSaid("run queued: it waits for 1 earlier run")
	f.succeed()
	for _, step := range []string{"extract", "clean"} {
		f.ends(step, job.StatusSucceeded, `{"path":"/b"}`)
	}
	f.ends("load", job.StatusFailed, ``)
	f.wantSaid(
		`sum skipped: it runs on success of step load, which ended as failed`, `run failed: 1 of 4 steps ended badly: load`,
		`extract succeeded: taken over from run earlier`, `clean succeeded: taken over from run other`, `run pending: it was queued for 0s`)
	f.wantOut("load")
	f.wantParams("load", `{"from":"/a"}`)
	f.succeed()
	f.ends("load", job.StatusSucceeded, ``)
	f.wantParams("sum", `{"path":"/a"}`)
	f.ends("sum", job.StatusSucceeded, ``)
	f.wantSaid(`run succeeded`)
	f.wantOver()

	r.RunID = job.RetryRunID(of, "2")
	r.Taken["extract"] = bus.TakenStep{RunID: "earlier", Result: json.RawMessage(strings.Repeat(" ", maxResults+1))}
	if _, err := f.m.Requests.Submit(r); err == nil || !strings.Contains(err.Error(), "at most 1048576 are passed on") {
		t.Errorf("too large results: %v", err)
	}
	r.Body, r.Taken = json.RawMessage(`{"task":{"handler":"h"}}`), map[string]bus.TakenStep{"extract": {}}
	if _, err := f.m.Requests.Submit(r); err == nil || !strings.Contains(err.Error(), "has no steps") {
		t.Errorf("a job without steps: %v", err)
	}
}

func TestAStepFailsWhoseResultIsCutAndUsed(t *testing.T) {
	f := newFlow(t, after("a"), with(after("b", "a"), params(`"${results.a}"`)), after("c"))
	f.fire()
	ends := func(step string) {
		t.Helper()
		of := f.out[step]
		delete(f.out, step)
		e := bus.EventOf(of, bus.EventFinished, noon.Add(f.now))
		result, note := bus.CutResult(json.RawMessage(`"` + strings.Repeat("x", bus.MaxResult) + `"`))
		e.Status, e.Result, e.Message = job.StatusSucceeded, result, note
		f.seq++
		f.m.Event(e, f.seq, noon.Add(f.now).UnixMilli())
		f.goOn()
	}
	ends("c") // nobody asks for it
	f.wantSaid()
	ends("a")
	f.wantSaid(`a failed: other steps refer to its result, which was too large and was cut`,
		`b skipped: it runs on success of step a, which ended as failed`, `run failed: 1 of 3 steps ended badly: a`)
	f.wantOver()
}
