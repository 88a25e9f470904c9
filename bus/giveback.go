package bus

import (
	"fmt"
	"time"
)

// Bounds of the time after which a trigger comes again that was given back.
const (
	giveBackMin = time.Second
	giveBackMax = 15 * time.Second
)

// GiveBackAfter returns after how long a trigger is to come again that has been delivered
// so often: later each time, so that what nobody can do does not go round and round.
func GiveBackAfter(delivery int) time.Duration {
	return min(giveBackMin<<min(max(delivery-1, 0), 8), giveBackMax)
}

// NakAfter is the answer to a trigger that gives it back, to be delivered again after some
// time: a plain -NAK would have it delivered at once, whatever its consumer says.
func NakAfter(d time.Duration) string { return fmt.Sprintf(`-NAK {"delay": %d}`, d.Nanoseconds()) }
