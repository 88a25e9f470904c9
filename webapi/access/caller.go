package access

import (
	"context"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// Caller is who makes a request, and from where. It is in the request's context.
type Caller struct {
	Who     *auth.Identity // nil when nobody is signed in
	From    auth.Client
	Request string // its id
	At      string // by which address it reached the server, such as https://carillon.example.org
	// Assistant is the name of the assistant that acts for them; empty: none.
	Assistant string
	Flow      string // the cookie of a sign-in at a provider; mostly empty
	Slot      Slot   // what a costly request holds; nil for any other
	// Wait takes a slot for a request that only waits, for the history or others. The error is
	// problem.ErrTooMany if its user has too many.
	Wait func(context.Context) (Slot, error)
}

// Slot is the place of a costly request among the few that are answered at once. It counts for
// its user until it is released. It belongs to one goroutine.
type Slot interface {
	// Rest gives way to other users' requests, while an answer is written to its client.
	Rest()
	// Resume waits until there is room again after Rest. The error is the cause of ctx.
	Resume(ctx context.Context) error
	Release()
}

// TakeSlot returns the slot of a costly request whose answer is written after its handler has
// returned. The caller must release it.
func TakeSlot(ctx context.Context) Slot {
	by := Of(ctx)
	if by.Slot == nil {
		panic("BUG: a request whose permit does not say that it is costly")
	}
	slot := by.Slot
	by.Slot = nil
	return slot
}

type callerKey struct{}

// With returns a context of a request that by makes.
func With(ctx context.Context, by *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, by)
}

// Unlimited returns a context of a caller who sees the jobs of every group, for what a handler reads to
// decide what the caller of the request may.
func Unlimited(ctx context.Context) context.Context {
	return With(ctx, &Caller{Who: &auth.Identity{Access: rights.List{{Role: rights.Viewer, Group: rights.Everywhere}}}})
}

// Of returns who makes the request that a context is of, which must have been said by With.
func Of(ctx context.Context) *Caller {
	by, ok := ctx.Value(callerKey{}).(*Caller)
	if !ok {
		panic("BUG: a request without its caller")
	}
	return by
}

// Who returns who makes the request; it is not nil behind a permit that asks for
// somebody.
func Who(ctx context.Context) *auth.Identity { return Of(ctx).Who }

// Author returns who a change is recorded to be by.
func Author(ctx context.Context) string { return Who(ctx).User }
