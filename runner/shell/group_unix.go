//go:build unix

package shell

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// setGroup makes the process the first of a new group.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// terminate asks the whole group to end.
func terminate(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGTERM)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// killGroup ends what is left of the group. The first process has been waited for, so
// its number could belong to another group by now, but only after the system has
// given out all other numbers since.
func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // ESRCH: nothing is left, as it should be
}

// exitOf returns the exit code, by the shells' convention 128 + n for signal n, whose
// name it returns then.
func exitOf(state *os.ProcessState) (code int, signal string) {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), status.Signal().String()
	}
	return state.ExitCode(), ""
}

// isOwn reports whether a file is this user's, and nobody else may write to it.
func isOwn(stat fs.FileInfo) bool {
	s, ok := stat.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() && stat.Mode().Perm()&0o022 == 0
}
