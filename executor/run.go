package executor

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Run is one attempt of a run, as its handler sees it. Its methods may be called
// concurrently. After the handler has returned they have no effect.
type Run struct {
	delivery

	log runLog

	// ending is won by who may say how the attempt ended.
	ending ending
	// called is whether the handler has been.
	called atomic.Bool
	// held is the claim on an at_most_once attempt. It may come while the loop abandons the attempt.
	held atomic.Pointer[bus.Claim]

	mu       sync.Mutex
	exitCode *int
	progress *progress      // not yet published
	over     bool           // the finished event is on its way
	starts   map[string]int // how many equal starts of other runs there were

	// startedAt is zero while the attempt has not been begun. The loop writes it before the attempt's
	// goroutine begins.
	startedAt time.Time

	observed    []func(End) // what observers wait for
	traceParent string      // as one of them says

	secrets map[string]string // by variable; written before the handler begins

	rehearsal *rehearsal // nil in a real run
}

// delivery is how an attempt came to this instance. It does not change.
type delivery struct {
	trigger   *bus.Trigger
	instance  string
	delivered int                     // how often the trigger has been delivered, this time included
	token     string                  // of the trigger; it goes back with all that is said of the attempt
	ack       *atomic.Pointer[string] // on which the trigger is acknowledged
	fence     uint64
	came      time.Time

	// routeReason is why a run that was routed is here, if this was not its route's first choice.
	routeReason string
	// aloneFor is for how long the instance takes no other run beside it: an executor died that had it.
	aloneFor time.Duration
}

// progress is what the handler last said about how far it is.
type progress struct {
	percent float64
	text    string
}

// Trigger returns all that the executor was told. It must not be changed.
func (r *Run) Trigger() *bus.Trigger { return r.trigger }

// ID returns the run's id, the same for all its attempts.
func (r *Run) ID() job.RunID { return r.trigger.RunID }

// Job returns the name of the job.
func (r *Run) Job() job.Name { return r.trigger.Job }

// Attempt counts the tries of the run, from 1.
func (r *Run) Attempt() int { return r.trigger.Attempt }

// Delivered counts how often this attempt has reached an executor, from 1. More
// means that an earlier one went silent, or gave it back, and may have done a part.
func (r *Run) Delivered() int { return r.delivered }

// Fence returns a number that is greater than that of every earlier attempt of a run of the
// job, and of every earlier delivery of this one. With one partition, this holds for all jobs of
// the cluster; numbers of jobs in different partitions do not compare. What the handler writes
// can be protected by it from an instance that was frozen or cut off and goes on after another
// has taken over: store it with the data, and refuse a write with a lower one. It does not
// show who began first, and starts again when the stream of triggers is created again.
func (r *Run) Fence() uint64 { return r.fence }

// fenceOf returns the number of a delivery of the trigger at a sequence of its stream.
func fenceOf(meta *nats.MsgMetadata) uint64 {
	return meta.Sequence.Stream<<16 | min(meta.NumDelivered, 1<<16-1)
}

// Cause returns why the run exists.
func (r *Run) Cause() job.Cause { return r.trigger.Cause }

// Step returns the name of the workflow's step that this run does; "" if it does none.
func (r *Run) Step() string { return r.trigger.Step }

// FireTime returns the instant that the schedule named, in UTC. It is not moved by
// lateness, retries or queues: what a nightly report calls "today" follows from it.
func (r *Run) FireTime() time.Time { return r.trigger.FireTime }

// Params returns the run's parameters as JSON, nil if it has none. See [Register] for
// decoded ones.
func (r *Run) Params() json.RawMessage { return r.trigger.Params }

// Broadcast returns which piece of its run this is, from 0 to total-1. A run that is not
// done in pieces is piece 0 of 1.
func (r *Run) Broadcast() (index, total int) { return r.trigger.Index, max(r.trigger.Total, 1) }

