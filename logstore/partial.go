package logstore

import (
	"context"
	"sync/atomic"

	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Witness hears that an answer is partial. It is safe for concurrent use.
type Witness struct {
	said atomic.Pointer[runlog.Partial]
}

// Partial returns what was said last of the answers to the calls with the witness's
// context, or nil if all of them are whole.
func (w *Witness) Partial() *runlog.Partial { return w.said.Load() }

// Say is for stores.
func (w *Witness) Say(p runlog.Partial) { w.said.Store(&p) }

type witnessKey struct{}

// AcceptPartial returns a context for calls whose answers may be partial, which the
// witness then hears. With any other context a store answers from the whole history, or
// not at all: who decides something by it must not take what is missing for what never was.
func AcceptPartial(ctx context.Context) (context.Context, *Witness) {
	w := &Witness{}
	return context.WithValue(ctx, witnessKey{}, w), w
}

// WantWhole returns a context that takes back what AcceptPartial said, for an answer that
// others are given too.
func WantWhole(ctx context.Context) context.Context {
	return context.WithValue(ctx, witnessKey{}, (*Witness)(nil))
}

// WitnessOf returns the witness of a context, or nil if it has none.
func WitnessOf(ctx context.Context) *Witness {
	w, _ := ctx.Value(witnessKey{}).(*Witness)
	return w
}
