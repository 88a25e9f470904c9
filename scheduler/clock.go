package scheduler

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

const (
	// maxOffset is by how much a node's clock may differ from the others'.
	maxOffset = 2 * time.Second
	// maxAsking is how long the question for the time may take to say anything.
	maxAsking = time.Second
	// strikes is how many measurements in a row must find a clock wrong until the node gives
	// up its shards: when the leader of TRIG changes, all nodes see another clock, but not at
	// the same moment.
	strikes = 3
)

// clock judges the node's wall clock: by that of NATS, by those of the other nodes, and by the
// monotonic clock, which never steps. Nothing is decided by a clock that is not trusted.
type clock struct {
	node string               // whose clock it is
	skew func() time.Duration // by how much the wall clock is wrong; tests set it

	mu      sync.Mutex
	offset  time.Duration // the node's clock minus that of NATS, as last measured
	known   bool          // it has been measured
	trusted bool
	wrong   int                // measurements in a row that found it out of line
	nats    bool               // most nodes agree, and NATS does not
	mono    time.Time          // a monotonic reading of when the clock was in line
	wall    time.Time          // the wall clock at that moment
	began   time.Time          // a monotonic reading of when it was first measured
	worst   time.Duration      // of the offsets since it was in line, the greatest
	stood   []shard.Standstill // when it was out of line, the latest last
}

// now returns the wall clock's time, and whether it is to be trusted. A step of the wall clock
// is noticed at once, since the monotonic clock does not make it.
func (c *clock) now() (time.Time, bool) {
	now := time.Now()
	wall := c.wallOf(now)
	c.mu.Lock()
	defer c.mu.Unlock()
	return wall, c.trusted && c.steadyLocked(now, wall)
}

// wallOf returns the wall clock's time at a moment, without a monotonic reading.
func (c *clock) wallOf(now time.Time) time.Time {
	if c.skew != nil {
		return now.Round(0).Add(c.skew())
	}
	return now.Round(0)
}

// steadyLocked reports whether the wall clock has not stepped since it was in line.
func (c *clock) steadyLocked(now, wall time.Time) bool {
	return !c.mono.IsZero() && (wall.Sub(c.wall)-now.Sub(c.mono)).Abs() <= maxOffset
}

// measure compares the clock with that of NATS. others are the offsets of the other nodes.
// It returns false when NATS did not answer in time to say anything.
func (c *clock) measure(ctx context.Context, ask func(context.Context) (time.Time, error), others []time.Duration) bool {
	asked := time.Now()
	theirs, err := ask(ctx)
	now := time.Now()
	took := now.Sub(asked)
	if err != nil || took > maxAsking {
		return false
	}
	c.apply(now, c.wallOf(now).Sub(theirs)-took/2, others)
	return true
}

// apply applies a measured offset.
func (c *clock) apply(now time.Time, offset time.Duration, others []time.Duration) {
	reference, most := consensus(append(slices.Clone(others), offset))
	wall := c.wallOf(now)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset, c.known = offset, true
	c.nats = most && reference.Abs() > maxOffset
	steady := c.steadyLocked(now, wall)
	if c.began.IsZero() {
		c.began = now
	}
	if offset.Abs() > c.worst.Abs() {
		c.worst = offset
	}
	switch {
	case (offset - reference).Abs() <= maxOffset:
		c.noteLocked(now, wall, steady)
		c.trusted, c.wrong, c.worst = true, 0, offset
		c.mono, c.wall = now, wall
	case steady && !most:
		c.nats = true // one node against NATS, and it is not the node's clock that has moved
	default:
		c.wrong++
		c.trusted = c.trusted && steady && c.wrong < strikes
	}
}

// maxStood is how many stretches of time out of line are remembered.
const maxStood = 4

// noteLocked notes that nothing was decided by the clock until now, if it was out of line. It
// was in line when it read c.wall, which a step may have moved away from what is right.
func (c *clock) noteLocked(now, wall time.Time, steady bool) {
	from, step := c.wall, wall.Sub(c.wall)-now.Sub(c.mono)
	if c.mono.IsZero() {
		from, step = wall.Add(-now.Sub(c.began)), 0
	}
	if c.wrong == 0 && (steady || c.mono.IsZero()) {
		return
	}
	why := outOfLine(c.node, c.worst)
	switch {
	case c.worst.Abs() > maxOffset:
	case step > maxOffset:
		why = reason.ClockAhead.With(c.node, roughly(step))
	case -step > maxOffset:
		why = reason.ClockBack.With(c.node, roughly(step))
	}
	// The node may have to take its shards again.
	s := shard.Standstill{From: from.UnixMilli(), To: wall.Add(2 * jet.LeaseRenew).UnixMilli(), Reason: why}
	c.stood = append(slices.Clone(c.stood[max(len(c.stood)-maxStood+1, 0):]), s) // others may read what was there
}

// standstills returns when nothing was decided by the clock. It is not to be changed.
func (c *clock) standstills() []shard.Standstill {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stood
}

// consensus returns the offset from NATS' clock that is right, and whether that is said by most
// nodes, two at least. Else NATS is right, whose clock is that of one server.
func consensus(offsets []time.Duration) (reference time.Duration, most bool) {
	slices.Sort(offsets)
	median := offsets[(len(offsets)-1)/2]
	agree := 0
	for _, o := range offsets {
		if (o - median).Abs() <= maxOffset {
			agree++
		}
	}
	if agree >= 2 && 2*agree > len(offsets) {
		return median, true
	}
	return 0, false
}

// usable reports whether the node may own shards: its clock has been in line with the others,
// and has not been out of line for longer than a moment.
func (c *clock) usable() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.mono.IsZero() && c.wrong < strikes
}

// state returns what there is to be shown of the clock.
func (c *clock) state() (offset time.Duration, wrong, nats bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offset, c.known && !c.trusted, c.nats
}

// outOfLine says what was wrong with the clock of a node that differed from NATS' by offset.
func outOfLine(node string, offset time.Duration) string {
	switch {
	case offset > maxOffset:
		return reason.ClockAheadOfNATS.With(node, roughly(offset))
	case offset < -maxOffset:
		return reason.ClockBehindNATS.With(node, roughly(offset))
	}
	return reason.ClockOutOfLine.With(node)
}

// apart says in words how far a clock is from another.
func apart(offset time.Duration) string {
	if offset < 0 {
		return roughly(offset) + " behind"
	}
	return roughly(offset) + " ahead of"
}

func roughly(d time.Duration) string { return job.Duration(d.Abs().Round(time.Millisecond)).String() }
