package job_test

import (
	"encoding/json"
	"fmt"
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
	wrong(`succeeds_if does not go with steps`, func(j *job.Job) { j.SucceedsIf = 80 })
	wrong(`retry.drop_stale does not go with steps`, func(j *job.Job) { j.Retry.DropStale = true })
	wrong(`on_failure "give up" must be continue, stop or cancel`, func(j *job.Job) { j.OnFailure = "give up" })
	wrong(`steps[1].after "x" is no step`, func(j *job.Job) { j.Steps[1].After[0].Step = "x" })
	wrong(`steps[1].task must have exactly one of handler, shell, command, http, script and watch`, func(j *job.Job) { j.Steps[1].Task = job.Task{} })
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

func TestAStepMayBeDoneInPieces(t *testing.T) {
	check := func(step, want string) {
		t.Helper()
		_, err := job.Decode([]byte(`{"job":"g/a","at_once":2,"steps":[{"step":"list","task":{"handler":"h"}},` + step + `]}`))
		if got := fmt.Sprint(err); got != want && (want != "" || err != nil) {
			t.Errorf("%s: %s; want %s", step, got, want)
		}
	}
	load := func(fields, want string) {
		t.Helper()
		check(`{"step":"load","after":"list","task":{"handler":"h"},`+fields+`}`, want)
	}
	load(`"map":{"over":"${results.list.files}","at_once":20},"succeeds_if":"80%"`, "")
	load(`"map":{"over":"${params.files}"}`, "")
	load(`"map":{"pieces":4}`, "")
	load(`"map":{"split":true}`, "")
	load(`"route":"broadcast","at_once":3,"succeeds_if":"all"`, "")
	load(`"map":{"over":"${results.lst}"}`, `steps[1].map.over names ${results.lst}, but "lst" is no step; did you mean "list"?`)
	load(`"map":{"over":"${results.load}"}`, `steps[1].map.over names ${results.load}, but load does not come before load: add it to after`)
	load(`"map":{"over":"all of ${results.list}"}`, `steps[1].map.over "all of ${results.list}" must be one reference, such as ${results.list} or ${params.list}`)
	load(`"map":{"over":"${HOME}"}`, `steps[1].map.over "${HOME}" must be one reference, such as ${results.list} or ${params.list}`)
	load(`"map":{"over":"${results.list}${params.x}"}`, `steps[1].map.over ${results.list}${params.x}: "list}${params" must be the name of a field`)
	load(`"map":{"over":"${workflow.run_id}"}`, `steps[1].map.over "${workflow.run_id}" is no list; name a result or a parameter`)
	load(`"map":{"over":"${params.x}","pieces":3}`, `steps[1].map.over does not go with map.pieces or map.split: its list has the pieces`)
	load(`"map":{"over":["a"]}`, `steps[1].map.over must be text, not array`)
	load(`"map":{"of":"x"}`, `steps[1].map.of is not a known field`)
	load(`"map":{}`, `steps[1].map.pieces 0 must be between 1 and 10000, or map.split true`)
	load(`"map":{"pieces":4,"at_once":-1}`, `steps[1].map.at_once -1 must be between 0 (no limit) and 10000`)
	load(`"map":{"pieces":4},"route":"broadcast"`, `steps[1].map does not go with route broadcast, which makes a piece for each instance`)
	load(`"succeeds_if":"80%"`, `steps[1].succeeds_if is for what is done in pieces: with route broadcast, or map`)
	load(`"succeeds_if":"most"`, `steps[1].succeeds_if "most" must be "all", or the share of pieces that have to succeed, from "1%" to "100%"`)
	load(`"at_once":3`, `steps[1].at_once goes with steps or with route broadcast; in a map it is map.at_once`)
	for field, value := range map[string]string{"map": `{"pieces":2}`, "at_once": `2`, "succeeds_if": `"80%"`} {
		check(`{"step":"b","call":"h/b","`+field+`":`+value+`}`, `steps[1].`+field+` does not go with call: the called job has its own`)
	}
	j := job.Job{Job: "g/a", Task: job.Task{Handler: "h"}, Map: &job.Map{Over: "${params.x}"}}
	if err := j.Validate(); err == nil || err.Error() != "map.over is for steps of a workflow; a job can have map.split" {
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
