package all_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
	"github.com/carillon-scheduler/carillon/internal/pause"
)

// released is a workflow that waits for a signal and an approval, each of which is the result of its step, and for a moment.
const released = `job: default/release
params: {order: "17"}
steps:
- {step: build, task: {shell: "true"}}
- {step: paid, after: build, wait: {signal: paid, key: "${params.order}", expires: 2d}}
- {step: ok, title: Release it?, after: build, wait: {approval: {min: 2}, expires: 8h}}
- {step: calm, after: [paid, ok], wait: {for: 1s}}
- {step: ship, after: calm, task: {shell: 'echo "$CARILLON_PARAMS" > $CARILLON_RESULT_FILE'}, params: {sum: "${results.paid.sum}", by: "${results.ok.by}", note: "${results.ok.note}"}}
result: "${results.ship}"
`

// states returns how far the steps of a run are.
func states(t *testing.T, s *clitest.Terminal, run string) string {
	t.Helper()
	code, out, errOut := s.Run("", "get", "steps", run, "-o", "json")
	var list struct {
		Steps []struct{ Step, State string }
	}
	if err := json.Unmarshal([]byte(out), &list); code != 0 || err != nil {
		t.Fatalf("exit code %d, %s%s", code, out, errOut)
	}
	var all []string
	for _, step := range list.Steps {
		all = append(all, step.Step+" "+step.State)
	}
	return strings.Join(all, ", ")
}

// await returns once the steps of a run are so far, or fails.
func await(t *testing.T, s *clitest.Terminal, run, want string) {
	t.Helper()
	got := ""
	for begun := time.Now(); time.Since(begun) < time.Minute; {
		if got = states(t, s, run); got == want {
			return
		}
		if err := pause.For(t.Context(), 50*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("the steps stay %s, want %s", got, want)
}

// awaitAnswer returns once a command prints all that is wanted, or fails: the history may be behind, or away for a moment.
func awaitAnswer(t *testing.T, s *clitest.Terminal, want []string, command ...string) {
	t.Helper()
	out, errOut := "", ""
	for begun := time.Now(); time.Since(begun) < time.Minute; {
		_, out, errOut = s.Run("", command...)
		if !slices.ContainsFunc(want, func(text string) bool { return !strings.Contains(out, text) }) {
			return
		}
		if err := pause.For(t.Context(), 50*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("%q prints\n%s%s", command, out, errOut)
}

// approveAs approves a step as a user of this machine.
func approveAs(t *testing.T, s *clitest.Terminal, user, run, step, note string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Server+"/api/v1/runs/"+run+"/steps/"+step+"/approve", strings.NewReader(`{"note":"`+note+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Carillon-User", user)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusAccepted {
		text, _ := io.ReadAll(response.Body)
		t.Errorf("%s: %s %s", user, response.Status, text)
	}
}

func TestAWorkflowGoesOnOnceItIsApprovedAndSignalled(t *testing.T) {
	s := clitest.New(t)
	s.Want("created  job  default/release\n1 created\n", released, "apply", "-f", "-")
	code, out, errOut := s.Run("", "run", "default/release", "-o", "json")
	var run struct {
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(out), &run); err != nil || code != 0 {
		t.Fatalf("exit code %d, %s%s", code, out, errOut)
	}
	await(t, s, run.RunID, "build succeeded, paid queued, ok queued, calm waiting, ship waiting")
	_, out, _ = s.Run("", "get", "steps", run.RunID)
	for _, note := range []string{"it waits for signal paid with key 17 until 2", "it waits for approval by role:operator until 2", "Z; 0 of 2 approvals"} {
		if !strings.Contains(out, note) {
			t.Errorf("the steps do not say %q:\n%s", note, out)
		}
	}
	awaitAnswer(t, s, []string{run.RunID + "  ok", "Release it?", "0 of 2 approvals"}, "get", "approvals", "--mine", "-o", "wide")

	s.Want("approval counted; step ok needs more\n", "", "approve", run.RunID, "ok")
	me := cli.UserName()
	s.WantError(cli.ExitConflict, "carillon: "+me+" has approved already, at ", "", "approve", run.RunID, "ok")
	approveAs(t, s, "bob", run.RunID, "ok", "tested")
	s.WantError(cli.ExitConflict, "carillon: step ok does not wait: it is succeeded", "", "approve", run.RunID, "ok")
	s.WantError(cli.ExitNotFound, "carillon: not found: no run of default/release waits for signal paid with key 18\n", "", "signal", "--job", "default/release", "--key", "18", "paid")
	s.WantError(cli.ExitNotFound, fmt.Sprintf("carillon: not found: run %s does not wait for signal payd\n", run.RunID), "", "signal", run.RunID, "payd")
	s.Want("step paid of run "+run.RunID+" succeeded\n", "", "signal", "--job", "default/release", "--key", "17", "paid", "--data", `{"sum": 3}`)
	s.WantError(cli.ExitConflict, "carillon: paid has come already, at ", "", "signal", run.RunID, "paid")

	await(t, s, run.RunID, "build succeeded, paid succeeded, ok succeeded, calm succeeded, ship succeeded")
	if code, out, errOut = s.Run("", "wait", run.RunID); code != 0 {
		t.Errorf("exit code %d, %s%s", code, out, errOut)
	}
	_, out, _ = s.Run("", "get", "runs", run.RunID, "-o", "json")
	if !strings.Contains(strings.Join(strings.Fields(out), ""), `"result":{"by":["`+me+`","bob"],"note":"tested","sum":3}`) {
		t.Errorf("the run returns\n%s", out)
	}
	awaitAnswer(t, s, []string{"no approvals\n"}, "get", "approvals")
}

func TestARejectedStepFailsAndASignalIsKeptForItsStep(t *testing.T) {
	s := clitest.New(t)
	const doc = "job: default/flow\nsteps:\n- {step: ok, wait: {approval: {}}}\n- {step: go, after: {step: ok, on: failure}, wait: {signal: go}}\n- {step: tell, after: go, task: {shell: \"true\"}}\n"
	s.Want("created  job  default/flow\n1 created\n", doc, "apply", "-f", "-")
	_, out, _ := s.Run("", "run", "default/flow", "-o", "json")
	var run struct {
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(out), &run); err != nil {
		t.Fatal(out)
	}
	await(t, s, run.RunID, "ok queued, go waiting, tell waiting")
	s.Want("signal kept until step go of run "+run.RunID+" waits for it\n", "", "signal", run.RunID, "go")
	s.WantError(cli.ExitUsage, "carillon: give either a run and a signal, or --job and a signal", "", "signal", "go")
	s.WantError(cli.ExitUsage, `carillon: --data "x" must be JSON`, "", "signal", run.RunID, "go", "--data", "x")
	s.Want("step ok rejected\n", "", "reject", run.RunID, "ok", "--note", "not today")
	await(t, s, run.RunID, "ok failed, go succeeded, tell succeeded")
	if code, out, _ := s.Run("", "wait", run.RunID); code == 0 || !strings.Contains(out, "rejected by "+cli.UserName()+"; not today") {
		t.Errorf("exit code %d, %s", code, out)
	}
}
