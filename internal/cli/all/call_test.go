package all_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

const callingJobs = `job: default/month
steps:
  - {step: prepare, task: {shell: 'echo "{\"n\": 7}" > $CARILLON_RESULT_FILE'}}
  - {step: close, after: prepare, call: default/close, params: {n: "${results.prepare.n}"}, timeout: 1m}
  - {step: mail, after: close, task: {shell: 'echo mail $CARILLON_PARAMS'}, params: {rows: "${results.close.rows}"}}
  - {step: nobody, after: close, call: default/none, may_fail: true}
result: {rows: "${results.close.rows}"}
---
job: default/close
steps:
  - {step: count, task: {shell: 'echo "$CARILLON_PARAMS" > $CARILLON_RESULT_FILE'}, params: {n: "${params.n}"}}
result: {rows: "${results.count.n}"}
`

// A step runs another workflow, passes it parameters, and gets its result.
func TestAStepCallsAnotherJob(t *testing.T) {
	s := clitest.New(t)
	code, out, errOut := s.Run(callingJobs, "apply", "-f", "-")
	if code != 0 || !strings.Contains(out, "warning: steps[3].call names job default/none, which does not exist") || strings.Contains(out, "default/close, which") {
		t.Fatal(code, out, errOut)
	}
	_, out, errOut = s.Run("", "run", "default/month", "--wait")
	if !strings.Contains(out, "step nobody failed: the called job default/none did not run; there is no such job; may fail\n") {
		t.Errorf("%s%s", out, errOut)
	}
	id := anID.FindString(out)
	var steps client.RunSteps
	_, out, _ = s.Run("", "get", "steps", id, "-o", "json")
	if err := json.Unmarshal([]byte(out), &steps); err != nil || len(steps.Steps) != 4 {
		t.Fatal(err, out)
	}
	call := steps.Steps[1]
	if call.Task != "call" || call.Detail != "default/close" || call.State != "succeeded" || call.RunID != job.StepRunID(job.RunID(id), "close") {
		t.Errorf("%+v", call)
	}
	s.Want("mail {\"rows\":7}\n", "", "logs", id, "--step", "mail")
	if _, out, _ = s.Run("", "get", "run", id); !strings.Contains(plain(out), "\nresult {\"rows\":7}\n") {
		t.Errorf("get run: %s", out)
	}
	if _, out, _ = s.Run("", "get", "job", "default/month"); !strings.Contains(plain(out), "\nclose after prepare call: default/close\n") {
		t.Errorf("get job: %s", out)
	}
	if code, _, errOut = s.Run("job: default/close\nsteps: [{step: back, call: default/month}]\n", "apply", "-f", "-"); code != cli.ExitError || !strings.Contains(errOut, "steps lead back to the job itself: default/close → default/month → default/close") {
		t.Errorf("a cycle: %s", errOut)
	}
}
