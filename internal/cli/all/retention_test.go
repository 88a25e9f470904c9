package all_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestRetentionIsShownPreviewedAndChanged(t *testing.T) {
	s := clitest.New(t)
	const facts = "\naudit 1825d, alerts 400d, discrepancies 400d\n"
	s.Want("OF       RUNS  LOGS\ndefault  30d   7d\n"+facts, "", "get", "retention")
	s.WantError(cli.ExitUsage, "carillon: set a duration with --runs, --logs, --audit, --alerts or --discrepancies", "", "retention", "set")
	s.WantError(cli.ExitUsage, "carillon: --remove needs --group or --job", "", "retention", "set", "--remove")
	s.WantError(cli.ExitUsage, "carillon: groups.ops.logs", "", "retention", "set", "--group", "ops", "--logs", "1m")

	code, out, errOut := s.Run("", "retention", "set", "--group", "ops", "--logs", "30d")
	if code != cli.ExitUsage || out != "" || !strings.Contains(errOut, "in the long run") || !strings.Contains(errOut, "confirm with --yes") {
		t.Errorf("without a terminal and --yes the exit code is %d: %s%s", code, out, errOut)
	}
	s.Want("OF       RUNS  LOGS\ndefault  30d   7d\n"+facts, "", "get", "retention")
	s.WantError(cli.ExitUsage, "carillon: --audit, --alerts and --discrepancies cannot be set for one group or job", "", "retention", "set", "--group", "ops", "--audit", "30d")

	set := func(want string, args ...string) {
		t.Helper()
		code, out, errOut := s.Run("", append([]string{"retention", "set", "--yes"}, args...)...)
		rules, _, _ := strings.Cut(out, "since ")
		if code != 0 || rules != want {
			t.Errorf("exit code %d: %s%s", code, out, errOut)
		}
	}
	set("OF         RUNS  LOGS\ndefault    30d   7d\ngroup ops  -     30d\n"+facts, "--group", "ops", "--logs", "30d")
	set("OF         RUNS  LOGS\ndefault    30d   7d\ngroup ops  90d   30d\n"+facts, "--group", "ops", "--runs", "90d")
	set("OF         RUNS  LOGS\ndefault    30d   7d\ngroup ops  90d   30d\njob ops/a  -     1d\n"+facts, "--job", "ops/a", "--logs", "24h", "--note", "chatty")
	set("OF         RUNS  LOGS\ndefault    30d   7d\njob ops/a  -     1d\n"+facts, "--group", "ops", "--remove")

	set("OF         RUNS  LOGS\ndefault    30d   7d\njob ops/a  -     1d\n\naudit 730d, alerts 400d, discrepancies 400d\n", "--audit", "730d")

	code, out, errOut = s.Run("", "retention", "preview", "--logs", "1d")
	pattern := `^ +RUNS +LINES +DISK\nnow +\d+ +\d+ +\S+ \S+\ndeleted next +0 +0 +0 B\nin the long run`
	if code != 0 || !regexp.MustCompile(pattern).MatchString(out) {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
}
