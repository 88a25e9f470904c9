package elsewhere

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
)

// exitCodeOf returns the exit code for a command that could not be started.
func exitCodeOf(err error) int {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return exitNotFound
	}
	return exitNotExecutable
}

// cause returns what the system said, without the names of calls.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*exec.Error](err); ok {
		return e.Err
	}
	return err
}

// wait returns how a process ended.
func wait(p *os.Process) (code int, message string) {
	state, err := p.Wait()
	if err != nil {
		return exitNotExecutable, "wait for the command: " + err.Error()
	}
	return codeOf(state)
}
