package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/carillon-scheduler/carillon/internal/elsewhere/ping"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// AtOnce is how many pings a wrapper sends at most.
	AtOnce = 20
	// keepRefused is how long a ping is kept that the server refuses: somebody may repair the configuration.
	keepRefused = 24 * time.Hour
)

// Flush sends the oldest pings, at most most of them, with send. It stops at the first that cannot reach its
// server. Pings that are refused stay for 24 h, then each is dropped, which drop is told. If another process
// sends already, nothing is done. Flush returns how many pings were sent.
func (s *Spool) Flush(ctx context.Context, most int, send func(context.Context, *Kept) error, drop func(text string)) (sent int, err error) {
	all, err := s.files()
	if err != nil || len(all) == 0 {
		return 0, err
	}
	unlock, err := s.lock("send.lock", false)
	if err != nil || unlock == nil {
		return 0, err
	}
	defer unlock()
	if all, err = s.files(); err != nil { // another may have sent them meanwhile
		return 0, err
	}
	busy := map[job.Name]bool{} // of which the server takes no more for a while
	asked := 0
	for _, f := range all {
		k, err := s.read(f.name)
		switch {
		case asked == most:
			return sent, nil
		case err == nil && busy[k.Job]:
			continue
		case errors.Is(err, fs.ErrNotExist): // the spool was full
			continue
		case err != nil:
			drop("dropped a ping: " + err.Error())
			s.remove(f.name)
			continue
		}
		asked++
		err = send(ctx, k)
		no, isRefused := errors.AsType[*ping.RefusedError](err)
		_, isBusy := errors.AsType[*ping.BusyError](err)
		switch {
		case err == nil:
			s.remove(f.name)
			sent++
		case isBusy:
			busy[k.Job] = true
		case !isRefused:
			return sent, err
		case k.Happened.Age() > keepRefused:
			drop(fmt.Sprintf("dropped a ping of %s from %s: %s", k.Job, k.Happened.Wall.UTC().Format(time.RFC3339), no.Reason))
			s.remove(f.name)
		default:
			s.demote(f.name)
		}
	}
	return sent, nil
}

func (s *Spool) remove(name string) {
	_ = os.Remove(filepath.Join(s.dir, name)) //nolint:gosec // of the spool
}

// demote puts a ping that was refused behind those that were not.
func (s *Spool) demote(name string) {
	if stem, first := strings.CutSuffix(name, waiting); first {
		_ = os.Rename(filepath.Join(s.dir, name), filepath.Join(s.dir, stem+refused))
	}
}

// lock takes a lock of the spool. If it is taken and wait is false, unlock is nil.
func (s *Spool) lock(name string, wait bool) (unlock func(), err error) {
	l := flock.New(filepath.Join(s.dir, name), flock.SetPermissions(0o600))
	got := true
	if wait {
		err = l.Lock()
	} else {
		got, err = l.TryLock()
	}
	if err != nil {
		return nil, fmt.Errorf("lock spool: %w", err)
	}
	if !got {
		return nil, nil //nolint:nilnil // another process has it
	}
	return func() { _ = l.Unlock() }, nil
}
