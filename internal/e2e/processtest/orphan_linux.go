package processtest

import "syscall"

// orphaned lets the kernel kill a process when the test that started it dies.
func orphaned() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
