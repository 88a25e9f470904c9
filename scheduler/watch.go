package scheduler

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/internal/pause"
)

// How long to wait before a thing is tried again that NATS has not done, at first and at most.
const (
	tryAgain     = 100 * time.Millisecond
	longestPause = 2 * time.Second
)

// watch begins a watch, and tries for as long as it takes: JetStream may be away when
// a node starts. It returns nil when ctx is done.
func (n *node) watch(ctx context.Context, begin func(context.Context) (jetstream.KeyWatcher, error)) jetstream.KeyWatcher {
	wait := pause.Backoff{Least: tryAgain, Most: longestPause, Jitter: true}
	for attempt := 1; ; attempt++ {
		w, err := begin(ctx)
		if err == nil {
			return w
		}
		if ctx.Err() == nil && attempt&(attempt-1) == 0 {
			n.log.WarnContext(ctx, "watch not begun yet", "attempt", attempt, "error", err)
		}
		if wait.Wait(ctx) != nil {
			return nil
		}
	}
}
