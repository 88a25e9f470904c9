package all_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestFieldsOfManyJobsAreChangedAndThatIsUndone(t *testing.T) {
	s := clitest.New(t)
	if code, out, e := s.Run(nightly, "apply", "-f", "-"); code != 0 {
		t.Fatal(code, out, e)
	}
	const plan = "changed  job  default/load\n    + target.start_delay: \"5m\"\n    + timeout: \"10m\"\n" +
		"changed  job  default/off\n    + target.start_delay: \"5m\"\n    + timeout: \"10m\"\n"
	change := func(more ...string) []string {
		return append([]string{"change", "--tag", "nightly", "--set", "timeout=10m", "--set", "target.start_delay=5m"}, more...)
	}
	s.Want(plan+"2 changed (dry run: nothing was saved)\n", "", change("--dry-run")...)
	s.WantError(cli.ExitUsage, "carillon: standard input is not a terminal; confirm with --yes. Nothing was changed\n", "", change()...)
	code, out, e := s.Run("", change("--yes", "--note", "slow disk")...)
	undo := regexp.MustCompile(`(?s)^(.*)2 changed\nundo with: carillon change --undo (\w+)\n$`).FindStringSubmatch(out)
	if code != 0 || undo == nil || undo[1] != plan {
		t.Fatal(code, out, e)
	}
	s.Want("unchanged  job  default/load\nunchanged  job  default/off\n2 unchanged\n", "", change("--yes")...)

	// One has a newer version, which stays.
	patch := filepath.Join(t.TempDir(), "patch.yaml")
	if err := os.WriteFile(patch, []byte("owner: night # shift\ntags: null\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, e := s.Run("", "change", "default/off", "--patch", patch); code != 0 || !strings.Contains(out, "    + owner: \"night\"\n    - tags: [\"nightly\"]\n1 changed\n") {
		t.Fatal(code, out, e)
	}
	code, out, e = s.Run("", "change", "--undo", undo[2])
	if code != cli.ExitConflict || !strings.Contains(out, "changed  job  default/load\n    - target.start_delay: \"5m\"\n    - timeout: \"10m\"\n1 changed\n") ||
		!strings.Contains(e, "default/off: job default/off has version 3 by now") {
		t.Error(code, out, e)
	}
	s.WantError(cli.ExitNotFound, "carillon: not found: there is no such change of many jobs, or it is not kept any more\n", "", "change", "--undo", "none")
	s.WantError(cli.ExitError, "carillon: patch.timout is not a known field; write timeout\n", "", "change", "default/load", "--set", "timout=1m")
	if code, _, e := s.Run("", "change", "default/load", "default/off", "--set", "max_deliveries=99", "--dry-run"); code != cli.ExitError || strings.Count(e, "max_deliveries 99 must be between") != 2 {
		t.Error(code, e)
	}
	if code, out, e := s.Run("", "change", "default/load", "default/none", "--set", "owner=ann"); code != cli.ExitNotFound || !strings.Contains(out, "1 changed\n") || !strings.Contains(e, "default/none: ") {
		t.Error("of a job that is saved and one that is refused:", code, out, e)
	}
	s.Want("no jobs\n", "", "change", "--tag", "quiet", "--unset", "owner")
	for _, args := range [][]string{
		{"change"},
		{"change", "default/load"},
		{"change", "--set", "owner=x"},
		{"change", "default/load", "--tag", "nightly", "--set", "owner=x"},
		{"change", "default/load", "--set", "owner"},
		{"change", "default/load", "--set", "owner=x", "--unset", "owner"},
		{"change", "default/load", "--set", "target=x", "--set", "target.start_delay=5m"},
		{"change", "default/load", "--undo", undo[2]},
		{"change", "--undo", undo[2], "--set", "owner=x"},
		{"change", "default/load", "--patch", filepath.Join(t.TempDir(), "none.yaml")},
	} {
		if code, out, _ := s.Run("", args...); code != cli.ExitUsage {
			t.Errorf("%s: exit code %d\n%s", args, code, out)
		}
	}
}
