//go:build !unix

package operator

import "os"

// hangup is nil: there is no such signal.
var hangup os.Signal
