//go:build unix

package manifest

import (
	"io/fs"
	"os"
	"syscall"
)

// sameOwner gives a file to who has another one: cron passes over crontabs of others.
func sameOwner(name string, of fs.FileInfo) error {
	stat, ok := of.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return os.Chown(name, int(stat.Uid), int(stat.Gid))
}
