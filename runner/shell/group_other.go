//go:build !unix

package shell

import (
	"io/fs"
	"os"
	"os/exec"
)

// setGroup does nothing: there are no process groups here.
func setGroup(*exec.Cmd) {}

func terminate(p *os.Process) error { return p.Kill() }

func killGroup(*os.Process) {}

func exitOf(state *os.ProcessState) (code int, signal string) { return state.ExitCode(), "" }

// isOwn takes the system's word for it: its folder for temporary files is the user's own.
func isOwn(fs.FileInfo) bool { return true }
