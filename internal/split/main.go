// Command split runs go test, and tests large packages in pieces that run at the same time.
//
//	split [-in 2] -of PACKAGE,... go test FLAGS -- PACKAGES
//
// Go runs the packages at the same time, but the tests of a package one after the other. Those
// of a bubble (cluster/bustest) have to: a process has one bubble at a time. So a package whose tests
// take minutes keeps one core busy while the others wait. Split lists the tests of such packages,
// deals them out in turn, and runs each piece in a process of its own, beside the rest. Each test
// runs once, as with go test alone.
//
// A package is named by the end of its path: -of scheduler means the package that -- PACKAGES
// names as ./scheduler or by its import path.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
)

func main() {
	in := flag.Int("in", 2, "into how many pieces to split")
	of := flag.String("of", "", "the packages to split, separated by commas")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // main makes the root
	err := split(ctx, *in, strings.Split(*of, ","), flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "split:", err)
		os.Exit(1)
	}
}

func split(ctx context.Context, in int, of, args []string) error {
	end := slices.Index(args, "--")
	if end < 0 {
		return errors.New("want go test FLAGS -- PACKAGES")
	}
	command, rest := args[:end], args[end+1:]
	var commands [][]string
	for _, pkg := range rest {
		if !isOf(pkg, of) {
			continue
		}
		pieces, err := piecesOf(ctx, command, pkg, in)
		if err != nil {
			return err
		}
		commands = append(commands, pieces...)
	}
	rest = slices.DeleteFunc(slices.Clone(rest), func(pkg string) bool { return isOf(pkg, of) })
	if len(rest) > 0 {
		commands = append(commands, slices.Concat(command, rest))
	}
	return runAll(ctx, commands, os.Stdout)
}

// isOf reports whether a package is one of those whose paths end so.
func isOf(pkg string, of []string) bool {
	return slices.ContainsFunc(of, func(end string) bool { return pkg == end || strings.HasSuffix(pkg, "/"+end) })
}

// piecesOf returns the commands that together test what command does of a package.
func piecesOf(ctx context.Context, command []string, pkg string, in int) ([][]string, error) {
	command, only := without(command, "-run")
	_, skip := without(command, "-skip")
	if only == "" {
		only = "."
	}
	list := slices.Concat(command, []string{"-list", only, pkg})
	cmd := exec.CommandContext(ctx, list[0], list[1:]...) //nolint:gosec // what the caller typed
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(list, " "), err, out)
	}
	names, err := testsIn(string(out), skip)
	if err != nil {
		return nil, err
	}
	var commands [][]string
	for _, piece := range deal(names, in) {
		commands = append(commands, slices.Concat(command, []string{"-run", "^(" + strings.Join(piece, "|") + ")$", pkg}))
	}
	return commands, nil
}

// without returns a command without a flag, and that flag's value. The value is another word.
func without(command []string, name string) (rest []string, value string) {
	at := slices.Index(command, name)
	if at < 0 || at+1 == len(command) {
		return command, ""
	}
	return slices.Concat(command[:at], command[at+2:]), command[at+1]
}

// testsIn returns the names in what go test -list prints, but for those to skip. Benchmarks are
// no tests.
func testsIn(output, skip string) (names []string, err error) {
	var skipped *regexp.Regexp
	if skip != "" {
		if skipped, err = regexp.Compile(skip); err != nil {
			return nil, err
		}
	}
	for line := range strings.Lines(output) {
		name := strings.TrimSuffix(line, "\n")
		if !testName.MatchString(name) || (skipped != nil && skipped.MatchString(name)) {
			continue
		}
		names = append(names, name)
	}
	return names, nil
}

var testName = regexp.MustCompile(`^(Test|Example|Fuzz)\w*$`)

// deal deals names out in turn: neighbours in a file often take the same time.
func deal(names []string, in int) [][]string {
	pieces := make([][]string, min(in, len(names)))
	for i, name := range names {
		pieces[i%len(pieces)] = append(pieces[i%len(pieces)], name)
	}
	return pieces
}

// runAll runs the commands at the same time. The output of all but the last, which is that of
// many packages, is printed when it is whole.
func runAll(ctx context.Context, commands [][]string, w io.Writer) error {
	var mu sync.Mutex
	var wait sync.WaitGroup
	errs := make([]error, len(commands))
	shared := &locked{mu: &mu, w: w}
	for i, command := range commands {
		wait.Go(func() {
			cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // what the caller typed
			cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
			cmd.Stderr = os.Stderr
			var whole bytes.Buffer
			if cmd.Stdout = &whole; i == len(commands)-1 {
				cmd.Stdout = shared
			}
			errs[i] = cmd.Run()
			_, _ = shared.Write(whole.Bytes()) // which nobody reads, if it fails
		})
	}
	wait.Wait()
	_, _ = fmt.Fprintln(shared, shared.closing())
	return errors.Join(errs...)
}

// locked is written by several, one after the other. It counts the lines by which go test names a
// package that has passed or failed; a package in two pieces counts twice.
type locked struct {
	mu *sync.Mutex // of all
	w  io.Writer

	rest           []byte // the beginning of a line
	passed, failed int
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			break
		}
		switch {
		case bytes.HasPrefix(line, []byte("ok  \t")):
			l.passed++
		case bytes.HasPrefix(line, []byte("FAIL\t")):
			l.failed++
		}
		l.rest = rest
	}
	return l.w.Write(p)
}

// closing is the line that a run ends with.
func (l *locked) closing() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprintf("go test: %d passed, %d failed (packages, or pieces of them)", l.passed, l.failed)
}
