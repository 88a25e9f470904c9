//go:build unix

package chserver

import (
	"os/exec"
	"syscall"
)

// detach keeps the terminal's Ctrl-C from the server: its parent says when to stop.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
