//go:build !unix && !windows

package elsewhere

import "os/exec"

// setLine does nothing: there are only arguments.
func setLine(*exec.Cmd, string) {}
