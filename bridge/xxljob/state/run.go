package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// keptFor is how long a run is known that nobody ends, and how long what was stored in its cell: it
	// must not be forgotten before the run (ADR 45).
	keptFor = bus.ClaimFor
	// Cells is how many runs an instance may have. The log ids of two must differ by them: a run that
	// has ended is known until another one takes its cell.
	Cells = 1024
)

// Run is a run at an executor, with all that it takes to go on with it. It is stored before the
// executor is asked to begin it.
type Run struct {
	Trigger  *bus.Trigger `json:"trigger,omitempty"`
	Token    string       `json:"token,omitempty"`
	Ack      string       `json:"ack,omitempty"` // where the trigger is answered
	Delivery int          `json:"delivery,omitempty"`
	Routed   string       `json:"routed,omitempty"` // why the run is here
	Claim    *bus.Claim   `json:"claim,omitempty"`

	LogID   int64        `json:"log_id"`
	JobID   int32        `json:"job_id,omitempty"`
	Address string       `json:"address,omitempty"`
	Dialect wire.Dialect `json:"dialect,omitempty"`

	Came    time.Time `json:"came,omitzero"`    // when the trigger was delivered
	Started time.Time `json:"started,omitzero"` // when it was handed over, which names the day of its log file
	// Said says that the started event is stored.
	Said bool `json:"said,omitempty"`
	// LogLine is the first line of its log that is not in the run's log yet, and LogLines how many lines
	// that has.
	LogLine  int `json:"log_line,omitempty"`
	LogLines int `json:"log_lines,omitempty"`
	// Forgotten counts the earlier starts of this attempt that executors lost.
	Forgotten int `json:"forgotten,omitempty"`
	// Ending is why the bridge is ending it; nil if it is not.
	Ending *Ending `json:"ending,omitempty"`

	// Ended says that its end is stored; Unheard, that its executor has not reported it, and may yet.
	// GivenUp says that it was given back, to be done elsewhere: what its executor reports still counts,
	// but only success if it is Unheard, too.
	Ended   bool `json:"ended,omitempty"`
	Unheard bool `json:"unheard,omitempty"`
	GivenUp bool `json:"given_up,omitempty"`
}

// Ending is a decision to end a run.
type Ending struct {
	Status  job.Status `json:"status"`
	Message string     `json:"message"`
	At      time.Time  `json:"at"`
}

// Live reports whether a bridge must continue with the run.
func (r *Run) Live() bool { return !r.Ended && !r.GivenUp && r.Trigger != nil }

// How often a replica that lags behind is asked again, and after how long.
const (
	lagTries  = 20
	cellTries = 5 // while an executor waits for the answer to its callback
	lagRest   = 250 * time.Millisecond
)

// runKeys matches the keys of all runs of an instance, but for those that were given up.
func runKeys(f Fence) string { return "run." + f.Instance + ".*" }

func runKey(group, instance string, logID int64) string {
	return keyOf(group, "run."+instance+"."+strconv.FormatInt(logID%Cells, 10))
}

func givenUpKey(group, instance string, logID int64) string {
	return keyOf(group, "given-up."+instance+"."+strconv.FormatInt(logID, 10))
}

// PutRun stores a run, unless another bridge serves its instance: then the error is job.ErrConflict.
func (s *Store) PutRun(ctx context.Context, r *Run, f Fence) error {
	switch {
	case r.GivenUp: // others may have its cell, and what its executor reports still counts
		if _, err := s.putFenced(ctx, givenUpKey(f.Group, f.Instance, r.LogID), r, f); err != nil {
			return err
		}
		r = &Run{LogID: r.LogID, GivenUp: true}
	case r.Ended:
		r = &Run{LogID: r.LogID, Ended: true, Unheard: r.Unheard}
	}
	_, err := s.putFenced(ctx, runKey(f.Group, f.Instance, r.LogID), r, f)
	return err
}

func (s *Store) putFenced(ctx context.Context, key string, r *Run, f Fence) (uint64, error) {
	return s.put(ctx, key, r, keptFor, condition{int64(f.Revision), instanceKey(f.Group, f.Instance)}) //nolint:gosec // a sequence
}

// EndRun stores that a run has ended whose instance another bridge serves, or none. The error is
// job.ErrConflict if the run has changed since it was read at that revision.
func (s *Store) EndRun(ctx context.Context, group, instance string, r *Run, revision uint64) error {
	key := runKey(group, instance, r.LogID)
	if r.GivenUp {
		key = givenUpKey(group, instance, r.LogID)
	}
	_, err := s.put(ctx, key, &Run{LogID: r.LogID, Ended: true}, keptFor, condition{revision: int64(revision)}) //nolint:gosec // a sequence
	return err
}

// Run returns a run and its revision. The error is job.ErrNotFound if there is none, or if it has ended
// and another has its cell.
//
// Log ids of an instance rise. So a replica that has an earlier run in the cell may lag behind, and is
// asked again. One that has a later run there, or knows that this one was given up, knows all of it.
func (s *Store) Run(ctx context.Context, group, instance string, logID int64) (*Run, uint64, error) {
	for try := 1; ; try++ {
		r := &Run{}
		revision, err := s.now(ctx, runKey(group, instance, logID), r)
		switch {
		case err != nil && !errors.Is(err, job.ErrNotFound):
			return nil, 0, err
		case err == nil && r.LogID == logID && !r.GivenUp:
			return r, revision, nil
		case err == nil && r.LogID >= logID || try == cellTries:
			r = &Run{}
			revision, err = s.now(ctx, givenUpKey(group, instance, logID), r)
			return r, revision, err
		}
		if err := pause.For(ctx, lagRest); err != nil {
			return nil, 0, fmt.Errorf("%w: read run %d of %s.%s: %w", job.ErrUnavailable, logID, group, instance, err)
		}
	}
}

// Runs returns the live runs of an instance: all that were written before. The caller serves it, with a
// fence that lets nobody else write more.
//
// Any replica may answer. So Runs writes a mark first, and reads until the mark is there: a replica that
// has it has all that was written before.
func (s *Store) Runs(ctx context.Context, f Fence) ([]*Run, error) {
	mark, err := s.putFenced(ctx, keyOf(f.Group, "run."+f.Instance+".mark"), &Run{Ended: true}, f)
	if err != nil {
		return nil, err
	}
	live := map[string]*Run{}
	seen := uint64(0)
	for try := 0; seen < mark; try++ {
		if try > 0 {
			if err := pause.For(ctx, lagRest); err != nil || try == lagTries {
				return nil, errors.Join(fmt.Errorf("%w: read runs of %s.%s: a replica that lags behind has answered", job.ErrUnavailable, f.Group, f.Instance), err)
			}
		}
		err := s.scan(ctx, f.Group, runKeys(f), seen+1, func(e entry) {
			seen = max(seen, e.sequence)
			r := &Run{}
			if json.Unmarshal(e.value, r) == nil && r.Live() {
				live[e.key] = r
			} else {
				delete(live, e.key)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("read runs of %s.%s: %w", f.Group, f.Instance, err)
		}
	}
	all := make([]*Run, 0, len(live))
	for _, r := range live {
		all = append(all, r)
	}
	return all, nil
}
