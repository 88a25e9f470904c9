package node

import (
	"os/exec"
	"syscall"
)

// endWithParent ends a child when this process is killed.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
