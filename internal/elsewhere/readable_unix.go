//go:build unix

package elsewhere

import (
	"io/fs"
	"os/user"
	"slices"
	"strconv"
	"syscall"
)

// canRead reports whether a user may read a file, by its owner, its group and its mode.
func canRead(name string, info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	u, err := user.Lookup(name)
	if err != nil || !ok {
		return false
	}
	mode := info.Mode().Perm()
	groups, _ := u.GroupIds() // none are known
	switch {
	case u.Uid == "0":
		return true
	case u.Uid == strconv.Itoa(int(stat.Uid)):
		return mode&0o400 != 0
	case slices.Contains(groups, strconv.Itoa(int(stat.Gid))):
		return mode&0o040 != 0
	}
	return mode&0o004 != 0
}
