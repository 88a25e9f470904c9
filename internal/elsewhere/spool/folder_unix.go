//go:build unix

package spool

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
)

func dir() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	switch {
	case filepath.IsAbs(state):
	case os.Geteuid() == 0:
		state = "/var/lib"
	default:
		home := os.Getenv("HOME")
		if home == "" {
			u, err := user.Current()
			if err != nil {
				return "", fmt.Errorf("find the home of this user: %w", err)
			}
			home = u.HomeDir
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "carillon", "watch"), nil
}

// syncFolder makes the names of a folder survive a crash.
func syncFolder(name string) error {
	f, err := os.Open(name) //nolint:gosec // of the spool
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
