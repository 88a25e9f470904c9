package ring

import "math"

const (
	tickMillis = 10

	nearBits  = 13
	nearCount = 1 << nearBits // ticks in a bucket, 81.92 s
	farBits   = 11
	farCount  = 1 << farBits // buckets in an epoch, 46.6 h

	epochBits = nearBits + farBits
	beyond    = nearCount + farCount // the last list
	listCount = beyond + 1
)

// tickOf returns the tick that instant ms is in. Instants before 1970 share the
// first tick.
func tickOf(ms int64) int64 { return max(ms, 0) / tickMillis }

// place returns the list that instant at belongs to, seen from the tick pos.
// Instants before pos belong to the list of pos itself.
func place(pos, at int64) int {
	tick := max(at/tickMillis, pos)
	// The highest bit in which the two differ tells how far apart they are.
	switch apart := tick ^ pos; {
	case apart < nearCount:
		return int(tick % nearCount)
	case apart < 1<<epochBits:
		return nearCount + int(tick>>nearBits%farCount)
	default:
		return beyond
	}
}

// begin returns the tick to which a position of pos moves in order to read list
// on the way to target. The list beyond is read when an epoch is entered, and
// then at once the target's own, so that a jump over many epochs reads it once;
// if there is none to enter, or no list (listCount), it begins at no tick.
func begin(pos, target int64, list int) int64 {
	switch {
	case list < nearCount:
		// What is armed before pos is in the list of pos, never in a lower one.
		return pos&^(nearCount-1) | int64(list)
	case list < beyond:
		return pos&^(1<<epochBits-1) | int64(list-nearCount)<<nearBits
	case list == beyond && target>>epochBits > pos>>epochBits:
		return target &^ (1<<epochBits - 1)
	default:
		return math.MaxInt64
	}
}
