//go:build unix

package processtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// ShownLines is how much of a process's output is shown when its test fails.
const ShownLines = 25

// Process is a program that can be started again after it was killed. What it
// prints in all its lives goes to one file. Its methods are safe for concurrent use.
type Process struct {
	Name    string
	Command []string
	env     []string
	output  string // path of the file
	// Keep starts the process again when it ends by itself, as a supervisor does.
	Keep bool

	mu     sync.Mutex
	cmd    *exec.Cmd     // of the present life; nil before the first
	done   chan struct{} // closed when that life has ended
	wanted bool          // it is to be alive
	gaveUp int           // how often it ended by itself
}

// restartAfter is how long a supervisor lets a process rest that has ended by itself.
const restartAfter = 300 * time.Millisecond

// New returns a process that has not been started, and that does not outlive
// the test.
func New(t *testing.T, name string, env []string, command ...string) *Process {
	t.Helper()
	p := &Process{Name: name, Command: command, env: env, output: filepath.Join(t.TempDir(), name+".log")}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("the last that %s said:\n%s", p.Name, p.Tail(ShownLines))
			p.keepLog(t)
		}
	})
	return p
}

// keepLog copies all that the process has said into the folder CHAOS_LOGS, if there is one.
func (p *Process) keepLog(t *testing.T) {
	t.Helper()
	folder := os.Getenv("CHAOS_LOGS")
	if folder == "" {
		return
	}
	said, err := os.ReadFile(p.output)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, filepath.Base(p.output)), said, 0o600)
	}
	if err != nil {
		t.Logf("the log of %s is not kept: %v", p.Name, err)
	}
}

// Start begins a life. The one before must have ended.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = true
	return p.startLocked()
}

func (p *Process) startLocked() error {
	out, err := os.OpenFile(p.output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // the process has its own
	cmd := exec.Command(p.Command[0], p.Command[1:]...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = out, out, orphaned()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	done := make(chan struct{})
	p.cmd, p.done = cmd, done
	go func() { // ends with the process, which kill waits for
		_ = cmd.Wait() // its state tells
		// Before anybody who waits for the end may start it again.
		byItself := p.count()
		close(done)
		if byItself && p.Keep {
			p.restart(cmd)
		}
	}()
	return nil
}

// count reports whether the life that has ended ended by itself, and counts it if so.
func (p *Process) count() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wanted {
		p.gaveUp++
	}
	return p.wanted
}

// restart is what a supervisor does when the life of ended has ended by itself.
func (p *Process) restart(ended *exec.Cmd) {
	time.Sleep(restartAfter)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wanted && p.cmd == ended {
		_ = p.startLocked() // the program is there: it has been started before
	}
}

// GaveUp returns how often it has ended by itself.
func (p *Process) GaveUp() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gaveUp
}

// Signal sends a signal, unless the process has ended.
func (p *Process) Signal(s os.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(s)
	}
}

// Kill ends the process as a crash does, and waits until it is gone.
func (p *Process) Kill() {
	p.mu.Lock()
	p.wanted = false
	p.mu.Unlock()
	p.Signal(syscall.SIGKILL)
	if done := p.ended(); done != nil {
		<-done
	}
}

// ended returns a channel that is closed when the present life has ended.
func (p *Process) ended() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// Wait returns the exit code, and an error when the process is still there after
// the limit.
func (p *Process) Wait(limit time.Duration) (int, error) {
	select {
	case <-p.ended():
		return p.cmd.ProcessState.ExitCode(), nil
	case <-time.After(limit):
		return 0, fmt.Errorf("%s has not ended within %s", p.Name, limit)
	}
}

// Alive returns an error when the process has ended by itself.
func (p *Process) Alive() error {
	select {
	case <-p.ended():
		return fmt.Errorf("%s has ended with exit code %d:\n%s", p.Name, p.cmd.ProcessState.ExitCode(), p.Tail(ShownLines))
	default:
		return nil
	}
}

// Said returns all that the process has printed.
func (p *Process) Said() string {
	data, err := os.ReadFile(p.output)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err.Error()
	}
	return string(data)
}

// Tail returns the last n lines of what it has printed.
func (p *Process) Tail(n int) string {
	lines := strings.Split(strings.TrimRight(p.Said(), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// Begin starts the process, and ends the test if it cannot.
func (p *Process) Begin(t *testing.T) {
	t.Helper()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
}

// Patience is how long to wait for what is certain to come, on a machine however slow
// and busy.
const Patience = 2 * time.Minute

// Await asks until the answer is nil. Other processes cannot be waited for on
// virtual time, so this is the one place that polls.
func Await(t *testing.T, limit time.Duration, what string, ask func() error) {
	t.Helper()
	if err := Within(limit, ask); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// Within asks until that returns nil, and at least once; it returns the last error when it
// has been doing so for limit.
func Within(limit time.Duration, ask func() error) error {
	deadline := time.Now().Add(limit)
	for {
		err := ask()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not within %s: %w", limit, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Interrupt asks the process to end, as Ctrl-C does.
func (p *Process) Interrupt() { p.end(os.Interrupt) }

// Terminate asks the process to end, as a supervisor does.
func (p *Process) Terminate() { p.end(syscall.SIGTERM) }

func (p *Process) end(s os.Signal) {
	p.mu.Lock()
	p.wanted = false
	p.mu.Unlock()
	p.Signal(s)
}
