package all_test

import (
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestAnEarlierVersionIsComparedAndRestored(t *testing.T) {
	s := clitest.New(t)
	save := func(source string) {
		t.Helper()
		code, _, errOut := s.Run("job: default/report\ntask: {script: {language: shell, source: "+source+"}}\n", "apply", "-f", "-")
		if code != 0 {
			t.Fatal(errOut)
		}
	}
	save("echo one")
	save("echo two")
	change := "changed  job  default/report\n    ~ task.script.source: \"echo two\" -> \"echo one\"\n1 changed"
	s.Want(change+" (dry run: nothing was saved)\n", "", "rollback", "default/report", "--version", "1", "--dry-run")
	s.Want(change+"\n", "", "rollback", "default/report", "--version", "1")
	_, out, _ := s.Run("", "get", "versions", "default/report")
	lines := strings.Split(out, "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[1], "3 ") || !strings.Contains(lines[1], "script: shell echo one") || !strings.Contains(lines[1], "rolled back to version 1") {
		t.Errorf("the versions are\n%s", out)
	}
	s.Want("default/report deleted\n", "", "delete", "default/report")
	s.Want("created  job  default/report\n1 created\n", "", "rollback", "default/report", "--version", "2")
	code, out, _ := s.Run("", "run", "default/report", "--follow")
	if code != 0 || !strings.HasPrefix(out, "two\n") {
		t.Errorf("exit code %d: %s", code, out)
	}
	s.WantError(cli.ExitNotFound, "carillon: not found: version 9 of job default/report", "", "rollback", "default/report", "--version", "9")
	s.WantError(cli.ExitNotFound, "carillon: not found", "", "rollback", "default/report", "--version", "4") // the deletion
}
