package job_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/exact"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// waiting decodes a job with a step a, and a step b after it that waits. more are further fields of b.
func waiting(wait, more string) (job.Job, []*job.InvalidError) {
	j, err := job.Decode([]byte(`{"job":"g/a","params":{"order":17},"timeout":"1m","retry":{"limit":3},"steps":[
		{"step":"a","task":{"handler":"a"}},{"step":"b","after":["a"],"wait":` + wait + more + `},{"step":"c","task":{"handler":"c"}}]}`))
	return j, job.Problems(err)
}

func TestAStepMayWaitForOneThing(t *testing.T) {
	takes := func(wait, kind, brief string) {
		t.Helper()
		j, wrong := waiting(wait, `,"title":"Wait","if":"results.a.rows > 0","may_fail":true,"rerun":"always"`)
		if len(wrong) > 0 {
			t.Errorf("%s: %v", wait, wrong)
			return
		}
		w := j.Steps[1].Wait
		if w.Kind() != kind || w.Brief() != brief {
			t.Errorf("%s: %s %s", wait, w.Kind(), w.Brief())
		}
		if data, err := json.Marshal(w); err != nil || !exact.Same(data, []byte(wait)) {
			t.Errorf("%s is written as %s, %v", wait, data, err)
		}
		if of := j.Steps[1].Effective(&j); of.Timeout != 0 || of.Retry.Limit != 0 || of.Job != "g/a" {
			t.Errorf("%+v", of)
		}
		var paths []string
		for path := range j.Tasks() {
			paths = append(paths, path)
		}
		if !slices.Equal(paths, []string{"steps[0].task", "steps[2].task"}) {
			t.Errorf("tasks are %q", paths)
		}
	}
	takes(`{"for":"10m"}`, "for", "10m")
	takes(`{"until":"${fire_time|day|+22h}"}`, "until", "${fire_time|day|+22h}")
	takes(`{"until":"2026-01-05T22:00:00+08:00"}`, "until", "2026-01-05T22:00:00+08:00")
	takes(`{"until":"${results.a.at}"}`, "until", "${results.a.at}")
	takes(`{"signal":"paid","expires":"48h"}`, "signal", "paid")
	takes(`{"signal":"paid-up_2","key":"${params.order}"}`, "signal", "paid-up_2 ${params.order}")
	takes(`{"approval":{}}`, "approval", "role:operator")
	takes(`{"approval":{"by":["user:ann","role:editor"],"not_by_requester":true,"min":2},"expires":"8h"}`, "approval", "2 of user:ann, role:editor")
	takes(`{"runs":{"job":"g/hour","from":"${fire_time|-1d|day}","to":"${fire_time|day}","need":"80%","skipped":"ok"}}`, "runs", "g/hour from ${fire_time|-1d|day} to ${fire_time|day}")
	takes(`{"runs":{"job":"g/a","last":1,"need":"any"},"expires":"6h"}`, "runs", "g/a, last 1")
}

