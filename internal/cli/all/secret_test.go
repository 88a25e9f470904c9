package all_test

import (
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestSecretsAreSetUsedAndDeleted(t *testing.T) {
	s := clitest.New(t)
	s.Want("no secrets\n", "", "get", "secrets", "-g", "default")
	s.Want("secret default/db is set\n", "pa55word\n", "secret", "set", "db", "-g", "default", "--description", "of the ledger")
	_, out, _ := s.Run("", "get", "secrets", "-g", "default")
	if !strings.Contains(out, "of the ledger") || strings.Contains(out, "pa55word") {
		t.Errorf("the list is\n%s", out)
	}
	described := func(want bool) {
		t.Helper()
		if _, out, _ := s.Run("", "get", "secrets", "-g", "default"); strings.Contains(out, "of the ledger") != want {
			t.Errorf("described %v:\n%s", !want, out)
		}
	}
	set := func(args ...string) {
		t.Helper()
		s.Want("secret default/db is set\n", "pa55word\n", append([]string{"secret", "set", "db", "-g", "default"}, args...)...)
	}
	set()
	described(true)
	set("--description", "")
	described(false)
	s.Want("created  job  default/login\n1 created\n", "job: default/login\ntask:\n  shell: echo \"$PW ${#PW}\"\n  secrets: {PW: db}\n", "apply", "-f", "-")
	code, out, errOut := s.Run("", "run", "default/login", "--follow")
	if code != 0 || !strings.HasPrefix(out, "*** 8\n") {
		t.Errorf("exit code %d:\n%s%s", code, out, errOut)
	}
	s.Want("secret default/db deleted\n", "", "secret", "delete", "db", "-g", "default")
	s.WantError(cli.ExitNotFound, "carillon: not found: secret db of group default\n", "", "secret", "delete", "db", "-g", "default")
	s.WantError(cli.ExitUsage, "carillon: secret \"a b\" must name a secret", "x", "secret", "set", "a b", "-g", "default")
}
