//go:build unix

package main

import (
	"os"
	"syscall"
)

// hangup asks a program to read its configuration anew.
var hangup os.Signal = syscall.SIGHUP
