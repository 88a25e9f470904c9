package all_test

import (
	"io"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/all"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestShellsCompleteWhatTheServerHas(t *testing.T) {
	s := clitest.Alone(t)
	if code, out, _ := s.Run(clitest.TwoJobs, "apply", "-f", "-"); code != 0 {
		t.Fatal(out)
	}
	if code, out, _ := s.Run("", "run", "default/hello", "--wait"); code != 0 {
		t.Fatal(out)
	}
	t.Setenv("CARILLON_SERVER", s.Server) // the last argument is the one that is completed
	f := func(want string, line ...string) {
		t.Helper()
		var out strings.Builder
		cli.Execute(t.Context(), cli.NewRoot(all.Commands()...), append([]string{"__complete"}, line...), strings.NewReader(""), &out, io.Discard)
		if !strings.Contains(out.String(), want) || !strings.HasSuffix(out.String(), ":4\n") {
			t.Errorf("%v completes to %q, want %q", line, out.String(), want)
		}
	}
	f("default/hello\n", "pause", "default/h")
	f("default\n", "get", "jobs", "--group", "d")
	f("default\n", "group", "set", "")
	f("dev\n", "cordon", "")
	f("dev\n", "run", "default/hello", "--instance", "")
	f("holidays\n", "delete", "--calendar", "")
	f("\tdefault/hello succeeded\n", "cancel", "")
	f("\tdefault/hello succeeded\n", "get", "runs", "")
}
