package node

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// hideFromTasks keeps processes of the same user, such as tasks, from reading this
// process's memory, environment and descriptors under /proc. They may if they run as root.
func hideFromTasks() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide memory from tasks: %w", err)
	}
	return nil
}
