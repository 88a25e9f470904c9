package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrStoreInUse says that another server has the store directory open. Two
// servers on the same files would overwrite each other's messages, and nothing
// in the server prevents it.
var ErrStoreInUse = errors.New("store directory is in use by another server")

// dirLock is the ownership of a store directory. It ends with the process, also
// one that is killed, so a crash leaves nothing to clean up.
type dirLock struct {
	file *os.File
}

// lockDir makes dir if need be and takes its ownership.
func lockDir(dir string) (*dirLock, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("make store directory: %w", err)
	}
	name := filepath.Join(dir, "lock")
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the directory is the operator's choice
	if err != nil {
		return nil, fmt.Errorf("write to store directory: %w", err)
	}
	if err := lockFile(file); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), file.Close())
	}
	return &dirLock{file}, nil
}

// release gives the directory up. The file stays: were it removed, a server
// that had already opened it would hold a lock that nobody else can see.
func (l *dirLock) release() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("release store directory: %w", err)
	}
	return nil
}
