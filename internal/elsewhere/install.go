package elsewhere

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Install copies this program to a directory, under the name carillon.
func Install(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	from, err := os.Open(self) //nolint:gosec // this program
	if err != nil {
		return fmt.Errorf("copy this program: %w", err)
	}
	defer func() { _ = from.Close() }()
	name := filepath.Join(dir, "carillon")
	to, err := os.OpenFile(name+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755) //nolint:gosec // a program that others run
	if err != nil {
		return fmt.Errorf("copy this program: %w", err)
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		_ = os.Remove(name + ".new")
		return fmt.Errorf("copy this program: %w", err)
	}
	return nil
}
