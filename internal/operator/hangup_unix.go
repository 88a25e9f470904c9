//go:build unix

package operator

import (
	"os"
	"syscall"
)

// hangup asks a program to reload its configuration.
var hangup os.Signal = syscall.SIGHUP
