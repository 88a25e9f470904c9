package all_test

import (
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestACommandWithAKeyMakesOneRun(t *testing.T) {
	s := clitest.New(t)
	s.Want("created  calendar  holidays\ncreated  job       default/hello\ncreated  job       default/broken\n3 created\n", clitest.TwoJobs, "apply", "-f", "-")
	run := func(wantCode int, args ...string) (out string) {
		t.Helper()
		code, out, errOut := s.Run("", append([]string{"run", "default/hello"}, args...)...)
		if code != wantCode {
			t.Fatalf("run %q: exit code %d: %s, %s", args, code, out, errOut)
		}
		return out + errOut
	}
	id := func(out string) string { return strings.Fields(strings.TrimPrefix(out, "run "))[0] }
	first := id(run(0, "--key", "order 42", "--wait"))
	if again := id(run(0, "--key", "order 42", "--wait")); again != first {
		t.Errorf("run %s, then %s", first, again)
	}
	if said := run(cli.ExitConflict, "--key", "order 42", "--params", `{"n": 1}`); !strings.Contains(said, first) || !strings.Contains(said, "params") {
		t.Errorf("with other parameters: %s", said)
	}
	if further := id(run(0, "--key", "order 42", "--reset-key", "--wait")); further == first {
		t.Errorf("after a reset, run %s again", first)
	}
	s.WantError(cli.ExitUsage, "carillon: --reset-key needs --key", "", "run", "default/hello", "--reset-key")
}
