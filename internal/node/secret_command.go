package node

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/internal/processgroup"
)

// secretName is the variable with the name of the secret that a command is to print.
const secretName = "CARILLON_SECRET_NAME"

// Bounds of a command that prints a secret: how long it may take, and how much it may print.
const (
	secretPatience = 30 * time.Second
	maxSecret      = 64 << 10
)

// secretCommand returns a function that runs a line of the shell for each secret, and takes what it prints,
// without the last line break, as the value. Its errors have the command's last line of standard error.
func secretCommand(line string) func(ctx context.Context, name string) (string, error) {
	return func(ctx context.Context, name string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, secretPatience)
		defer cancel()
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line) //nolint:gosec // the operator's own
		processgroup.Set(cmd)
		cmd.Cancel = func() error { processgroup.Kill(cmd.Process); return nil }
		cmd.WaitDelay = time.Second
		cmd.Env = append(os.Environ(), secretName+"="+name)
		var stdout, stderr bounded
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		value := strings.TrimSuffix(string(stdout.kept), "\n")
		switch {
		case ctx.Err() != nil:
			return "", fmt.Errorf("the command for secret %q took longer than %s", name, secretPatience)
		case err != nil:
			return "", fmt.Errorf("the command for secret %q failed: %w: %s", name, err, lastLine(string(stderr.kept)))
		case value == "":
			return "", fmt.Errorf("the command for secret %q printed nothing", name)
		case stdout.cut:
			return "", fmt.Errorf("the command for secret %q printed more than %d bytes", name, maxSecret)
		}
		return value, nil
	}
}

// bounded keeps the first maxSecret bytes that are written to it.
type bounded struct {
	kept []byte
	cut  bool // there were more
}

// Write implements [io.Writer].
func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), maxSecret-len(b.kept))
	b.kept = append(b.kept, p[:n]...)
	b.cut = b.cut || n < len(p)
	return len(p), nil
}

// lastLine returns the last line of a text that is not empty, cut to what a message has room for.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	return last[:min(len(last), 500)]
}
