package shard

import (
	"slices"

	"github.com/carillon-scheduler/carillon/job"
)

// skew returns by how much an owner's clock is wrong: hours, where jobs fire by the minute.
func (w *world) skew() int64 {
	switch {
	case w.punctual:
		return 0
	case w.hours && w.chance(20):
		return (w.rng.Int64N(400) - 200) * w.scale.unit.Milliseconds()
	default:
		return w.rng.Int64N(4000) - 2000
	}
}

// latest returns an instant that no part of the position is after.
func (w *world) latest() int64 {
	c := w.trig.cursor
	at := c.Done.UnixMilli()
	if c.Sweep != nil {
		at = max(at, c.Sweep.To.UnixMilli())
	}
	return at
}

// progress returns the instants between which a batch has decided the fires of a version that
// its owner heard of late. The position of the job was at after before the batch.
func progress(b *stored, name job.Name, v heardVersion, after int64) (from, upto int64) {
	from, upto = -1<<60, -1<<60
	for _, l := range b.before.Late {
		if l.Job == name && l.Version == v.Version.Version {
			from, upto = l.Done.UnixMilli(), l.Done.UnixMilli()
		}
	}
	if v.rev <= b.cursor.JobsSeq && !slices.Contains(b.cursor.Unread, v.rev) {
		return from, after
	}
	for _, l := range b.cursor.Late {
		if l.Job == name && l.Version == v.Version.Version {
			upto = l.Done.UnixMilli()
		}
	}
	return from, upto
}
