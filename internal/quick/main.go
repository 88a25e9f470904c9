// Command quick checks what a change touches, in the time that one waits for it.
//
//	quick [-within 90s] [-lint PROGRAM]
//
// A change is what differs from the commit where this branch left main, committed or not.
// Quick looks at the format of its files, lints its packages, and tests them and those that
// import them, the nearest first, with go test -short. If the console has changed, it checks
// its types, lints it and runs its unit tests. When the time is over it ends, and names the
// packages that it left out.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	within := flag.Duration("within", 90*time.Second, "stop after this time")
	linter := flag.String("lint", "golangci-lint", "the golangci-lint to run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // main makes the root
	err := quick(ctx, *linter, *within)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quick:", err)
		os.Exit(1)
	}
}

// quick returns an error when something is wrong with the change, and none when only the
// time was too short.
func quick(ctx context.Context, linter string, within time.Duration) error {
	files, err := changedFiles(ctx)
	if err != nil {
		return err
	}
	packages, err := list(ctx)
	if err != nil {
		return err
	}
	touched := touched(packages, files)
	order := toTest(packages, files)
	if len(order) == 0 {
		fmt.Fprintln(os.Stderr, "quick: nothing has changed that Go or the console is made of")
		return nil
	}
	fmt.Fprintf(os.Stderr, "quick: %d changed packages, and %d that import them\n", len(touched), len(order)-len(touched))
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()

	err = errors.Join(lint(limited, linter, packages, touched, files), console(limited, files), ctx.Err())
	if limited.Err() == nil {
		left, failed := test(limited, order)
		err = errors.Join(err, failed)
		order = left
	}
	if limited.Err() != nil && len(order) > 0 {
		fmt.Fprintf(os.Stderr, "quick: %s are over; not tested: %s\n", within, strings.Join(order, " "))
	}
	return err
}

// lint looks at the format of the changed files, and for mistakes in their packages.
func lint(ctx context.Context, linter string, packages []pkg, touched, files []string) error {
	goFiles := goFiles(files)
	if len(goFiles) == 0 {
		return nil
	}
	err := run(ctx, os.Stdout, append([]string{linter, "fmt", "--diff"}, goFiles...)...)
	var dirs []string
	for _, p := range packages {
		for _, t := range touched {
			if p.ImportPath == t {
				dirs = append(dirs, p.Dir)
			}
		}
	}
	return errors.Join(err, run(ctx, os.Stdout, append([]string{linter, "run"}, dirs...)...))
}

// console checks the console, if one of the files is its.
func console(ctx context.Context, files []string) error {
	if !slices.ContainsFunc(files, isConsole) {
		return nil
	}
	var err error
	for _, script := range []string{"typecheck", "lint", "test"} {
		err = errors.Join(err, run(ctx, os.Stdout, "npm", "--prefix", "frontend", "run", "--silent", script))
	}
	return err
}

// test returns which of the packages have not been tested when ctx ends.
func test(ctx context.Context, packages []string) (left []string, err error) {
	var done, failed map[string]bool
	output, input := io.Pipe()
	read := make(chan struct{})
	go func() {
		defer close(read)
		done, failed = results(io.TeeReader(output, os.Stdout), func() bool { return ctx.Err() != nil })
	}()
	err = run(ctx, input, append([]string{"go", "test", "-short", "-skip", "^Test(Chaos|AtLength|Nightly|Together)"}, packages...)...)
	_ = input.Close() // of a pipe; it cannot fail
	<-read
	for _, p := range packages {
		if !done[p] {
			left = append(left, p)
		}
	}
	if ctx.Err() == nil {
		return nil, err
	}
	if len(failed) > 0 { // before the time was over, which is no error by itself
		err = fmt.Errorf("go test: %s failed", strings.Join(slices.Sorted(maps.Keys(failed)), " "))
	}
	return left, err
}

// results reads what go test prints, and returns which packages ended and which of them
// failed. What it prints once the time is over does not count: its tests are stopped then,
// and say that they failed.
func results(output io.Reader, over func() bool) (done, failed map[string]bool) {
	done, failed = map[string]bool{}, map[string]bool{}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		name := tested(lines.Text())
		if name == "" || over() {
			continue
		}
		done[name] = true
		if strings.HasPrefix(lines.Text(), "FAIL") {
			failed[name] = true
		}
	}
	_, _ = io.Copy(io.Discard, output) // after a line that is too long
	return done, failed
}

// tested returns the package of whose end a line of go test tells; "" for other lines. One
// that fails to build, or has no tests, has ended too.
func tested(line string) string {
	for _, word := range []string{"ok  \t", "FAIL\t", "?   \t"} {
		if rest, ok := strings.CutPrefix(line, word); ok {
			name, _, _ := strings.Cut(rest, "\t")
			name, _, _ = strings.Cut(name, " ")
			return name
		}
	}
	return ""
}

// run runs a command until ctx ends. That ctx has ended is no error of the command.
func run(ctx context.Context, stdout io.Writer, command ...string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the linter that the caller named, and go
	cmd.Stdout, cmd.Stderr = stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // go test stops its tests
	cmd.WaitDelay = 3 * time.Second
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s %s: %w", command[0], command[1], err)
	}
	return nil
}

// output returns the lines that a command prints.
func output(ctx context.Context, command ...string) ([]string, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // fixed commands
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, stderr.Bytes())
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' }), nil
}
