//go:build unix && !linux

package processtest

import "syscall"

// orphaned has no equivalent here: a test that is killed leaves its processes.
func orphaned() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
