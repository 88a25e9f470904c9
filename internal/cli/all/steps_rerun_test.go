package all_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func TestARerunOfAWorkflowDoesTheStepsOfTheVersionThatItNames(t *testing.T) {
	s := clitest.New(t)
	const first = "job: default/flow\nparams: {x: 1}\nsteps:\n- {step: a, task: {shell: 'test \"$CARILLON_PARAMS\" = \"{\\\"x\\\":2}\"'}}\n- {step: b, after: a, task: {shell: \"true\"}}\n"
	run := func(args ...string) (id string, version int, steps []string) {
		t.Helper()
		code, out, errOut := s.Run("", append(args, "--wait", "-o", "json")...)
		var run struct {
			RunID   string `json:"run_id"`
			Version int    `json:"version"`
		}
		if err := json.Unmarshal([]byte(out), &run); err != nil || code != 0 {
			t.Fatalf("%q: exit code %d, %s%s", args, code, out, errOut)
		}
		_, out, errOut = s.Run("", "get", "runs", "--cause", "step", "--parent", run.RunID, "-o", "json")
		var list struct {
			Items []struct{ Step, Status string }
		}
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatalf("%s%s", out, errOut)
		}
		for _, item := range list.Items {
			steps = append(steps, item.Step+" "+item.Status)
		}
		slices.Sort(steps)
		return run.RunID, run.Version, steps
	}
	check := func(what string, version, wantVersion int, steps []string, want string) {
		t.Helper()
		if version != wantVersion || strings.Join(steps, ", ") != want {
			t.Errorf("%s: version %d, steps %q", what, version, steps)
		}
	}
	s.Want("created  job  default/flow\n1 created\n", first, "apply", "-f", "-")
	id, version, steps := run("run", "default/flow", "--params", `{"x":2}`)
	check("first", version, 1, steps, "a succeeded, b succeeded")

	if code, _, errOut := s.Run(strings.ReplaceAll(first, "step: b", "step: c"), "apply", "-f", "-"); code != 0 {
		t.Fatal(errOut)
	}
	_, version, steps = run("rerun", id, "--version", "same")
	check("same", version, 1, steps, "a succeeded, b succeeded")
	_, version, steps = run("rerun", id, "--version", "latest")
	check("latest", version, 2, steps, "a succeeded, c succeeded")
}

const workflowToRetry = `
job: default/again
params: {n: 1, x: "a"}
steps:
  - {step: one, task: {shell: 'echo "$CARILLON_PARAMS"; test "$CARILLON_PARAMS" = "{\"n\":2,\"x\":\"a\"}"'}}
  - {step: long, task: {shell: "sleep 60"}}
`

func TestAStepIsRetriedWithAnotherParameter(t *testing.T) {
	s := clitest.New(t)
	s.Want("created  job  default/again\n1 created\n", workflowToRetry, "apply", "-f", "-")
	_, id, _ := s.Run("", "run", "default/again")
	id = strings.TrimSpace(id)
	await := func(state string) {
		t.Helper()
		for begun := time.Now(); ; {
			var steps client.RunSteps
			code, out, errOut := s.Run("", "get", "steps", id, "-o", "json")
			if err := json.Unmarshal([]byte(out), &steps); code == 0 && err == nil && string(steps.Steps[0].State) == state {
				return
			}
			if time.Since(begun) > time.Minute {
				t.Fatalf("the step is not %s: exit code %d: %s %s", state, code, out, errOut)
			}
		}
	}
	await("failed")
	code, _, errOut := s.Run("", "retry", id, "one", "--param", "n")
	if code != 2 || !strings.Contains(errOut, "--param n must be KEY=VALUE") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	if code, _, errOut := s.Run("", "retry", id, "one", "--param", "n=2"); code != 0 {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	await("succeeded")
	if code, _, errOut := s.Run("", "cancel", id); code != 0 {
		t.Errorf("exit code %d: %s", code, errOut)
	}
}

func TestARerunFromAStepOfNoNameIsRefused(t *testing.T) {
	s := clitest.New(t)
	s.Want("created  job  default/flow\n1 created\n", "job: default/flow\nsteps:\n- {step: a, task: {shell: \"true\"}}\n", "apply", "-f", "-")
	code, out, errOut := s.Run("", "run", "default/flow", "--wait", "-o", "json")
	var run struct {
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(out), &run); err != nil || code != 0 {
		t.Fatalf("exit code %d, %s%s", code, out, errOut)
	}
	code, out, errOut = s.Run("", "rerun", run.RunID, "--from-step", "")
	if code != 2 || !strings.Contains(errOut, "--from-step names no step") {
		t.Errorf("exit code %d, %s%s", code, out, errOut) // it would repeat all of them
	}
}
