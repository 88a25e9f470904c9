//go:build unix

package shell

import (
	"io/fs"
	"os"
	"syscall"
)

// exitOf returns the exit code, by the shells' convention 128 + n for signal n, whose
// name it returns then.
func exitOf(state *os.ProcessState) (code int, signal string) {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), status.Signal().String()
	}
	return state.ExitCode(), ""
}

// isOwn reports whether a file is this user's, and nobody else may write to it.
func isOwn(stat fs.FileInfo) bool {
	s, ok := stat.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() && stat.Mode().Perm()&0o022 == 0
}
