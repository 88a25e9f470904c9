package chserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// ErrNoEngine says that there is no ClickHouse to start.
var ErrNoEngine = errors.New("there is no ClickHouse on this machine")

// childVariable names the library in the environment of a child that is to serve.
const childVariable = "CARILLON_CLICKHOUSE_LIBRARY"

// The first version whose clickhouse-local can listen.
const minMajor, minMinor = 26, 7

// engine is how to run clickhouse-local.
type engine struct {
	program string // a "clickhouse" program; empty for a library
	library string // path of libchdb.so
}

// Installed returns [ErrNoEngine] when there is no ClickHouse to start.
func Installed(ctx context.Context) error {
	_, err := findEngine(ctx)
	return err
}

// findEngine prefers a program, which somebody has installed on purpose.
func findEngine(ctx context.Context) (engine, error) {
	if program, err := exec.LookPath("clickhouse"); err == nil && isNewEnough(ctx, program) {
		return engine{program: program}, nil
	}
	dir := cacheDir()
	library := filepath.Join(dir, libraryPath)
	if _, err := os.Stat(library); err != nil {
		return engine{}, fmt.Errorf("%w: the PATH has no clickhouse of version %d.%d or newer, and %s has not got it either; install it with \"task clickhouse:install\"",
			ErrNoEngine, minMajor, minMinor, dir)
	}
	return engine{library: library}, nil
}

var versionPattern = regexp.MustCompile(`version (\d+)\.(\d+)\.`)

func isNewEnough(ctx context.Context, program string) bool {
	out, err := exec.CommandContext(ctx, program, "local", "--version").Output()
	if err != nil {
		return false
	}
	found := versionPattern.FindSubmatch(out)
	if found == nil {
		return false
	}
	major, _ := strconv.Atoi(string(found[1]))
	minor, _ := strconv.Atoi(string(found[2]))
	return major > minMajor || major == minMajor && minor >= minMinor
}

// command returns the command that runs clickhouse-local with args.
func (e engine) command(ctx context.Context, args ...string) (*exec.Cmd, error) {
	if e.program != "" {
		return exec.CommandContext(ctx, e.program, append([]string{"local"}, args...)...), nil //nolint:gosec // the program that the PATH names
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start ClickHouse: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, args...) //nolint:gosec // this program
	// Go's signal for preemption must not interrupt threads that run C++.
	cmd.Env = append(os.Environ(), childVariable+"="+e.library, "GODEBUG=asyncpreemptoff=1")
	return cmd, nil
}
