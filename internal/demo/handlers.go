package demo

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

// Handlers do the runs of the jobs, and count what they were asked to do. They are safe for concurrent use.
type Handlers struct {
	mu      sync.Mutex
	counted Counted
	tries   map[try]int
}

// Counted is what handlers have been asked to do.
type Counted struct {
	Attempts int       // different ones
	Repeats  int       // of attempts that had begun before
	Retries  int       // attempts after the first of a run
	Steps    int       // attempts of steps of the workflow
	Late     int       // runs that began more than [late] after their fire time
	Last     time.Time // when an attempt last began
}

// late is when a run counts as late.
const late = time.Second

// try is an attempt of a run.
type try struct {
	run    job.RunID
	number int
}

// Register registers the handlers with an executor.
func (h *Handlers) Register(e *executor.Executor) {
	h.tries = map[try]int{}
	executor.Register(e, "tick", h.tick)
	executor.Register(e, "flaky", h.flaky)
	executor.Register(e, "rows", h.rows)
}

// Counted returns what has been counted until now.
func (h *Handlers) Counted() Counted {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.counted
}

// count counts an attempt.
func (h *Handlers) count(run *executor.Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := try{run.ID(), run.Attempt()}
	if h.tries[t]++; h.tries[t] > 1 {
		h.counted.Repeats++
		return
	}
	h.counted.Attempts++
	h.counted.Last = time.Now()
	switch {
	case run.Step() != "":
		h.counted.Steps++
	case run.Attempt() > 1:
		h.counted.Retries++
	case h.counted.Last.Sub(run.FireTime()) > late:
		h.counted.Late++
	}
}

// tick does a run that takes a moment.
func (h *Handlers) tick(ctx context.Context, run *executor.Run, _ map[string]any) (any, error) {
	h.count(run)
	run.Log().InfoContext(ctx, "tick")
	return nil, nil //nolint:nilnil // no result, and no error
}

// flaky fails at its first attempt.
func (h *Handlers) flaky(_ context.Context, run *executor.Run, _ map[string]any) (any, error) {
	h.count(run)
	if run.Attempt() == 1 {
		return nil, errors.New("the other side does not answer; the next attempt will do")
	}
	return nil, nil //nolint:nilnil // no result, and no error
}

// rows does a step of the workflow: it returns how many rows it has been given, or a thousand.
func (h *Handlers) rows(ctx context.Context, run *executor.Run, p rows) (rows, error) {
	h.count(run)
	if p.Rows == 0 {
		p.Rows = 1000
	}
	run.Log().InfoContext(ctx, "did the step", "rows", p.Rows)
	return p, nil
}

// rows are what the steps of the workflow hand on.
type rows struct {
	Rows int `json:"rows,omitempty"`
}
