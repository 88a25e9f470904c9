package all_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

const chainOfJobs = `
job: default/extract
task: {shell: "echo 1 > $CARILLON_RESULT_FILE"}
children: [default/load, default/sum]
---
job: default/load
task: {shell: "echo 7 > $CARILLON_RESULT_FILE"}
children: [{job: default/done, pass_result: true}]
---
job: default/sum
task: {shell: "[ ! -e MARKER ]"}
---
job: default/done
task: {shell: "echo got $CARILLON_PARAMS"}
---
job: default/far
labels: {place: moon}
task: {shell: "true"}
---
job: default/past
schedule: {once: "2020-01-05T03:00:00Z"}
task: {shell: "true"}
`

func TestAChainIsAwaitedWithItsWorstEnd(t *testing.T) {
	s := clitest.New(t)
	file := filepath.Join(t.TempDir(), "fail")
	code, out, _ := s.Run(strings.Replace(chainOfJobs, "MARKER", file, 1), "apply", "-f", "-")
	if code != 0 || strings.Count(out, "is in the past") != 1 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	code, out, _ = s.Run("", "run", "default/extract", "--chain")
	if code != 0 || strings.Count(out, " succeeded in ") != 4 {
		t.Errorf("exit code %d: %s", code, out)
	}
	s.Want("got 7\n", "", "logs", "default/done")

	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, _ = s.Run("", "run", "default/extract", "--chain")
	if code != cli.ExitRunFailed || strings.Count(out, " succeeded in ") != 3 || strings.Count(out, " failed ") == 0 {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, _, errOut := s.Run("", "run", "default/far", "default/load", "--chain"); code != cli.ExitUsage || !strings.Contains(errOut, "one job only") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	if code, out, _ := s.Run("", "run", "default/far", "--instance", "dev", "--wait"); code != 0 {
		t.Errorf("exit code %d: %s", code, out)
	}
}
