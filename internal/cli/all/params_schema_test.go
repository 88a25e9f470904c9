package all_test

import (
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

// asks is a job whose schema has what a writer of YAML could change: numbers, texts like numbers, a null, and an order.
const asks = `job: default/asks
task: {shell: "true"}
params: {day: monday}
params_schema:
  type: object
  required: [day]
  properties:
    day: {type: string, enum: [monday, "1", "yes"]}
    rows: {type: [integer, "null"], minimum: 1, maximum: 9007199254740993, default: null}
`

func TestTheSchemaOfParametersSurvivesExport(t *testing.T) {
	s := clitest.New(t)
	s.Want("created  job  default/asks\n1 created\n", asks, "apply", "-f", "-")
	code, text, errOut := s.Run("", "export", "jobs")
	if code != 0 || !strings.Contains(text, "9007199254740993") {
		t.Fatalf("exit code %d: %s%s", code, text, errOut)
	}
	s.Want("unchanged  job  default/asks\n1 unchanged\n", text, "apply", "-f", "-")
	s.Want("unchanged  job  default/asks\n1 unchanged\n", asks, "apply", "-f", "-")
	other := strings.Replace(text, "9007199254740993", "9007199254740992", 1)
	if code, out, _ := s.Run(other, "apply", "-f", "-", "--dry-run"); code != 0 || !strings.Contains(out, "~ params_schema") {
		t.Errorf("exit code %d: a schema that differs in its last digit: %s", code, out)
	}
}

func TestRunRefusesParametersThatDoNotFitAndNamesTheField(t *testing.T) {
	s := clitest.New(t)
	s.Want("created  job  default/asks\n1 created\n", asks, "apply", "-f", "-")
	code, out, errOut := s.Run("", "run", "default/asks", "--params", `{"day":"monday","rows":0}`)
	if code != cli.ExitError || !strings.Contains(errOut, "params.rows") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	s.Want("no runs\n", "", "get", "runs")
}
