// Command stages runs tasks of the Taskfile one after the other, all of them even if one fails,
// and lists them at the end: those that failed with the reason and the tests that failed, all with
// the time and processor time they took and the closing lines of the test runners that they started.
//
//	stages TASK lint test chaos+bridge
//
// TASK is the program that runs tasks. Stages that + joins run at the same time. What a stage needs
// is in its task's deps: where that fails, the stage fails with its reason. A stage may run stages
// itself. The list has them below it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// prefix begins each line of the list.
const prefix = "stages: "

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
	cpu    time.Duration // of all its processes
	reason string        // why it failed; "" if it passed
	closing
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
		line = strings.Join(append([]string{line}, o.lines()...), "; ")
		_, _ = fmt.Fprintf(out, "%s%-22s %7s, CPU %7s  %s\n", prefix, o.stage, o.took.Round(time.Second), o.cpu.Round(time.Second), line)
		for _, below := range slices.Concat(o.below, o.failing()) {
			_, _ = fmt.Fprintf(out, "%s  %s\n", prefix, below)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d failed", failed, len(outcomes))
	}
	return nil
}

func run(ctx context.Context, task, stage string, out, errOut io.Writer) outcome {
	began := time.Now()
	if ctx.Err() != nil {
		return outcome{stage: stage, reason: "not begun: interrupted"}
	}
	_, _ = fmt.Fprintf(out, "stages: %s begins\n", stage)
	var last reason
	o := outcome{stage: stage}
	told := perLine{each: o.hear}
	reasons := perLine{each: last.hear}
	cmd := exec.CommandContext(ctx, task, stage) //nolint:gosec // what the Taskfile says
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdout, cmd.Stderr = io.MultiWriter(out, &told), io.MultiWriter(errOut, &reasons)
	if err := cmd.Run(); err != nil {
		o.reason = last.of(err)
	}
	o.took = time.Since(began)
	if ended := cmd.ProcessState; ended != nil {
		o.cpu = ended.UserTime() + ended.SystemTime()
	}
	return o
}

// reason is the last line by which task names the task that failed: the stage, or what it needs.
type reason string

func (r *reason) hear(line string) {
	if strings.HasPrefix(line, "task: ") {
		*r = reason(line)
	}
}

// of returns why a command failed: by its line, or by its error.
func (r reason) of(err error) string {
	if r != "" {
		return string(r)
	}
	return err.Error()
}
