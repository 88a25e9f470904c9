package all_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestAWorkflowIsOnHoldUntilItIsResumed(t *testing.T) {
	s := clitest.New(t)
	const doc = "job: default/flow\nsteps:\n- {step: go, wait: {signal: go}}\n- {step: load, after: go, task: {shell: \"true\"}}\n"
	s.Want("created  job  default/flow\n1 created\n", doc, "apply", "-f", "-")
	_, out, _ := s.Run("", "run", "default/flow", "-o", "json")
	var run struct {
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(out), &run); err != nil {
		t.Fatal(out)
	}
	await(t, s, run.RunID, "go queued, load waiting")
	s.Want("run "+run.RunID+" of default/flow is on hold\n", "", "pause", "run", run.RunID, "--note", "disk is full")
	s.Want("run "+run.RunID+" of default/flow is on hold\n", "", "pause", "run", run.RunID)
	s.Want("step go of run "+run.RunID+" succeeded\n", "", "signal", run.RunID, "go")
	await(t, s, run.RunID, "go succeeded, load ready")
	why := "put on hold by " + cli.UserName() + " at "
	for _, command := range [][]string{{"get", "steps", run.RunID}, {"get", "runs", run.RunID}, {"get", "runs"}} {
		if _, out, _ := s.Run("", command...); !strings.Contains(out, why) || !strings.Contains(out, "; disk is full") {
			t.Errorf("%v does not say %q:\n%s", command, why, out)
		}
	}
	s.Want("run "+run.RunID+" of default/flow is resumed\n", "", "resume", "run", run.RunID)
	await(t, s, run.RunID, "go succeeded, load succeeded")
	_, out, _ = s.Run("", "get", "runs", run.RunID)
	for _, what := range []string{"on_hold by " + cli.UserName(), "resumed by " + cli.UserName()} {
		if !strings.Contains(out, what) {
			t.Errorf("the timeline does not say %q:\n%s", what, out)
		}
	}
	s.WantError(cli.ExitConflict, fmt.Sprintf("carillon: run %s has ended already, as succeeded", run.RunID), "", "pause", "run", run.RunID)
	s.WantError(cli.ExitUsage, "carillon: accepts 1 arg(s), received 0", "", "resume", "run")
}
