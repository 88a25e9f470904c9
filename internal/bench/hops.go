package bench

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

// hops is how long it takes from the end of a run until the one begins that follows it: the next step of a chain, or
// the run of a child. It is safe for concurrent use.
type hops struct {
	mu   sync.Mutex
	ends map[job.RunID]time.Time
	late lateness
}

func newHops() *hops { return &hops{ends: map[job.RunID]time.Time{}} }

// handle is a handler that does nothing else.
func (h *hops) handle(_ context.Context, run *executor.Run) (any, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if end, ok := h.ends[before(run)]; ok {
		h.late.all = append(h.late.all, float32(time.Since(end).Seconds()*1000))
	}
	h.ends[run.ID()] = time.Now()
	return nil, nil
}

// before returns the run that a run follows, "" if there is none.
func before(run *executor.Run) job.RunID {
	t := run.Trigger()
	number, step := strings.CutPrefix(t.Step, "s")
	n, err := strconv.Atoi(number)
	switch {
	case !step:
		return t.ParentRun
	case err != nil || n == 0:
		return ""
	}
	return job.StepRunID(t.ParentRun, stepName(n-1))
}
