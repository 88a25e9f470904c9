package jet

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// Whoever names the subjects of answers can have NATS refuse them to us.
func TestPermissionViolationsAreLoggedInSteps(t *testing.T) {
	var out bytes.Buffer
	r := &connReports{log: slog.New(slog.NewTextHandler(&out, nil))}
	for n := range 3000 {
		r.failed(nil, nil, fmt.Errorf("%w: Publish to %q", nats.ErrPermissionViolation, fmt.Sprint("x", n)))
	}
	if lines := strings.Count(out.String(), "\n"); lines != 12 || !strings.Contains(out.String(), "times=2048") {
		t.Errorf("%d lines, want 12:\n%s", lines, out.String())
	}
}
