// Command stages runs tasks of the Taskfile one after the other, all of them even if one fails,
// and names at the end those that failed.
//
//	stages TASK lint test chaos+bridge
//
// TASK is the program that runs tasks. Stages that + joins run at the same time. What a stage needs
// is in its task's deps: where that fails, the stage fails with its reason.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // main makes the root
	err := errors.New("want a program that runs tasks, and stages")
	if len(os.Args) > 2 {
		err = runAll(ctx, os.Args[1], os.Args[2:], os.Stdout, os.Stderr)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stages:", err)
		os.Exit(1)
	}
}

// outcome is how a stage ended.
type outcome struct {
	stage  string
	took   time.Duration
	reason string // why it failed; "" if it passed
}

// runAll runs the stages in their order and reports on all. The error says how many failed. When ctx
// is done, the stages that run are interrupted, and no other begins.
func runAll(ctx context.Context, task string, stages []string, out, errOut io.Writer) error {
	var outcomes []outcome
	for _, step := range stages {
		together := strings.Split(step, "+")
		ended := make([]outcome, len(together))
		var wait sync.WaitGroup
		for i, stage := range together {
			wait.Go(func() { ended[i] = run(ctx, task, stage, out, errOut) })
		}
		wait.Wait()
		outcomes = append(outcomes, ended...)
	}
	failed := 0
	for _, o := range outcomes {
		line := "passed"
		if o.reason != "" {
			failed++
			line = "FAILED  " + o.reason
		}
		_, _ = fmt.Fprintf(out, "stages: %-18s %7s  %s\n", o.stage, o.took.Round(time.Second), line)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d failed", failed, len(outcomes))
	}
	return nil
}

func run(ctx context.Context, task, stage string, out, errOut io.Writer) outcome {
	began := time.Now()
	if ctx.Err() != nil {
		return outcome{stage, 0, "not begun: interrupted"}
	}
	_, _ = fmt.Fprintf(out, "stages: %s begins\n", stage)
	var last reason
	cmd := exec.CommandContext(ctx, task, stage) //nolint:gosec // what the Taskfile says
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdout, cmd.Stderr = out, io.MultiWriter(errOut, &last)
	o := outcome{stage: stage}
	if err := cmd.Run(); err != nil {
		o.reason = last.of(err)
	}
	o.took = time.Since(began)
	return o
}

// reason keeps the last line by which task names the task that failed: the stage, or what it needs.
type reason struct {
	line string
	rest string // the beginning of a line
}

func (r *reason) Write(p []byte) (int, error) {
	r.rest += string(p)
	for {
		line, rest, whole := strings.Cut(r.rest, "\n")
		if !whole {
			return len(p), nil
		}
		if strings.HasPrefix(line, "task: ") {
			r.line = line
		}
		r.rest = rest
	}
}

// of returns why a command failed: by its line, or by its error.
func (r *reason) of(err error) string {
	if r.line != "" {
		return r.line
	}
	return err.Error()
}
