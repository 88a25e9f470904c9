package access

import (
	"context"
	"reflect"

	"github.com/carillon-scheduler/carillon/auth"
)

// Lasting is the caller of a request that goes on for long: its session or token may end
// meanwhile, and its rights may change. It belongs to one goroutine.
type Lasting struct {
	users   *auth.Directory
	who     *auth.Identity
	changed <-chan struct{}
	err     error // why the caller is nobody any more
}

// NewLasting returns the caller of the request that ctx is of.
func NewLasting(ctx context.Context, users *auth.Directory) *Lasting {
	l := &Lasting{users: users, who: Who(ctx)}
	l.refresh(ctx)
	return l
}

// Changed returns a channel that is closed when the caller may have other rights than Now
// returned last.
func (l *Lasting) Changed() <-chan struct{} { return l.changed }

// Now returns who the caller is by now. It costs next to nothing while nothing changes, so
// ask it before anything is sent. The error is auth.ErrUnauthenticated once the session or
// token has ended, or job.ErrUnavailable.
func (l *Lasting) Now(ctx context.Context) (*auth.Identity, error) {
	select {
	case <-l.changed:
		l.refresh(ctx)
	default:
	}
	return l.who, l.err
}

// Check is Now, for what ends by the clock: a session, a token, a provider's word.
func (l *Lasting) Check(ctx context.Context) (*auth.Identity, error) {
	l.refresh(ctx)
	return l.who, l.err
}

// Same reports whether the caller has the very rights that the request began with.
func (l *Lasting) Same(ctx context.Context, began *auth.Identity) bool {
	now, err := l.Check(ctx)
	return err == nil && reflect.DeepEqual(now.Access, began.Access)
}

// refresh reads what the caller may. It asks for the channel first, so that no change is
// missed.
func (l *Lasting) refresh(ctx context.Context) {
	l.changed = l.users.Changed()
	now, err := l.users.Refresh(ctx, l.who)
	if l.err = err; err == nil {
		l.who = now
	}
}
