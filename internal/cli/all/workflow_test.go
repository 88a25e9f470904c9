package all_test

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

const workflowOfSteps = `
job: default/close
steps:
  - {step: check, task: {shell: "echo checking; echo '{\"rows\": 0}' > $CARILLON_RESULT_FILE"}}
  - {step: full, title: Load all of it, after: check, if: "results.check.rows > 0", task: {shell: "true"}}
  - {step: empty, after: check, task: {shell: "echo nothing to load >&2; exit 3"}}
  - {step: book, after: [full, empty], join: taken, task: {shell: "true"}}
  - {step: tell, after: {step: empty, "on": failure}, may_fail: true, task: {shell: "true"}}
  - {step: unlock, finally: true, task: {shell: "echo unlocked"}}
result: {rows: "${results.check.rows}"}
---
job: default/hang
steps:
  - {step: wait, task: {shell: "sleep 60"}}
  - {step: after, after: wait, task: {shell: "true"}}
  - {step: unlock, finally: true, task: {shell: "echo unlocked"}}
total_timeout: 2s
---
job: default/good
steps:
  - {step: a, task: {shell: "echo '{\"rows\": 7}' > $CARILLON_RESULT_FILE"}}
  - {step: b, after: a, params: {rows: "${results.a.rows}"}, task: {shell: "echo \"got $CARILLON_PARAMS\""}}
result: {rows: "${results.a.rows}"}
`

