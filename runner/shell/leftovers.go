package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	// directoryPrefix begins the names of runs' directories.
	directoryPrefix = "carillon-run-"
	// lockFile is in each of them. The executor that made it holds its lock for as long
	// as it lives.
	lockFile = ".lock"
	// leftFor is how old a directory must be before it counts as left behind: an executor
	// that was killed may have left the processes of its runs, too.
	leftFor = 24 * time.Hour
)

// lockDirectory tells other executors that the directory is in use.
func lockDirectory(dir string) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(dir, lockFile))
	switch held, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	case !held:
		return nil, fmt.Errorf("lock %s: another program holds the lock", dir)
	}
	return lock, nil
}

// RemoveLeftovers removes the directories of runs in a folder, or in the system's place for
// temporary files if it is empty, that executors left more than a day ago because they
// were killed. It returns how many there were. The error tells all that could not be
// removed.
func RemoveLeftovers(folder string) (int, error) {
	if folder == "" {
		folder = os.TempDir()
	}
	found, err := filepath.Glob(filepath.Join(folder, directoryPrefix+"*"))
	if err != nil {
		return 0, fmt.Errorf("look for what runs left behind in %s: %w", folder, err)
	}
	removed := 0
	var errs []error
	for _, dir := range found {
		switch gone, err := removeLeftover(dir); {
		case err != nil:
			errs = append(errs, fmt.Errorf("remove what a run left behind: %w", err))
		case gone:
			removed++
		}
	}
	return removed, errors.Join(errs...)
}

func removeLeftover(dir string) (bool, error) {
	switch stat, err := os.Lstat(dir); {
	case errors.Is(err, fs.ErrNotExist): // its run has ended
		return false, nil
	case err != nil:
		return false, err
	case !stat.IsDir() || time.Since(stat.ModTime()) < leftFor:
		return false, nil
	case !isOwn(stat): // in a folder for all, somebody else could have laid a link in it
		return false, nil
	}
	lock := flock.New(filepath.Join(dir, lockFile))
	switch free, err := lock.TryLock(); {
	case err != nil:
		return false, err
	case !free:
		return false, nil
	}
	if err := errors.Join(lock.Unlock(), os.RemoveAll(dir)); err != nil {
		return false, err
	}
	return true, nil
}
