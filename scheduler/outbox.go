package scheduler

import "context"

// outbox does work of one kind for a shard that its lane must not wait for, such as deleting
// messages: one piece at a time. The lane's goroutine alone uses it.
type outbox[T any] struct {
	// work runs on a goroutine of its own. The lane calls done afterwards if it still has the shard;
	// nil: the shard's context has ended.
	work func(ctx context.Context, o *ownership, what T) (done func())
	busy bool // work is under way
}

// submit starts work. The outbox must not be busy.
func (b *outbox[T]) submit(o *ownership, what T) {
	b.busy = true
	o.background(func(ctx context.Context) {
		done := b.work(ctx, o, what)
		if done == nil {
			return
		}
		o.lane.post(ctx, func() {
			if b.busy = false; o.ready.Load() {
				done()
			}
		})
	})
}