var (
	anID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
	aTime  = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`)
	aSpan  = regexp.MustCompile(`\b[0-9.]+(ms|s)\b`)
	spaces = regexp.MustCompile(` +`)
)

// plain returns text without ids, times and the width of columns.
func plain(text string) string {
	text = aSpan.ReplaceAllString(aTime.ReplaceAllString(anID.ReplaceAllString(text, "RUN"), "TIME"), "SPAN")
	return spaces.ReplaceAllString(text, " ")
}

func TestTheStepsOfAWorkflowAreShown(t *testing.T) {
	s := clitest.New(t)
	if code, _, errOut := s.Run(workflowOfSteps, "apply", "-f", "-"); code != 0 {
		t.Fatal(errOut)
	}
	same := func(what, want, got string) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	code, out, errOut := s.Run("", "run", "default/close", "--wait")
	if code != cli.ExitRunFailed {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	for _, part := range []string{
		"step check succeeded in SPAN\n", "step full skipped: its condition is false: results.check.rows > 0\n", "step empty failed in SPAN: exit code 3",
		"step unlock succeeded in SPAN\n", "run RUN failed in SPAN: 1 of 6 steps ended badly: empty\n",
	} {
		if !strings.Contains(plain(out), part) {
			t.Errorf("the wait does not say %q: %s", part, plain(out))
		}
	}
	id := anID.FindString(out)
	_, out, _ = s.Run("", "get", "steps", id)
	same("get steps", `STEP STATE AFTER STARTED TOOK NOTE
check succeeded - TIME SPAN -
full skipped check - - its condition is false: results.check.rows > 0
empty failed check TIME SPAN exit code 3: nothing to load
book skipped taken of full, empty - - it runs on success of step full, which ended as skipped; it runs on success of step empty, which ended as failed
tell succeeded empty (failure) TIME SPAN may fail
unlock succeeded all others TIME SPAN -
`, plain(out))
	if _, out, _ = s.Run("", "get", "run", id); !strings.Contains(plain(out), "\nfull skipped check - - its condition is false: results.check.rows > 0\n") {
		t.Errorf("get run: %s", plain(out))
	}
	var steps client.RunSteps
	_, out, _ = s.Run("", "get", "steps", id, "-o", "json")
	if err := json.Unmarshal([]byte(out), &steps); err != nil || len(steps.Steps) != 6 || steps.Status != "failed" {
		t.Errorf("get steps -o json: %v %s", err, out)
	}
	step := string(steps.Steps[2].RunID)
	if _, out, _ = s.Run("", "get", "run", step); !strings.Contains(plain(out), "step empty of run RUN\n") {
		t.Errorf("get run of a step: %s", plain(out))
	}

	s.Want("checking\n", "", "logs", "default/close", "--step", "check")
	if _, out, _ = s.Run("", "search", "checking"); !strings.Contains(plain(out), " default/close step check RUN/1:1: checking\n") {
		t.Errorf("search: %s", plain(out))
	}
	s.WantError(cli.ExitNotFound, "carillon: not found: run "+id+" has no step \"ful\"; its steps are check, full, empty, book, tell, unlock\n", "", "logs", id, "--step", "ful")
	if _, _, errOut = s.Run("", "logs", id); !strings.HasPrefix(errOut, "the run has 6 steps with separate logs") {
		t.Errorf("logs of the whole: %s", errOut)
	}
}

func TestAWorkflowIsCancelledOrTakesTooLong(t *testing.T) {
	s := clitest.New(t)
	if code, _, errOut := s.Run(workflowOfSteps, "apply", "-f", "-"); code != 0 {
		t.Fatal(errOut)
	}
	code, out, _ := s.Run("", "run", "default/hang", "--wait")
	if code != 11 || !strings.Contains(plain(out), "run RUN timed_out in SPAN: the run took longer than SPAN\n") || !strings.Contains(out, "step unlock succeeded") {
		t.Errorf("exit code %d: %s", code, plain(out))
	}
	_, id, _ := s.Run("", "run", "default/hang")
	id = strings.TrimSpace(id)
	if code, out, errOut := s.Run("", "logs", id, "--step", "wait"); code != 0 && code != cli.ExitNotFound {
		t.Errorf("exit code %d: %s %s", code, out, errOut)
	}
	if code, _, errOut := s.Run("", "cancel", id); code != 0 {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	code, out, _ = s.Run("", "wait", id)
	if code != 12 || !strings.Contains(out, "step after cancelled: cancelled by") || !strings.Contains(out, "step unlock succeeded") {
		t.Errorf("exit code %d: %s", code, plain(out))
	}
	code, out, _ = s.Run("", "run", "default/good", "--wait", "-o", "json")
	var end client.Run
	if err := json.Unmarshal([]byte(out), &end); err != nil || code != 0 || strings.Join(strings.Fields(string(end.Result)), "") != `{"rows":7}` {
		t.Errorf("exit code %d, result %s: %v %s", code, end.Result, err, out)
	}
	s.Want("got {\"rows\":7}\n", "", "logs", "default/good", "--step", "b")
}

const workflowToCancel = `
job: default/partly
steps:
  - {step: one, task: {shell: "sleep 60"}, retry: {limit: 3, delay: 1s}}
  - {step: next, after: one, task: {shell: "true"}}
  - {step: failed, after: {step: one, "on": failure}, task: {shell: "true"}}
  - {step: always, after: {step: one, "on": always}, task: {shell: "true"}}
  - {step: other, task: {shell: "true"}}
  - {step: unlock, finally: true, task: {shell: "true"}}
`

func TestAStepIsCancelledAndTheOthersGoByTheirEdges(t *testing.T) {
	s := clitest.New(t)
	if code, _, errOut := s.Run(workflowToCancel, "apply", "-f", "-"); code != 0 {
		t.Fatal(errOut)
	}
	_, id, _ := s.Run("", "run", "default/partly")
	id = strings.TrimSpace(id)
	step := string(job.StepRunID(job.RunID(id), "one"))
	var steps client.RunSteps
	for begun := time.Now(); len(steps.Steps) == 0 || steps.Steps[0].State != "running"; {
		code, out, errOut := s.Run("", "get", "steps", id, "-o", "json")
		if time.Since(begun) > time.Minute {
			t.Fatalf("the step does not run: exit code %d: %s %s", code, out, errOut)
		}
		if code == 0 { // the run may not be stored yet
			if err := json.Unmarshal([]byte(out), &steps); err != nil {
				t.Fatal(err)
			}
		}
	}
	post(t, s.Server+"/api/v1/runs/"+step+"/cancel", `{"reason":"wrong day"}`, http.StatusAccepted)
	code, out, errOut := s.Run("", "wait", id)
	if code != 12 || !strings.Contains(plain(out), "run RUN cancelled in SPAN: 1 of 6 steps were cancelled: one\n") {
		t.Errorf("exit code %d: %s %s", code, plain(out), errOut)
	}
	_, out, _ = s.Run("", "get", "steps", id)
	if d := cmp.Diff(`STEP STATE AFTER STARTED TOOK NOTE
one cancelled - TIME SPAN the run was cancelled by root: wrong day
next skipped one - - it runs on success of step one, which ended as cancelled
failed skipped one (failure) - - it runs on failure of step one, which ended as cancelled
always succeeded one (always) TIME SPAN -
other succeeded - TIME SPAN -
unlock succeeded all others TIME SPAN -
`, plain(out)); d != "" {
		t.Error(d)
	}
	post(t, s.Server+"/api/v1/runs/"+step+"/cancel", `{}`, http.StatusConflict)
}

// post sends a request, and expects a status.
func post(t *testing.T, url, body string, status int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if text, _ := io.ReadAll(answer.Body); answer.StatusCode != status {
		t.Fatalf("POST %s: %d %s", url, answer.StatusCode, text)
	}
}

func TestAGraphIsDrawn(t *testing.T) {
	s := clitest.New(t)
	if code, _, errOut := s.Run(workflowOfSteps, "apply", "-f", "-"); code != 0 {
		t.Fatal(errOut)
	}
	s.Want(`STEP     AFTER       IF  TASK
wait     -           -   shell: sleep 60
  after  wait        -   shell: true
unlock   all others  -   shell: echo unlocked
`, "", "graph", "default/hang")
	s.Want(`flowchart TD
  s0["wait"]
  s1["after"]
  s2(["unlock"])
  s0 --> s1
`, "", "graph", "default/hang", "--mermaid")
	s.Want(`digraph "default/hang" {
  node [shape=box]
  wait [label="wait"]
  after [label="after"]
  wait -> after
  unlock [label="unlock" style=rounded]
}
`, "", "graph", "default/hang", "--dot")
}
