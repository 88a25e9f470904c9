//go:build !unix

package processgroup

import (
	"os"
	"os/exec"
)

// Set does nothing: there are no process groups here.
func Set(*exec.Cmd) {}

// Terminate kills the process.
func Terminate(p *os.Process) error { return p.Kill() }

// Kill kills the process, if it has not ended.
func Kill(p *os.Process) { _ = p.Kill() }
