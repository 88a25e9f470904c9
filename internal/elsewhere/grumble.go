package elsewhere

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// grumbleEvery is how often a wrong configuration is told: cron mails each line.
const grumbleEvery = time.Hour

// grumbler tells on standard error that runs are not reported, once an hour for all wrappers of a user.
type grumbler struct {
	dir string // of the spool, "" if there is none
}

// say tells what is wrong, in one line, unless something was told within the hour.
func (g *grumbler) say(err error) {
	marks := []string{filepath.Join(os.TempDir(), fmt.Sprintf("carillon-watch-%d", os.Getuid()))}
	if g.dir != "" {
		marks = append([]string{filepath.Join(g.dir, "complained")}, marks...)
	}
	for _, mark := range marks {
		if info, err := os.Lstat(mark); err == nil && time.Since(info.ModTime()) < grumbleEvery {
			return
		}
	}
	for _, mark := range marks {
		if touch(mark) == nil {
			break
		}
	}
	_, _ = fmt.Fprintln(os.Stderr, "carillon watch:", strings.ReplaceAll(err.Error(), "\n", "; "))
}

// touch makes a file anew, and never follows a link: others may write beside it.
func touch(name string) error {
	_ = os.Remove(name)
	_ = os.MkdirAll(filepath.Dir(name), 0o700)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // its name is ours
	if err != nil {
		return err
	}
	return f.Close()
}
