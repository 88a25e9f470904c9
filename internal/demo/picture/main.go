// Command picture writes docs/demo.svg, the README's picture: what `carillon demo` prints, line by line
// in the order of time. It takes as long as the demonstration.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

// file is the picture.
const file = "docs/demo.svg"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) //nolint:forbidigo // main makes the root
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// run runs the demonstration and writes what it printed as a picture.
func run(ctx context.Context) error {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "run", "./cmd/carillon", "demo", "--http", "127.0.0.1:0", "--exit")
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run the demonstration: %w", err)
	}
	if err := os.WriteFile(file, draw("carillon demo", out.String()), 0o644); err != nil { //nolint:gosec // a file of the repository
		return fmt.Errorf("write picture: %w", err)
	}
	return nil
}
