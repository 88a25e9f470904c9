//go:build unix

package e2e

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

func TestTheDemonstrationKillsTheSchedulerTwiceAndAccountsForEveryFire(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), processtest.Program(t, "carillon"), "demo", "--for", "15s", "--exit", "--http", "127.0.0.1:0")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("demo ended with %v\n%s%s", err, &stdout, &stderr)
	}
	text := stdout.String()
	if strings.Contains(text, "\x1b") {
		t.Error("a pipe gets escape sequences")
	}
	if n := strings.Count(text, "kill -9 "); n != 2 {
		t.Errorf("the scheduler was killed %d times, want 2", n)
	}
	row := func(pattern string) {
		t.Helper()
		if !regexp.MustCompile(`(?m)^ *` + pattern).MatchString(text) {
			t.Errorf("no row %q", pattern)
		}
	}
	row(`[1-9][\d,]* +fires were due$`)
	row(`[1-9][\d,]* +have a run, [1-9]\d* of them late`)
	row(`[1-9]\d* +of these ran elsewhere, and pings reported them$`)
	row(`[1-9]\d* +have no run, and a recorded reason: no ping came$`)
	row(`0 +have neither$`)
	row(`[1-9][\d,]* +attempts by the handlers' own count, with [1-9]\d* retries and [1-9]\d* steps`)
	row(`0 +of them begun twice$`)
	if t.Failed() {
		t.Logf("it printed:\n%s", text)
	}
}
