package all_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
	"github.com/carillon-scheduler/carillon/internal/manifest"
)

// badSteps are documents of workflows that are refused: the steps, each on a line from the third one on, and
// where the mistake is and what it is.
var badSteps = []struct{ steps, line, field, reason string }{
	{strings.Repeat("- {step: x, task: {handler: h}}\n", 1001), "2", "steps", "has 1001; at most 1000 are allowed: put some of them into a job of their own and call it"},
	{crowd(), "2", "steps", "have 5041 dependencies; at most 5000 are allowed"},
	{"- {step: load-eu, task: {handler: h}}", "3", "steps[0].step", `"load-eu" may have only lower-case letters, digits and '_', and begins with a letter`},
	{"- {step: a, task: {handler: h}}\n- {step: load, task: {handler: h}}\n- {step: load, task: {handler: h}}", "5", "steps[2].step", `"load" is the name of steps[1] already`},
	{"- {step: extract, task: {handler: h}}\n- {step: b, after: extrakt, task: {handler: h}}", "4", "steps[1].after", `"extrakt" is no step; did you mean "extract"?`},
	{"- {step: a, after: c, task: {handler: h}}\n- {step: b, after: a, task: {handler: h}}\n- {step: c, after: b, task: {handler: h}}", "2", "steps", "lead in a circle: a → b → c → a"},
	{"- {step: check, task: {handler: h}}\n- {step: load, params: \"${results.check.rows}\", task: {handler: h}}", "4", "steps[1].params", "names ${results.check.rows}, but check does not come before load: add it to after"},
	{"- {step: a, task: {handler: h}}\n- {step: b, task: {handler: h}}\n- {step: c, after: [a, b], join: any, if: results.b > 1, task: {handler: h}}", "5", "steps[2].if", "looks at results.b, which may not have ended when join: any lets the step run"},
	{"- {step: a, task: {handler: h}}\n- {step: b, task: {handler: h}}\n- {step: c, after: [a, b], join: any, params: \"${results.b}\", task: {handler: h}}", "5", "steps[2].params", "names ${results.b}, which may not have ended when join lets the step run: write ${results.b?} for null until then"},
	{"- {step: check, task: {handler: h}}\n- {step: b, after: check, if: results.check.rows >, task: {handler: h}}", "4", "steps[1].if", `"results.check.rows >" ends too early, at column 21`},
	{"- {step: check, task: {handler: h}}\n- step: b\n  if: results.check.rows > 0\n  task: {handler: h}", "5", "steps[1].if", `looks at results.check, but check does not come before b: add it to after`},
	{"- {step: check, task: {handler: h}}\n- {step: b, after: check, if: status.chek == 'failed', task: {handler: h}}", "4", "steps[1].if", `looks at status.chek, but "chek" is no step; did you mean "check"?`},
	{"- {step: check, task: {handler: h}}\n- {step: b, after: check, if: status.check == 'succeed', task: {handler: h}}", "4", "steps[1].if", `compares a status with "succeed" at column 17, with which no step ends; did you mean "succeeded"?`},
	{"- {step: check, task: {handler: h}}\n- {step: b, after: check, if: \"status.check in ['lost', 'running']\", task: {handler: h}}", "4", "steps[1].if", `compares a status with "running" at column 26, with which no step ends; steps end as succeeded, failed, timed_out, lost, missed, cancelled, skipped`},
	{"- {step: unlock, finally: true, task: {handler: h}}\n- {step: b, after: unlock, task: {handler: h}}", "4", "steps[1].after", "unlock is a finally step, which only finally steps may follow"},
	{"- {step: a, task: {handler: h}}\n- {step: b, after: {step: a, on: failure}, task: {handler: h}}\non_failure: stop", "5", "on_failure", "stop never lets steps[1] run, which waits for a failure: use continue"},
	{"  []", "2", "steps", "is empty: write a step, or a task in the place of steps"},
	{"- {step: a, taks: {handler: h}}", "3", "steps[0].taks", "is not a known field"},
	{"- {step: a, task: {handler: h}}\n- step: b\n  after:\n    step: a\n    true: failure\n  task: {handler: h}", "7", "steps[1].after.true", `is not a known field; write "on", in quotes`},
	{"- {step: a, task: {handler: h}}\n- {step: b, task: {handler: h, shell: x}}", "4", "steps[1].task", "must have exactly one of handler, shell, command, http, script and watch"},
	{"- {step: a, task: {handler: h}}\ntask: {handler: h}", "4", "task", "does not go with steps: each step has its own task"},
}

