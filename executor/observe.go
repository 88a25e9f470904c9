package executor

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// Observer hears what an executor does, for metrics and traces: packages executor/metrics and
// executor/tracing have one each. Its methods are called by several goroutines at once, and
// must not block.
type Observer interface {
	// Begun hears that the handler of an attempt is about to be called. The handler gets the
	// context that it returns, or one made from it. ended is called once, when the attempt has
	// ended and before the end is reported; it may be nil.
	Begun(ctx context.Context, r *Run) (_ context.Context, ended func(End))
	// Slots hears how many runs there are, and how many there may be at once.
	Slots(inUse, total int)
	// Counted adds n to a count.
	Counted(what Count, n int)
}

// NewObserver returns the observer of one executor.
type NewObserver func(About) (Observer, error)

// About says which executor is observed.
type About struct {
	Group, Instance string
}

// End says how an attempt ended.
type End struct {
	Status  job.Status // "" if it was given back to its group, to be done by another instance
	Final   bool       // no attempt may follow, whatever the job's rule says
	Message string     // at most as long as the run's, without secrets

	// RetryAfter is how long after this end another attempt is due, by the handler's [RetryAfter].
	// 0 leaves that to the job's rule.
	RetryAfter time.Duration

	// When the trigger was committed by its scheduler, when it came here, when the handler was
	// called (zero if it was not), and when the attempt ended.
	Committed, Delivered, Started, Ended time.Time
}

// Count is something that executors count.
type Count int

const (
	// CountHandedOver counts triggers handed to a server: delivered before, or not to be done here.
	CountHandedOver Count = iota
	// CountGivenBack counts triggers given back to the group, because the executor stops or nobody could take them.
	CountGivenBack
	// CountAbandoned counts handlers that ignored their cancelled context and were left behind.
	CountAbandoned
	// CountRejected counts messages that were no triggers of the group.
	CountRejected
	// CountRefused counts messages of the executor that servers refused, as far as they told it: at
	// most one each second.
	CountRefused
	// CountEventRetries counts finished events that had to be published again.
	CountEventRetries
	// CountLogLinesDropped counts log lines given up because the log stream did not take them.
	CountLogLinesDropped
)

type traceParentKey struct{}

// WithTraceParent returns a context for [Observer.Begun] to return. [Run.TraceParent] is the
// given W3C trace context then.
func WithTraceParent(ctx context.Context, parent string) context.Context {
	return context.WithValue(ctx, traceParentKey{}, parent)
}

// TraceParent returns the W3C trace context of the attempt, for what it calls; "" when
// nobody traces. Handlers in Go have it in their context.
func (r *Run) TraceParent() string { return r.traceParent }

// observe calls [Observer.Begun] of all observers, and returns the handler's context.
func (e *Executor) observe(ctx context.Context, r *Run) context.Context {
	if len(e.observers) == 0 {
		return ctx
	}
	for _, o := range e.observers {
		next, ended := o.Begun(ctx, r)
		if ctx = next; ended != nil {
			r.observed = append(r.observed, ended)
		}
	}
	r.traceParent, _ = ctx.Value(traceParentKey{}).(string)
	return ctx
}

// observeEnd calls what they returned, once the attempt has ended.
func (r *Run) observeEnd(o outcome, at time.Time) {
	for _, ended := range r.observed {
		ended(r.endAt(o, at))
	}
	r.observed = nil // they hear of one end
}

func (r *Run) endAt(o outcome, at time.Time) End {
	return End{
		Status: o.status, Final: o.final, Message: o.message, RetryAfter: o.after,
		Committed: r.trigger.CommittedAt, Delivered: r.came, Started: r.startedAt, Ended: at,
	}
}

// observers are those of one executor.
type observers []Observer

func (all observers) count(what Count, n int) {
	for _, o := range all {
		o.Counted(what, n)
	}
}

func (all observers) countSlots(inUse, total int) {
	for _, o := range all {
		o.Slots(inUse, total)
	}
}
