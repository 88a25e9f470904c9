package shard

import "math"

// readAll asks a machine for all that its owner reads of it now and then, which may be in any state.
func readAll(m *Machine, now int64) {
	m.Waiting(map[string]int64{})
	m.NextAt(now)
	if m.cursor.flight == nil {
		m.StillOut(m.Out(math.MaxInt64))
	}
}
