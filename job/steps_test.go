package job_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

func step(name string, sources ...string) job.Step {
	s := job.Step{Step: workflow.Step{Name: name}, Task: job.Task{Handler: name}}
	for _, source := range sources {
		s.After = append(s.After, workflow.Edge{Step: source, On: workflow.OnSuccess})
	}
	return s
}

func workflowOf(steps ...job.Step) job.Job { return job.Job{Job: "g/a", Steps: steps}.WithDefaults() }

func TestAWorkflowIsCheckedAsAWhole(t *testing.T) {
	wrong := func(want string, change func(*job.Job)) {
		t.Helper()
		j := workflowOf(step("a"), step("b", "a"), step("c", "b"))
		change(&j)
		err := j.Validate()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	if j := workflowOf(step("a"), step("b", "a")); j.Validate() != nil {
		t.Fatal(j.Validate())
	}
	wrong(`task does not go with steps: each step has its own task`, func(j *job.Job) { j.Task.Handler = "h" })
	wrong(`map does not go with steps`, func(j *job.Job) { j.Map = &job.Map{Pieces: 2} })
	wrong(`route broadcast does not go with steps`, func(j *job.Job) { j.Route = job.RouteBroadcast })
	wrong(`steps[1].route broadcast is for jobs without steps`, func(j *job.Job) { j.Steps[1].Route = job.RouteBroadcast })
	wrong(`succeeds_if does not go with steps`, func(j *job.Job) { j.SucceedsIf = 80 })
	wrong(`retry.drop_stale does not go with steps`, func(j *job.Job) { j.Retry.DropStale = true })
	wrong(`on_failure "give up" must be continue, stop or cancel`, func(j *job.Job) { j.OnFailure = "give up" })
	wrong(`steps[1].after "x" is no step`, func(j *job.Job) { j.Steps[1].After[0].Step = "x" })
	wrong(`steps[1].task must have exactly one of handler, shell, command, http and script`, func(j *job.Job) { j.Steps[1].Task = job.Task{} })
	wrong(`steps[2].timeout -1s must be between 0 (no limit) and 720h`, func(j *job.Job) { j.Steps[2].Timeout = job.Duration(-time.Second) })
	wrong(`steps[2].retry.limit 101 must be between 0 and 100`, func(j *job.Job) { j.Steps[2].Retry = &job.Retry{Limit: 101} })
	wrong(`on_failure stop never lets steps[1] run, which waits for a failure: use continue`, func(j *job.Job) {
		j.OnFailure, j.Steps[1].After[0].On = job.FailureStops, workflow.OnFailure
	})
	params := func(i int, text, want string) {
		t.Helper()
		wrong(want, func(j *job.Job) { j.Steps[i].Params = json.RawMessage(text) })
	}
	params(1, `"${results.c.x}"`, `steps[1].params names ${results.c.x}, but c does not come before b: add it to after`)
	params(1, `"${results.aa}"`, `steps[1].params names ${results.aa}, but "aa" is no step`)
	params(1, `"${workflow.status}"`, `steps[1].params names ${workflow.status}, which only finally steps know`)
	params(1, `"${results}"`, `steps[1].params ${results} must name a step, such as ${results.load}`)
	wrong(`result names ${results.d}, but "d" is no step`, func(j *job.Job) { j.Result = json.RawMessage(`"${results.d}"`) })
	wrong(`steps[2].params names ${results.b}, which may not have ended when join lets the step run: write ${results.b?} for null until then`,
		func(j *job.Job) {
			j.Steps[1].After = nil
			j.Steps[2].After, j.Steps[2].Join.Least = append(j.Steps[2].After, workflow.Edge{Step: "a", On: workflow.OnSuccess}), 1
			j.Steps[2].Params = json.RawMessage(`"${results.b}"`)
		})
	j := job.Job{Job: "g/a", Task: job.Task{Handler: "h"}, OnFailure: job.FailureStops, Result: json.RawMessage(`1`)}
	if err := j.Validate(); err == nil || err.Error() != "on_failure is for jobs with steps\nresult is for jobs with steps" {
		t.Errorf("%v", err)
	}
}

func TestAStepTakesOverWhatItsJobSays(t *testing.T) {
	j := workflowOf(step("a"), step("b"))
	j.Timeout, j.Labels, j.Retry = job.Duration(time.Minute), job.Labels{"zone": "eu"}, job.Retry{Limit: 3}
	j.Steps[1].Timeout, j.Steps[1].Labels, j.Steps[1].Retry = job.Duration(time.Second), job.Labels{}, &job.Retry{}
	j.Steps[1].Finally = true
	a, b := j.Steps[0].Effective(&j), j.Steps[1].Effective(&j)
	if a.Timeout.Std() != time.Minute || a.Labels["zone"] != "eu" || a.Retry.Limit != 3 || a.Retry.Delay == 0 || a.StartWithin != 0 || a.Task.Handler != "a" {
		t.Errorf("%+v", a)
	}
	if b.Timeout.Std() != time.Second || len(b.Labels) != 0 || b.Retry.Limit != 0 || b.StartWithin != job.FinallyLimit {
		t.Errorf("%+v", b)
	}
}
