package all_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/clitest"
)

func TestARunWaitsForItsTimeAndCanBeListedAndCancelled(t *testing.T) {
	s := clitest.New(t)
	s.Want("created  calendar  holidays\ncreated  job       default/hello\ncreated  job       default/broken\n3 created\n", clitest.TwoJobs, "apply", "-f", "-")

	code, out, errOut := s.Run("", "run", "default/hello", "--in", "24h", "--expires", "1h")
	id := strings.TrimSpace(out)
	if code != 0 || !strings.HasPrefix(errOut, "queued: it waits until ") {
		t.Fatalf("exit code %d: %s, %s", code, out, errOut)
	}
	// The history hears of it in a moment.
	waiting := func(until func(out string) bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); ; {
			code, out, errOut := s.Run("", "get", "runs", "--waiting", "-o", "json")
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, errOut)
			}
			if until(out) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("listed %s", out)
			}
		}
	}
	waiting(func(out string) bool { return strings.Contains(out, id) })
	if code, out, _ := s.Run("", "get", "runs", "-o", "json"); code != 0 || strings.Contains(out, id) {
		t.Errorf("exit code %d: runs that wait are listed among others: %s", code, out)
	}
	if code, out, errOut := s.Run("", "cancel", id); code != 0 {
		t.Errorf("exit code %d: %s, %s", code, out, errOut)
	}
	waiting(func(out string) bool { return !strings.Contains(out, id) })

	if code, out, errOut := s.Run("", "run", "default/hello", "--in", "1s", "--wait"); code != 0 || !strings.Contains(out, " succeeded in ") {
		t.Errorf("exit code %d: %s, %s", code, out, errOut)
	}
	s.WantError(cli.ExitUsage, "carillon: --at \"tomorrow\" must be a time in RFC 3339, such as 2026-03-01T09:00:00Z", "", "run", "default/hello", "--at", "tomorrow")
}
