package processgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// killRounds bounds how often KillMarked looks again: a process that it kills may have started another
// one just before.
const killRounds = 10

// KillMarked kills all processes of this user whose environment contains mark, as NAME=value. A process
// that has left its group, such as one under setsid, still has the environment that it was started with,
// unless it was given another one on purpose.
func KillMarked(mark string) {
	for range killRounds {
		marked := findMarked(mark)
		for _, pid := range marked {
			_ = syscall.Kill(pid, syscall.SIGKILL) // ESRCH: it has ended since
		}
		if len(marked) == 0 {
			return
		}
	}
}

// findMarked returns the processes that are alive and marked, but for this one.
func findMarked(mark string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is well-formed
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		// Of one that has ended and waits for its parent, it is empty; of another user's, unreadable.
		environ, err := os.ReadFile(file) //nolint:gosec // a file of the kernel
		if err != nil || len(environ) == 0 {
			continue
		}
		if slices.Contains(strings.Split(string(environ), "\x00"), mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}
