package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// Detached returns an executor without a connection, for tests of handlers: see package
// executortest. It takes registrations and can [Executor.Rehearse]; Run returns an error.
func Detached(cfg Config) (*Executor, error) {
	e, err := configure(cfg)
	if err != nil {
		return nil, fmt.Errorf("configure executor: %w", err)
	}
	return e, nil
}

// Rehearsed is what a run did that was rehearsed.
type Rehearsed struct {
	End
	Result   json.RawMessage // nil: none
	ExitCode *int
	Lines    []bus.LogLine // in their order
	Progress []Progress    // all, also those that follow one another too fast to be published
	Started  []Started     // the runs that the handler wanted to start, in its order
}

// Progress is what a handler has said with [Run.Progress].
type Progress struct {
	Percent float64
	Text    string
}

// rehearsal collects what a run says that has no bus to say it to.
type rehearsal struct {
	mu      sync.Mutex
	all     []Progress
	started []Started
}

func (r *rehearsal) progress(p *progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, Progress{Percent: p.percent, Text: p.text})
}

// start records a run that is wanted. It returns the id of one that there is not.
func (r *rehearsal) start(s Started) job.RunID {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = append(r.started, s)
	return job.NewRunID(time.Now())
}

// Rehearse does the run of a trigger as the executor would, in this goroutine: with its
// middleware, its timeout, its secrets masked and its panic caught. Nothing is published. It must
// be [Detached], and does one run at a time. secrets has the values by the variables that the
// task asks for; a script's source is in the trigger. The error says that a registration was
// wrong; a run that fails is no error.
func (e *Executor) Rehearse(ctx context.Context, t *bus.Trigger, secrets map[string]string) (Rehearsed, error) {
	if e.conn != nil {
		return Rehearsed{}, errors.New("rehearse: the executor has a connection; make one with Detached")
	}
	if err := errors.Join(e.registry.invalid...); err != nil {
		return Rehearsed{}, fmt.Errorf("rehearse: %w", err)
	}
	e.out.lines = nil
	r := &Run{delivery: delivery{trigger: t, instance: e.cfg.Instance, delivered: 1, fence: 1, came: time.Now()}, secrets: secrets, rehearsal: &rehearsal{}}
	r.log.init(context.WithoutCancel(ctx), e, r)
	r.log.mask(newMasker(secrets))
	r.startedAt = r.came
	if limit, cause := r.limit(r.came); cause != nil {
		var release context.CancelFunc
		ctx, release = context.WithTimeoutCause(ctx, limit, cause)
		defer release()
	}
	ctx = e.observe(ctx, r)
	h, err := e.registry.handlerFor(&t.Task)
	var result any
	if err == nil {
		result, err = call(ctx, h, r)
	}
	o := r.masked(e.safeOutcomeOf(r, context.Cause(ctx), result, err)).kept()
	at := time.Now()
	r.observeEnd(o, at)
	r.log.endLines()
	r.log.close()
	r.log.settle()
	return Rehearsed{End: r.endAt(o, at), Result: o.result, ExitCode: r.exit(), Lines: e.out.lines, Progress: r.rehearsal.all, Started: r.rehearsal.started}, nil
}
