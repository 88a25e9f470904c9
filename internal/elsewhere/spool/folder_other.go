//go:build !unix

package spool

import (
	"fmt"
	"os"
	"path/filepath"
)

func dir() (string, error) {
	cache, err := os.UserCacheDir() // of this machine, which does not roam
	if err != nil {
		return "", fmt.Errorf("find the folder of this user: %w", err)
	}
	return filepath.Join(cache, "carillon", "watch"), nil
}

// syncFolder does nothing: here the file system does it.
func syncFolder(string) error { return nil }
