package bustest

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// oneBubble keeps bubbles apart: nats.go recycles timers through a pool that the
// whole process shares, and a timer may not cross bubbles. The server's clock, too, is
// one for the whole process.
var oneBubble sync.Mutex

// longest is how long a bubble may last by its own clock. A test that waits in vain would go on for
// ever, as the server's tickers never rest, and take all memory.
var longest = 3 * 24 * time.Hour

// Run calls f in a bubble whose virtual clock reads start, which must not lie
// before the year 2000, when bubbles begin.
//
// If f and its cleanups are not done after three days of the virtual clock, Run ends the
// process with the stacks of all goroutines.
//
// Every goroutine that f starts must have returned when f's cleanups are done;
// Run fails the test otherwise. Tests that call Run may be parallel to each
// other, and then take turns, but not to tests that use NATS outside a bubble.
func Run(t *testing.T, start time.Time, f func(t *testing.T)) {
	t.Helper()
	oneBubble.Lock()
	defer oneBubble.Unlock()
	emptyPools()
	defer func() { // for tests that follow without a bubble
		emptyPools()
		serverTime.Store(time.Now().UnixNano())
	}()
	synctest.Test(t, func(t *testing.T) {
		// An empty bubble jumps decades for free. Sleep before the server
		// starts: its own tickers would make the same jump expensive.
		time.Sleep(time.Until(start))
		tickServerTime(t)
		limit := time.AfterFunc(longest, func() {
			debug.SetTraceback("all")
			panic(fmt.Sprintf("%s waits in vain: its bubble has lasted for %v", t.Name(), longest))
		})
		t.Cleanup(func() { limit.Stop() })
		f(t)
	})
}

// emptyPools makes timers stay on their side of a bubble's wall. The second
// collection empties what the first left in every sync.Pool.
func emptyPools() {
	runtime.GC()
	runtime.GC()
}
