package job_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/exact"
)

func TestADocumentWithStepsIsWrittenAsItIsRead(t *testing.T) {
	const text = `{"job":"g/a","delivery":"at_least_once","route":"any","priority":"normal","overlap":{"policy":"allow"},
		"steps":[
			{"step":"extract","title":"Extract it","task":{"handler":"extract"},"params":{"day":"${fire_time|-1d|yyyy-MM-dd}"},"labels":{}},
			{"step":"load","after":["extract"],"task":{"shell":"true"},"if":"results.extract.rows > 0","timeout":"30m","retry":{"limit":5},"may_fail":true},
			{"step":"tell","after":[{"step":"load","on":"failure"},"extract"],"join":2,"may_fail":true,"task":{"handler":"tell"}},
			{"step":"each","after":["load"],"task":{"handler":"each"},"map":{"over":"${results.load.rows}","at_once":20},"succeeds_if":"80%"},
			{"step":"all","after":["load"],"task":{"handler":"all"},"route":"broadcast","at_once":3},
			{"step":"unlock","finally":true,"task":{"handler":"unlock"}}],
		"on_failure":"cancel","result":{"rows":"${results.load.rows}"}}`
	j, err := job.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(j)
	if err != nil || strings.Contains(string(got), `"task":{}`) {
		t.Fatalf("%s, %v", got, err)
	}
	again, err := job.Decode(got)
	if diff := cmp.Diff(j, again); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	var want, have struct{ Steps, Result json.RawMessage }
	for text, into := range map[string]any{text: &want, string(got): &have} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	if !exact.Same(want.Steps, have.Steps) || !exact.Same(want.Result, have.Result) {
		t.Errorf("%s", got)
	}
}

func TestAWrongFieldOfAStepIsNamedByItsPath(t *testing.T) {
	wrong := func(step, field, reason string) {
		t.Helper()
		_, err := job.Decode([]byte(`{"job":"g/a","steps":[{"step":"a","task":{"handler":"h"}},` + step + `]}`))
		problems := job.Problems(err)
		if len(problems) != 1 || problems[0].Field != field || problems[0].Reason != reason {
			t.Errorf("%s: %v", step, err)
		}
	}
	wrong(`{"step":"b","taks":{}}`, "steps[1].taks", "is not a known field")
	wrong(`{"step":"b","task":{"handlr":"h"}}`, "steps[1].task.handlr", "is not a known field; write handler")
	wrong(`{"step":"b","retry":{"dealy":"3s"}}`, "steps[1].retry.dealy", "is not a known field")
	wrong(`{"step":"b","retry":{"delay":"3"}}`, "steps[1].retry.delay", `duration "3" must be a number with a unit, such as "90s", "5m", "1h30m" or "7d"`)
	wrong(`{"step":"b","timeout":"x"}`, "steps[1].timeout", `duration "x" must be a number with a unit, such as "90s", "5m", "1h30m" or "7d"`)
	wrong(`{"step":"b","title":3}`, "steps[1].title", "must be text, not number")
	wrong(`{"step":"b","if":true}`, "steps[1].if", "must be text, not bool")
	wrong(`{"step":"b","after":{"step":"a","true":"failure"}}`, "steps[1].after.true", `is not a known field; write "on", in quotes`)
	wrong(`{"step":"b","after":["a",{"step":"a","onn":"failure"}]}`, "steps[1].after[1].onn", `is not a known field; there are step and on`)
	wrong(`{"step":"b","after":3}`, "steps[1].after", `must be the name of a step, or an object with step and on`)
	wrong(`{"step":"b","after":["a",3]}`, "steps[1].after[1]", `must be the name of a step, or an object with step and on`)
	wrong(`{"step":"b","after":{"step":3}}`, "steps[1].after.step", `must be text, not number`)
	wrong(`{"step":"b","join":"some"}`, "steps[1].join", `"some" must be all, taken, any, or how many of after are enough`)
	wrong(`{"step":"b","title":" x","task":{"handler":"h"}}`, "steps[1].title", `" x" must not begin or end with a space`)
}

func TestWhatTheJobHasIsReportedOnceForAllSteps(t *testing.T) {
	j := workflowOf(step("a"), step("b"))
	j.Timeout, j.Steps[1].Retry = -1, &job.Retry{Limit: -1}
	var fields []string
	for _, p := range job.Problems(j.Validate()) {
		fields = append(fields, p.Field)
	}
	if want := []string{"steps[1].retry.limit", "timeout"}; !slices.Equal(fields, want) {
		t.Errorf("%q", fields)
	}
}

func TestServersThatDoNotKnowStepsRefuseThem(t *testing.T) {
	v := job.Version{Job: workflowOf(step("a"))}
	if v.Needs() != 2 {
		t.Errorf("%d", v.Needs())
	}
	if v.Deleted = true; v.Needs() != 1 {
		t.Errorf("deleted: %d", v.Needs())
	}
	if v = (job.Version{Job: job.Job{Task: job.Task{Handler: "h"}}}); v.Needs() != 1 {
		t.Errorf("without steps: %d", v.Needs())
	}
}

func TestTheTasksOfAJobAreThoseOfItsSteps(t *testing.T) {
	list := func(j job.Job) (all []string) {
		for path, task := range j.Tasks() {
			all = append(all, path+" "+task.Handler)
		}
		return all
	}
	if got := list(workflowOf(step("a"), step("b"))); !slices.Equal(got, []string{"steps[0].task a", "steps[1].task b"}) {
		t.Errorf("%q", got)
	}
	if got := list(job.Job{Task: job.Task{Handler: "h"}}); !slices.Equal(got, []string{"task h"}) {
		t.Errorf("%q", got)
	}
}

func TestAStepThatCallsAJobHasNothingThatTheCalledJobDecides(t *testing.T) {
	decode := func(step string) (job.Job, []*job.InvalidError) {
		j, err := job.Decode([]byte(`{"job":"g/a","timeout":"1m","retry":{"limit":3},"steps":[` + step + `]}`))
		return j, job.Problems(err)
	}
	j, wrong := decode(`{"step":"close","call":"h/b","params":{"x":1},"timeout":"2h","finally":true}`)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	for range j.Tasks() {
		t.Error("a step that calls a job has a task")
	}
	of := j.Steps[0].Effective(&j)
	if of.Timeout != job.Duration(2*time.Hour) || of.Retry.Limit != 0 || string(of.Params) != `{"x":1}` {
		t.Errorf("%+v", of)
	}
	if got := j.Followers(); !slices.Equal(got, []job.Name{"h/b"}) {
		t.Errorf("%v", got)
	}
	for step, want := range map[string]string{
		`{"step":"a","call":"h/b","task":{"handler":"x"}}`: "steps[0].task does not go with call: a step has one of them",
		`{"step":"a","call":"h/b","retry":{"limit":1}}`:    "steps[0].retry does not go with call: the called job has its own",
		`{"step":"a","call":"h/b","labels":{}}`:            "steps[0].labels does not go with call: the called job has its own",
		`{"step":"a","call":"g/a"}`:                        "steps[0].call is the job itself",
		`{"step":"a","call":"nothing"}`:                    `steps[0].call "nothing" must be group/name`,
		`{"step":"a","call":"h/b","timeout":"-1s"}`:        "steps[0].timeout must not be negative",
	} {
		if _, wrong := decode(step); len(wrong) != 1 || wrong[0].Error() != want {
			t.Errorf("%s: %v; want %s", step, wrong, want)
		}
	}
}
