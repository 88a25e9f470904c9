package embedded

import (
	"bytes"
	"log/slog"
	"strconv"
	"strings"
	"testing"
)

// A client that is refused a subject costs a line of the server each time.
func TestErrorsThatClientsCauseAreLoggedInSteps(t *testing.T) {
	var out bytes.Buffer
	a := newLogAdapter(slog.New(slog.NewTextHandler(&out, nil)))
	for n := range 3000 {
		a.Errorf("Publish Violation - User %q, Subject %q", "u", strconv.Itoa(n))
		a.Warnf("slow %d", n)
	}
	if lines := strings.Count(out.String(), "\n"); lines != 24 || !strings.Contains(out.String(), "times=2048") {
		t.Errorf("%d lines, want 12 errors and 12 warnings:\n%s", lines, out.String())
	}
}
