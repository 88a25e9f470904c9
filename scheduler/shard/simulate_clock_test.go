package shard

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
