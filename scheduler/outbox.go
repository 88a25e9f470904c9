package scheduler

import "context"

// outbox does work of one kind for a shard that its lane must not wait for, such as deleting
// messages: one piece at a time. The lane's goroutine alone uses it.
type outbox[T any] struct {
	// work runs on a goroutine of its own. The lane calls done afterwards if it still has the shard;
	// nil: the shard's context has ended.
	work func(o *ownership, ctx context.Context, what T) (done func(*laneShard))
	busy bool // work is under way
}

// submit starts work. The outbox must not be busy.
func (b *outbox[T]) submit(sh *laneShard, what T) {
	b.busy = true
	o := sh.ownership
	sh.background(func(ctx context.Context) {
		if done := b.work(o, ctx, what); done != nil {
			o.post(ctx, func(sh *laneShard) {
				b.busy = false
				done(sh)
			})
		}
	})
}