// Item returns what this piece is about: the element, as JSON, of the list that the
// run's splitting attempt returned. Nil in other runs.
func (r *Run) Item() json.RawMessage { return r.trigger.Item }

// Split reports whether this attempt must list the run's pieces instead of doing its
// work: its result is a JSON list, each element of which becomes the [Run.Item] of one
// piece. It is only asked of jobs with `map: {split: true}`.
func (r *Run) Split() bool { return r.trigger.Split }

// Script returns the text of a script task, fetched from the bus by its digest. It waits a minute
// if NATS is away. The error is [job.ErrNotFound] when the group has no such script.
func (r *Run) Script(ctx context.Context) (string, error) {
	if r.rehearsal != nil {
		return r.trigger.Task.Script.Source, nil
	}
	return fetch(ctx, func() (string, error) {
		return r.log.e.conn.Script(ctx, r.trigger.Job.Group(), r.trigger.Task.Script.Digest)
	})
}

// Log returns a logger whose records become lines of the run's log.
func (r *Run) Log() *slog.Logger { return slog.New(newLogHandler(&r.log)) }

// Stdout returns a writer whose lines become lines of the run's log, of level info.
// Writing never fails. It waits while the log stream takes lines more slowly than
// they come, and drops the oldest while it takes none. Each call returns a writer
// with an unfinished line of its own, for one goroutine; that line is logged when
// the run ends.
func (r *Run) Stdout() io.Writer { return r.log.writer(bus.OutputStdout, bus.LevelInfo) }

// Stderr is like Stdout, for lines of level warn.
func (r *Run) Stderr() io.Writer { return r.log.writer(bus.OutputStderr, bus.LevelWarn) }

// Mask returns text without the run's secrets, as its log has it. What is logged and what the
// handler returns is masked in any case: this is for what a handler says elsewhere.
func (r *Run) Mask(text string) string {
	if m := r.log.masker(); m != nil {
		return m.Replace(text)
	}
	return text
}

// Progress says how far the run is, in percent from 0 to 100, and what it is at. The
// latest is published, at most once a second.
func (r *Run) Progress(percent float64, text string) {
	if math.IsNaN(percent) {
		percent = 0
	}
	p := &progress{percent: min(max(percent, 0), 100), text: cut(r.Mask(text))}
	if r.rehearsal != nil {
		r.rehearsal.progress(p)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress = p
}

// hush lets no more started and progress events out.
func (r *Run) hush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}

// SetExitCode records the exit code of the program that did the run. It is for
// runners; the code alone does not make a run failed.
func (r *Run) SetExitCode(code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exitCode = &code
}

func (r *Run) exit() *int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.exitCode
}

// event returns an event about the run.
func (r *Run) event(kind bus.EventKind, at time.Time) *bus.Event {
	ev := bus.EventOf(r.trigger, kind, r.onNATS(at))
	ev.Instance, ev.Delivery = r.instance, r.delivered
	if !r.startedAt.IsZero() {
		ev.DeliveredAt, ev.StartedAt = instant(r.onNATS(r.came)), instant(r.onNATS(r.startedAt))
	}
	if kind == bus.EventStarted {
		ev.RouteReason = r.routeReason
	}
	return ev
}

// onNATS returns the time by NATS' clock at an instant of the machine's clock.
func (r *Run) onNATS(at time.Time) time.Time {
	if r.log.e == nil {
		return at
	}
	return r.log.e.clock.at(at)
}

// instant returns t as messages have it. Without that, t can tell how long something took, though the
// machine's clock is set meanwhile.
func instant(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Millisecond)
}

// tooLate says why an attempt is missed that may not begin any more.
func (d *delivery) tooLate() string {
	by := d.trigger.StartBy
	if d.delivered > 1 {
		return reason.GivenBackTooLate.With(by)
	}
	return reason.NobodyFreeBy.With(by)
}

// atMostOnce reports whether the attempt must never be done twice.
func (d *delivery) atMostOnce() bool { return d.trigger.Delivery == job.AtMostOnce }
