package all_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestACredentialIsCreatedWithTheCommandThatConnectsWithIt(t *testing.T) {
	s := clitest.New(t)
	file := filepath.Join(t.TempDir(), "seed")
	f := func(want string, args ...string) {
		t.Helper()
		code, out, errOut := s.Run("", append([]string{"credential", "create", "-g", "default"}, args...)...)
		if code != 0 || !strings.Contains(out, want) || strings.Count(out, "Connect: ") != 1 {
			t.Errorf("exit code %d, without %q:\n%s%s", code, want, out, errOut)
		}
	}
	f("Connect: carillon executor -g default --credential "+file, "one", "--file", file)
	f("Connect: carillon bridge xxl-job --groups default,billing --credential "+file+"2 ", "two", "--file", file+"2", "--bridge-groups", "default,billing")
}