// crowd returns the steps of a workflow with too many edges: 71 of them, each after 71 others.
func crowd() string {
	var names []string
	var text strings.Builder
	for i := range 142 {
		if i < 71 {
			names = append(names, fmt.Sprintf("s%d", i))
			fmt.Fprintf(&text, "- {step: s%d, task: {handler: h}}\n", i)
		} else {
			fmt.Fprintf(&text, "- {step: s%d, after: [%s], task: {handler: h}}\n", i, strings.Join(names, ", "))
		}
	}
	return text.String()
}

func TestABadWorkflowIsRefusedWithThePlaceOfTheMistake(t *testing.T) {
	s := clitest.New(t)
	for _, bad := range badSteps {
		text := "job: default/w\nsteps:\n" + bad.steps + "\n"
		code, _, errOut := s.Run(text, "apply", "-f", "-")
		want := fmt.Sprintf("stdin:%s: %s %s\n", bad.line, bad.field, bad.reason)
		if first, _, _ := strings.Cut(strings.TrimPrefix(errOut, "carillon: "), "\n"); code != cli.ExitError || first+"\n" != want {
			t.Errorf("apply of %.100s: exit code %d, %.300swant %s", bad.steps, code, errOut, want)
		}
		docs, err := manifest.Parse("stdin", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var problem struct {
			Errors []struct {
				Field  string
				Reason struct{ Text string }
			}
		}
		put(t, s.Server+"/api/v1/jobs/default/w", string(docs[0].JSON), http.StatusBadRequest, &problem)
		if len(problem.Errors) == 0 || problem.Errors[0].Field != bad.field || problem.Errors[0].Reason.Text != bad.reason {
			t.Errorf("the API says of %.100s: %.300v", bad.steps, problem)
		}
	}
}

// put sends a document, and decodes the answer.
func put(t *testing.T, url, document string, status int, into any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil || response.StatusCode != status {
		t.Errorf("PUT %s: %s %.300s, %v", url, response.Status, data, err)
	}
}

// exported is a workflow as export writes it.
const exported = `job: default/flow
schedule:
  zone: UTC
misfire:
  policy: fire_once
  grace: "15s"
delivery: at_least_once
route: any
overlap:
  policy: allow
params:
  region: eu
steps:
  - step: check
    title: Look first
    task:
      shell: "true"
    retry:
      limit: 5
  - step: book
    after:
      - check
    if: "params.region == \"eu\""
    task:
      shell: "true"
    params:
      region: "${params.region}"
    timeout: "30m"
  - step: tell
    after:
      - step: book
        "on": failure
      - check
    join: 2
    may_fail: true
    task:
      shell: "true"
  - step: unlock
    finally: true
    task:
      shell: "true"
on_failure: continue
result:
  region: "${params.region}"
`

func TestAWorkflowIsExportedAsItWasApplied(t *testing.T) {
	s := clitest.New(t)
	const applied = `job: default/flow
params: {region: eu}
steps:
  - {step: check, title: Look first, task: {shell: "true"}, retry: 5}
  - {step: book, after: check, if: params.region == "eu", task: {shell: "true"}, params: {region: "${params.region}"}, timeout: 30m}
  - {step: tell, after: [{step: book, on: failure}, check], join: 2, may_fail: true, task: {shell: "true"}}
  - {step: unlock, finally: true, task: {shell: "true"}}
on_failure: continue
result: {region: "${params.region}"}
`
	s.Want("created  job  default/flow\n1 created\n", applied, "apply", "-f", "-")
	s.Want(exported, "", "export", "jobs")
	s.Want("unchanged  job  default/flow\n1 unchanged\n", exported, "apply", "-f", "-")
	s.Want("unchanged  job  default/flow\n1 unchanged\n", applied, "apply", "-f", "-")
	slow := strings.Replace(applied, "timeout: 30m", "timeout: 45m", 1)
	s.Want("changed  job  default/flow\n    ~ steps.book.timeout: \"30m\" -> \"45m\"\n1 changed\n", slow, "apply", "-f", "-")
	s.Want("~ steps.book.timeout: \"30m\" -> \"45m\"\n", "", "get", "versions", "default/flow", "--from", "1", "--to", "2")
	_, out, _ := s.Run("", "get", "jobs", "default/flow")
	for _, line := range []string{
		"task workflow: check, book, tell, unlock",
		"on failure continue",
		"STEP RUNS TASK",
		"check at the start shell: true",
		`book after check; if params.region == "eu" shell: true`,
		"tell after book on failure, check (join 2); may fail shell: true",
		"unlock finally shell: true",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), line) {
			t.Errorf("no %q in\n%s", line, out)
		}
	}
	_, out, _ = s.Run("", "get", "versions", "default/flow")
	if !strings.Contains(out, "workflow: check, book, tell, unlock") {
		t.Error(out)
	}
}
