package elsewhere

import (
	"os/exec"
	"syscall"
)

// setLine sets the command line as it is: the shell has rules of its own for quotes.
func setLine(cmd *exec.Cmd, line string) { cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: line} }
