package all_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
	"github.com/carillon-scheduler/carillon/internal/client"
)

const workflowThatFails = `
job: default/night
on_failure: continue
steps:
  - {step: extract, task: {shell: "true"}}
  - {step: load, after: extract, task: {shell: "exit 3"}}
  - {step: tell, after: load, task: {shell: "true"}}
`

func TestAGraphShowsHowItsStepsDid(t *testing.T) {
	s := clitest.New(t)
	if code, _, errOut := s.Run(workflowThatFails, "apply", "-f", "-"); code != 0 {
		t.Fatal(errOut)
	}
	s.Want("STEP      RUNS  FAILED  P50  P95  LAST FAILURE\nextract   0     -       -    -    -\n  load    0     -       -    -    -\n    tell  0     -       -    -    -\n\n0 runs counted\n", "", "graph", "default/night", "--heat")
	s.Run("", "run", "default/night", "--wait")
	code, out, errOut := s.Run("", "graph", "default/night", "--heat", "--utc")
	if code != 0 {
		t.Fatal(errOut)
	}
	want := `STEP RUNS FAILED P50 P95 LAST FAILURE
extract 1 0 (0 %) SPAN SPAN -
 load 1 1 (100 %) SPAN SPAN TIME failed, run RUN
 tell 0 - - - -

1 run counted
`
	if d := cmp.Diff(want, plain(out)); d != "" {
		t.Error(d)
	}
	_, out, _ = s.Run("", "graph", "default/night", "--heat", "-o", "json")
	var history client.StepHistory
	if err := json.Unmarshal([]byte(out), &history); err != nil || len(history.Steps) != 3 || history.Steps[1].Failures != 1 {
		t.Errorf("%v: %s", err, out)
	}
}
