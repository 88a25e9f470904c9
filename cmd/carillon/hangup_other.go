//go:build !unix

package main

import "os"

// hangup is nil: there is no such signal.
var hangup os.Signal
