package backfill

import (
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// Begin sets parts to work that wait, in order, as far as AtOnce allows, and reports whether there were any. Few parts
// share AtOnce; of many, as many work as there may be runs.
func (b *Bulk) Begin(now time.Time) bool {
	if b.Paused || b.Cancelled {
		return false
	}
	free, waiting := b.AtOnce, 0
	for i := range b.Jobs {
		switch p := &b.Jobs[i]; {
		case p.AtWork():
			free -= p.AtOnce
		case p.State == Waiting:
			waiting++
		}
	}
	begun := false
	for i := range b.Jobs {
		p := &b.Jobs[i]
		if p.State != Waiting || free < 1 {
			continue
		}
		p.State, p.AtOnce, p.AskedAt = Working, max(1, free/waiting), now
		free, waiting, begun = free-p.AtOnce, waiting-1, true
	}
	return begun
}

// Made is what the rounds of a part have made so far.
type Made struct{ Begun, Succeeded, Failed int }

// Settle takes in what a part at work has made, when its round is over: stopped early, for a reason, or with all its
// fires. It ends the backfill with its last part.
func (b *Bulk) Settle(i int, m Made, stopped reason.Text, now time.Time) {
	p := &b.Jobs[i]
	p.Begun, p.Succeeded, p.Failed = m.Begun, m.Succeeded, m.Failed
	switch {
	case stopped == "":
		p.State, p.Fires = Done, m.Begun
	case p.State == Stopping && !b.Cancelled:
		p.State, p.Round, p.Why = Waiting, p.Round+1, ""
	default:
		p.State, p.Why = Cancelled, stopped
	}
	p.AtOnce, p.AskedAt = 0, time.Time{}
	b.end(now)
}

// Refuse ends a part at work of which no fire can be run.
func (b *Bulk) Refuse(i int, why reason.Text, now time.Time) {
	p := &b.Jobs[i]
	p.State, p.Why, p.AtOnce, p.AskedAt = Refused, why, 0, time.Time{}
	b.end(now)
}

// end ends the backfill if nothing is left to do.
func (b *Bulk) end(now time.Time) {
	for i := range b.Jobs {
		if !b.Jobs[i].Over() {
			return
		}
	}
	b.EndedAt, b.Paused = now, false
	b.Events = append(b.Events, Event{At: now, Act: Ended})
}

// Pause lets no further fire begin until [Bulk.Resume]. It reports whether that is new. The error is job.ErrConflict
// when the backfill has ended.
func (b *Bulk) Pause(e Event) (bool, error) {
	if err := b.open(); err != nil || b.Paused {
		return false, err
	}
	if err := b.add(e, Paused); err != nil {
		return false, err
	}
	b.Paused = true
	b.stop()
	return true, nil
}

// Resume ends a pause, and reports whether there was one. The error is job.ErrConflict when the backfill has ended.
func (b *Bulk) Resume(e Event) (bool, error) {
	if err := b.open(); err != nil || !b.Paused {
		return false, err
	}
	if err := b.add(e, Resumed); err != nil {
		return false, err
	}
	b.Paused = false
	return true, nil
}

// Cancel lets no further fire begin, for good. The error is job.ErrConflict when the backfill has ended.
func (b *Bulk) Cancel(e Event) (bool, error) {
	if err := b.open(); err != nil || b.Cancelled {
		return false, err
	}
	b.Cancelled, b.Paused = true, false
	b.Events = append(b.Events, event(e, Stopped)) // there is always room for the last act
	b.stop()
	for i := range b.Jobs {
		if p := &b.Jobs[i]; p.State == Waiting {
			p.State = Cancelled
		}
	}
	b.end(e.At)
	return true, nil
}

// Retry has runs that failed run again, and parts that were refused. The error is job.ErrConflict when there are none,
// or the backfill was cancelled.
func (b *Bulk) Retry(e Event) (bool, error) {
	if b.Cancelled {
		return false, fmt.Errorf("%w: %s", job.ErrConflict, refusal.BulkBackfillOver.With(b.ID))
	}
	var failed []*Part
	for i := range b.Jobs {
		if p := &b.Jobs[i]; p.State == Done && p.Failed > 0 || p.State == Refused {
			failed = append(failed, p)
		}
	}
	if len(failed) == 0 {
		return false, fmt.Errorf("%w: %s", job.ErrConflict, refusal.BulkNoneFailed.With(b.ID))
	}
	if err := b.add(e, Retried); err != nil {
		return false, err
	}
	for _, p := range failed {
		p.Retry = p.State == Done
		p.State, p.Round, p.Why = Waiting, p.Round+1, ""
	}
	b.EndedAt = time.Time{}
	return true, nil
}

func (b *Bulk) stop() {
	for i := range b.Jobs {
		if p := &b.Jobs[i]; p.State == Working {
			p.State = Stopping
		}
	}
}

// open returns job.ErrConflict when nothing more happens by itself.
func (b *Bulk) open() error {
	if b.EndedAt.IsZero() {
		return nil
	}
	return fmt.Errorf("%w: %s", job.ErrConflict, refusal.BulkBackfillOver.With(b.ID))
}

// add notes an act, if there is room: the last is for one that cancels.
func (b *Bulk) add(e Event, act Act) error {
	if len(b.Events) >= MaxEvents-1 {
		return fmt.Errorf("%w: %s", job.ErrConflict, refusal.BulkBackfillChanges.With(b.ID, len(b.Events)))
	}
	b.Events = append(b.Events, event(e, act))
	return nil
}

func event(e Event, act Act) Event {
	e.Act = act
	return e
}
