package bustest

import (
	"sync/atomic"
	"testing"
	"time"
	_ "unsafe" // for go:linkname

	_ "github.com/nats-io/nats-server/v2/server/ats" // has the variables that are linked here
)

// The server has a clock of its own beside Go's, which tells how old messages are: a variable that
// a goroutine of package ats sets ten times a second. That goroutine begins with the first store. In
// a bubble it would keep the virtual clock from going on; outside of it, it tells the true time, by
// which all messages of a bubble are too old. So it never begins, and this file sets the variable.

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
