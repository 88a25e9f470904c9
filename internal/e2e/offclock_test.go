//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
)

// clocksFrom is how long there have to be faults so that clocks are wrong, too: a program whose
// clock can be, takes minutes to build.
const clocksFrom = time.Minute

// The program whose clock can be wrong is the shipped one, with another time package, and a
// file that says by how much.
const (
	rightNow = "\tsec, nsec, mono := runtimeNow()\n"
	wrongNow = rightNow + "\tsec += offset.Load()\n"

	offsetSource = `package time

import "sync/atomic"

var offset atomic.Int64

// SetOffset makes the wall clock wrong by some seconds.
func SetOffset(seconds int64) { offset.Store(seconds) }
`
	readerSource = `package main

import (
	"os"
	"strconv"
	"time"
)

func init() {
	read := func() {
		text, err := os.ReadFile(os.Getenv("CLOCK_OFFSET"))
		if seconds, wrong := strconv.ParseInt(string(text), 10, 64); err == nil && wrong == nil {
			time.SetOffset(seconds)
		}
	}
	read()
	go func() {
		for range time.Tick(50 * time.Millisecond) {
			read()
		}
	}()
}
`
)

// buildOff builds the program whose clock can be wrong at the first call.
var buildOff = sync.OnceValues(func() (string, error) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	timeDir := filepath.Join(strings.TrimSpace(string(goroot)), "src", "time")
	source, err := os.ReadFile(filepath.Join(timeDir, "time.go"))
	if err != nil {
		return "", err
	}
	if strings.Count(string(source), rightNow) != 1 {
		return "", fmt.Errorf("time.Now of this Go is another than is known here: %d times %q", strings.Count(string(source), rightNow), rightNow)
	}
	module, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for at, text := range map[string]string{
		filepath.Join(timeDir, "time.go"):                       strings.Replace(string(source), rightNow, wrongNow, 1),
		filepath.Join(timeDir, "offset.go"):                     offsetSource,
		filepath.Join(module, "cmd", "carillon", "offclock.go"): readerSource,
	} {
		path := filepath.Join(processtest.Folder(), "offclock-"+filepath.Base(at))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[at] = path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(processtest.Folder(), "offclock.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		return "", err
	}
	built := filepath.Join(processtest.Folder(), "offclock")
	if out, err := exec.Command("go", "build", "-overlay", path, "-o", built, "github.com/carillon-scheduler/carillon/cmd/carillon").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return built, nil
})

// offclock returns the path of the program whose clock can be wrong.
func offclock(t *testing.T) string {
	t.Helper()
	path, err := buildOff()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// offsets are by how much clocks are wrong: by what policies let pass, and by what makes them
// miss fires.
var offsets = []time.Duration{5 * time.Second, 90 * time.Second, time.Hour, 25 * time.Hour}

// harmClocks makes the clock of one scheduler at a time wrong, either way.
func (x *chaos) harmClocks(ctx context.Context, r *rand.Rand) {
	for pause(ctx, between(r, time.Second, 20*time.Second)) {
		i := r.IntN(len(x.c.clocks))
		offset := offsets[r.IntN(len(offsets))]
		if r.IntN(2) == 0 {
			offset = -offset
		}
		at := time.Now()
		x.setClock(i, offset)
		pause(ctx, between(r, time.Second, 20*time.Second))
		x.setClock(i, 0)
		x.note(fault{"clock", "server", at, time.Since(at)})
	}
}

// setClock makes a clock wrong, or right again, at the process's next look.
func (x *chaos) setClock(i int, offset time.Duration) {
	path := x.c.clocks[i]
	err := os.WriteFile(path+".new", fmt.Append(nil, int64(offset/time.Second)), 0o600)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		x.c.t.Error(err)
	}
}
