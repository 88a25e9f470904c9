package all_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

const chatty = `job: default/chatty
task: {shell: "for i in 1 2 3 4 5 6 7; do echo line $i; done; echo line 8 OutOfMemory here; echo line 9"}
`

// How a terminal is told to mark what was found, and to stop.
const (
	markStart = "\x1b[1;31m"
	markEnd   = "\x1b[0m"
)

// found searches until the lines of a run that has ended have come to the store.
func found(t *testing.T, s *clitest.Terminal, args ...string) string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		code, out, errOut := s.Run("", append([]string{"search"}, args...)...)
		if code != 0 || time.Now().After(deadline) {
			t.Fatalf("exit code %d: %s%s", code, out, errOut)
		}
		if out != "" {
			return out
		}
	}
}

func TestASearchShowsWhatItFoundAndTheLinesAround(t *testing.T) {
	s := clitest.New(t)
	s.Want("created  job  default/chatty\n1 created\n", chatty, "apply", "-f", "-")
	if code, out, errOut := s.Run("", "run", "default/chatty", "--wait"); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, out, errOut)
	}
	found(t, s, `"line 9"`) // lines come in the order in which they were printed, but not all at once
	out := found(t, s, "outofmemory", "-C", "1", "--color", "always")
	want := `^\S+  info   default/chatty  \S+/1:7- line 7\n` +
		`\S+  info   default/chatty  \S+/1:8: line 8 ` + regexp.QuoteMeta(markStart+"OutOfMemory"+markEnd) + ` here\n` +
		`\S+  info   default/chatty  \S+/1:9- line 9\n\n$`
	if !regexp.MustCompile(want).MatchString(out) {
		t.Errorf("the search shows %q", out)
	}
	id := regexp.MustCompile(`([0-9a-f-]{36})/1:8`).FindStringSubmatch(out)[1]
	if out := found(t, s, "--run", id, "--limit", "0"); strings.Count(out, "\n") != 9 || strings.Contains(out, markStart) {
		t.Errorf("the run's lines are %q", out)
	}
	if out := found(t, s, `"here"`, "-o", "json"); !strings.Contains(out, `"highlights":[{"from":19,"to":23}]`) {
		t.Errorf("as JSON a hit is %s", out)
	}
	s.WantError(cli.ExitUsage, "carillon: --around", "", "search", "x", "-C", "21")
	if code, out, e := s.Run("", "search", "unheard-of"); code != 0 || out != "" || e != "no lines found\n" {
		t.Errorf("a search without a hit ends with code %d: %q, %q", code, out, e)
	}
	s.WantError(cli.ExitUsage, "carillon: set what to search for", "", "search")
}
