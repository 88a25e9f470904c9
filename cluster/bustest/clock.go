package bustest

import (
	"sync/atomic"
	"testing"
	"time"
	_ "unsafe" // for go:linkname

	_ "github.com/nats-io/nats-server/v2/server/ats" // has the variables that are linked here
)

// The NATS server compares the age of messages with a variable of package ats, not with time.Now. A
// goroutine of ats sets it, and starts when the first store opens. Inside a bubble, this goroutine
// would stop the virtual clock. Outside, it sets the true time, and every message of a bubble is too
// old. So this file keeps the goroutine from starting, and sets the variable itself.

//go:linkname serverTime github.com/nats-io/nats-server/v2/server/ats.utime
var serverTime atomic.Int64 // Unix time in nanoseconds

//go:linkname serverTimeUsers github.com/nats-io/nats-server/v2/server/ats.refs
var serverTimeUsers atomic.Int64 // the goroutine begins when it turns 1

func init() {
	serverTimeUsers.Store(1)
	serverTime.Store(time.Now().UnixNano())
	go func() {
		for range time.Tick(serverTick) {
			oneBubble.Lock() // a bubble sets its own
			serverTime.Store(time.Now().UnixNano())
			oneBubble.Unlock()
		}
	}()
}

const serverTick = time.Second // package ats ticks ten times as often, which makes long bubbles slow

// tickServerTime has the server's clock follow the bubble's until the test ends.
func tickServerTime(t *testing.T) {
	t.Helper()
	serverTime.Store(time.Now().UnixNano())
	tick := time.NewTicker(serverTick)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case now := <-tick.C:
				serverTime.Store(now.UnixNano())
			case <-end:
				return
			}
		}
	}()
	t.Cleanup(func() {
		tick.Stop()
		close(end)
		<-ended
	})
}
