package stream

import (
	"context"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
)

// maxSteps is how many runs of steps a watch knows.
const maxSteps = 10_000

// step is which step of a workflow a run does, and the run of the workflow.
type step struct {
	name     string
	workflow job.RunID
}

// findSteps asks the history which steps of workflows are out: a watch names the step of a line without
// a question for it. Those that begin later are heard of before they print anything.
func (w *watch) findSteps(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	page, err := w.store.Runs(ctx, logstore.RunFilter{
		Jobs: w.filter.Jobs, Group: w.filter.Group, Causes: []job.Cause{job.CauseStep},
		Statuses: []job.Status{job.StatusRunning, job.StatusPending, job.StatusQueued}, Limit: logstore.MaxRuns,
	})
	if err != nil {
		w.log.DebugContext(ctx, "running steps of workflows are not known", "error", err)
		return
	}
	for i := range page.Runs {
		r := &page.Runs[i]
		w.steps[r.RunID] = step{r.Step, r.Parent}
	}
}

// takeRecord remembers runs of steps.
func (w *watch) takeRecord(m *nats.Msg) {
	record, err := journal.DecodeRecord(m.Header, m.Data)
	if err != nil {
		return
	}
	_ = record.Each(func(d journal.Decided) {
		if d.Step == "" || d.Status.Final() || !w.wants(d.Job) {
			return
		}
		if len(w.steps) >= maxSteps {
			clear(w.steps)
		}
		w.steps[d.RunID] = step{d.Step, d.Parent}
	})
}