func TestWhatIsWrongWithAWaitIsNamedByItsPath(t *testing.T) {
	wrong := func(wait, more, want string) {
		t.Helper()
		if _, wrong := waiting(wait, more); len(wrong) != 1 || wrong[0].Error() != want {
			t.Errorf("%s%s: %v; want %s", wait, more, wrong, want)
		}
	}
	wrong(`{}`, "", "steps[1].wait is empty; it is for one of for, until, signal, approval and runs")
	wrong(`{"for":"1m","signal":"x"}`, "", "steps[1].wait has for and signal; a wait is for one of them")
	wrong(`{"signl":"x"}`, "", "steps[1].wait.signl is not a known field; write signal")
	wrong(`{"for":"1m","expires":"1h"}`, "", "steps[1].wait.expires does not go with for and until, which end by themselves")
	wrong(`{"for":"100ms"}`, "", "steps[1].wait.for 100ms must be from 1s to 720h")
	wrong(`{"for":"31d"}`, "", "steps[1].wait.for 744h must be from 1s to 720h")
	wrong(`{"for":"-1s"}`, "", "steps[1].wait.for -1s must be from 1s to 720h")
	wrong(`{"signal":"x","expires":"31d"}`, "", "steps[1].wait.expires 744h must be from 1s to 720h")
	wrong(`{"signal":"Paid"}`, "", `steps[1].wait.signal "Paid" may have up to 63 lower-case letters, digits, '_' and '-', and begins with a letter`)
	wrong(`{"for":"1m","key":"x"}`, "", "steps[1].wait.key goes only with signal")
	wrong(`{"until":"tomorrow"}`, "", `steps[1].wait.until "tomorrow" must be an instant, such as 2026-01-05T22:00:00Z or ${fire_time|day|+22h}`)
	wrong(`{"until":"${fire_time|day|+22h|HH:mm}"}`, "", `steps[1].wait.until "${fire_time|day|+22h|HH:mm}" must be an instant, such as 2026-01-05T22:00:00Z or ${fire_time|day|+22h}`)
	wrong(`{"until":"${results.c.at}"}`, "", "steps[1].wait.until names ${results.c.at}, but c does not come before b: add it to after")
	wrong(`{"signal":"x","key":"${results.nobody}"}`, "", `steps[1].wait.key names ${results.nobody}, but "nobody" is no step`)
	wrong(`{"approval":{"by":["ann"]}}`, "", `steps[1].wait.approval.by[0] "ann" must be user:NAME or role:ROLE`)
	wrong(`{"approval":{"by":["role:boss"]}}`, "", `steps[1].wait.approval.by[0] "boss" must be one of [viewer operator editor admin], after role:`)
	wrong(`{"approval":{"by":["user:a","user:a"]}}`, "", `steps[1].wait.approval.by[1] "user:a" is listed twice`)
	wrong(`{"approval":{"by":["user:a"],"min":2}}`, "", "steps[1].wait.approval.min 2 must not be more than the people in by, of whom there are 1")
	wrong(`{"approval":{"min":-1}}`, "", "steps[1].wait.approval.min -1 must be from 1 to 50")
	wrong(`{"runs":{"job":"hour","last":1}}`, "", `steps[1].wait.runs.job "hour" must be group/name`)
	wrong(`{"runs":{"job":"g/h"}}`, "", "steps[1].wait.runs.from is missing; write from and to, or last")
	wrong(`{"runs":{"job":"g/h","from":"2026-01-05T22:00:00Z"}}`, "", "steps[1].wait.runs.to is missing")
	wrong(`{"runs":{"job":"g/h","from":"x","to":"${fire_time}"}}`, "", `steps[1].wait.runs.from "x" must be an instant, such as 2026-01-05T22:00:00Z or ${fire_time|day|+22h}`)
	wrong(`{"runs":{"job":"g/h","from":"${fire_time}","to":"${fire_time}","last":2}}`, "", "steps[1].wait.runs.last does not go with from and to")
	wrong(`{"runs":{"job":"g/h","last":501}}`, "", "steps[1].wait.runs.last 501 must be from 1 to 500")
	wrong(`{"runs":{"job":"g/h","last":3,"need":"most"}}`, "", `steps[1].wait.runs.need "most" must be all, any, a number of fires or a share such as 80%`)
	wrong(`{"runs":{"job":"g/h","last":3,"need":0}}`, "", `steps[1].wait.runs.need "0" must be all, any, a number of fires or a share such as 80%`)
	wrong(`{"runs":{"job":"g/h","last":3,"need":"101%"}}`, "", `steps[1].wait.runs.need "101%" must be all, any, a number of fires or a share such as 80%`)
	wrong(`{"runs":{"job":"g/h","last":3,"skipped":"maybe"}}`, "", `steps[1].wait.runs.skipped "maybe" must be ok or bad`)

	wrong(`{"for":"1m"}`, `,"task":{"handler":"h"}`, "steps[1].task does not go with wait: a step has one of them")
	wrong(`{"for":"1m"}`, `,"call":"h/b"`, "steps[1].call does not go with wait: a step has one of them")
	wrong(`{"for":"1m"}`, `,"params":{}`, "steps[1].params does not go with wait")
	wrong(`{"for":"1m"}`, `,"timeout":"1h"`, "steps[1].timeout does not go with wait; write expires in the wait")
	wrong(`{"for":"1m"}`, `,"retry":{"limit":1}`, "steps[1].retry does not go with wait")
	wrong(`{"for":"1m"}`, `,"labels":{}`, "steps[1].labels does not go with wait")
}

func TestANumberOfAwaitedRunsIsReadAsOne(t *testing.T) {
	j, wrong := waiting(`{"runs":{"job":"g/h","last":3,"need":2}}`, "")
	if len(wrong) > 0 || j.Steps[1].Wait.Runs.Need != "2" {
		t.Errorf("%v", wrong)
	}
	for need, want := range map[job.Need]int{"": 24, "all": 24, "any": 1, "3": 3, "80%": 20, "1%": 1, "100%": 24} {
		if got := need.Of(24); got != want {
			t.Errorf("%s of 24 is %d, want %d", need, got, want)
		}
	}
}

func TestEachRoleMayBeNamedAsAnApprover(t *testing.T) {
	for _, role := range rights.Roles {
		if _, wrong := waiting(`{"approval":{"by":["role:`+string(role)+`"]}}`, ""); len(wrong) > 0 {
			t.Error(wrong)
		}
	}
}
