//go:build !unix

package shell

import (
	"os"
	"os/exec"
)

// setGroup does nothing: there are no process groups here.
func setGroup(*exec.Cmd) {}

func terminate(p *os.Process) error { return p.Kill() }

func killGroup(*os.Process) {}

func exitOf(state *os.ProcessState) (code int, signal string) { return state.ExitCode(), "" }
