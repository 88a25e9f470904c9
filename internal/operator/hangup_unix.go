//go:build unix

package operator

import (
	"os"
	"syscall"
)

// hangup asks a program to read its configuration anew.
var hangup os.Signal = syscall.SIGHUP
