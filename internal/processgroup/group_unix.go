//go:build unix

package processgroup

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Set makes the process the first of a new group.
func Set(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// Terminate asks the whole group to end. It returns [os.ErrProcessDone] if the first process has ended
// and been waited for, even if others of the group have not ended.
func Terminate(p *os.Process) error {
	ended := p.Signal(syscall.Signal(0))
	err := syscall.Kill(-p.Pid, syscall.SIGTERM)
	if errors.Is(ended, os.ErrProcessDone) {
		return ended
	}
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// Kill ends what is left of the group. If the first process has been waited for, its number
// could belong to another group by now, but only after the system has given out all other
// numbers since.
func Kill(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // ESRCH: nothing is left, as it should be
}
