//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package embedded

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks an open file until it is closed, or returns ErrStoreInUse.
func lockFile(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var lockErr error
	err = conn.Control(func(fd uintptr) {
		lockErr = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
	})
	if errors.Is(lockErr, syscall.EWOULDBLOCK) {
		return ErrStoreInUse
	}
	return errors.Join(err, lockErr)
}
