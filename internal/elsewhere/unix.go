//go:build unix

package elsewhere

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
)

const defaultShell = "/bin/sh"

// shellCommand returns the command that runs a line as cron does.
func shellCommand(line string) *exec.Cmd {
	shell := cmp.Or(os.Getenv("SHELL"), defaultShell)
	return &exec.Cmd{Path: shell, Args: []string{shell, "-c", line}}
}

// isScript reports whether a program could not be started because it is a script that does not name its
// interpreter.
func isScript(err error) bool { return errors.Is(err, syscall.ENOEXEC) }

// withShell returns the command that runs such a script, as shells do.
func withShell(cmd *exec.Cmd) *exec.Cmd {
	return &exec.Cmd{
		Path: defaultShell, Args: slices.Concat([]string{defaultShell, cmd.Path}, cmd.Args[1:]),
		Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr, Env: cmd.Env,
	}
}

func codeOf(state *os.ProcessState) (code int, message string) {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), fmt.Sprintf("ended by signal %d (%v)", status.Signal(), status.Signal())
	}
	return state.ExitCode(), ""
}

// signals are those that this process catches, to pass them on to the command.
type signals struct {
	caught chan os.Signal
	// terminal says that the command gets what is typed from the terminal itself.
	terminal bool
}

// catchSignals begins to catch signals. Those that are ignored stay so, for the command too.
func catchSignals() *signals {
	s := &signals{caught: make(chan os.Signal, 16), terminal: hasTerminal()}
	wanted := []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGINT, syscall.SIGQUIT}
	if !s.terminal { // else it stops both
		wanted = append(wanted, syscall.SIGTSTP, syscall.SIGCONT)
	}
	for _, sig := range wanted {
		if !signal.Ignored(sig) {
			signal.Notify(s.caught, sig)
		}
	}
	return s
}

// passTo passes the signals on to a process, until stop is called.
func (s *signals) passTo(p *os.Process) (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case sig := <-s.caught:
				if s.terminal && (sig == syscall.SIGINT || sig == syscall.SIGQUIT) {
					continue
				}
				_ = p.Signal(sig) // it may have ended
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) } // they stay caught, so that none keeps the end from being reported
}

// hasTerminal reports whether the session has a terminal, which sends its signals to the command itself.
func hasTerminal() bool {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}
