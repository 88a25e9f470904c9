package access

import (
	"context"

	"github.com/carillon-scheduler/carillon/auth"
)

// Caller is who makes a request, and from where. It is in the request's context.
type Caller struct {
	Who     *auth.Identity // nil when nobody is signed in
	From    auth.Client
	Request string // its id
	Flow    string // the cookie of a sign-in at a provider; mostly empty
}

type callerKey struct{}

// With returns a context of a request that by makes.
func With(ctx context.Context, by *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, by)
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
