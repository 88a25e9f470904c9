//go:build !unix

package shell

import (
	"io/fs"
	"os"
)

func exitOf(state *os.ProcessState) (code int, signal string) { return state.ExitCode(), "" }

// isOwn takes the system's word for it: its folder for temporary files is the user's own.
func isOwn(fs.FileInfo) bool { return true }
