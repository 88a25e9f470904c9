package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// The shapes of the graphs of bench workflow.
const (
	shapeChain  = "chain"  // each step after the one before
	shapeFan    = "fan"    // all but the first after the first
	shapeLayers = "layers" // rows of layerWidth, each step after all of the row before
)

var shapes = []string{shapeChain, shapeFan, shapeLayers}

const layerWidth = 10

// benchWorkflow has workflows run whose steps do nothing, and takes the time until the last run is stored as
// succeeded. It counts steps. Beside them it measures as many runs of jobs whose owner watches them as it
// does steps, but without a graph.
func benchWorkflow(ctx context.Context, o benchOptions) (*benchResult, error) {
	switch {
	case !slices.Contains(shapes, o.shape):
		return nil, cli.Usage(fmt.Errorf("--shape %q must be one of %v", o.shape, shapes))
	case o.steps < 1 || o.steps > workflow.MaxSteps:
		return nil, cli.Usage(fmt.Errorf("--steps must be from 1 to %d", workflow.MaxSteps))
	case o.jobs < 1:
		return nil, cli.Usage(errors.New("--jobs must be at least 1"))
	}
	o.instances, o.slots, o.replicas, o.route = 1, slotsOf(1), 1, string(job.RouteAny)
	watched := o
	watched.jobs = o.jobs * o.steps
	watched.change = func(j *job.Job) { j.Retry = job.Retry{Limit: 1} }
	raw, err := measureRuns(ctx, watched)
	if err != nil {
		return nil, err
	}
	o.change = func(j *job.Job) { j.Task, j.Steps = job.Task{}, stepsOf(o.shape, o.steps) }
	r, err := measureRuns(ctx, o)
	if err != nil {
		return nil, err
	}
	r.Count = o.jobs * o.steps
	r.Rate *= float64(o.steps)
	r.CPUMicros /= float64(o.steps)
	r.RawRate, r.RawMicros = raw.Rate, raw.CPUMicros
	return r, nil
}

// stepsOf returns so many steps that do nothing, in a shape.
func stepsOf(shape string, n int) []job.Step {
	name := func(i int) string { return "s" + strconv.Itoa(i) }
	steps := make([]job.Step, n)
	for i := range steps {
		s := &steps[i]
		s.Name, s.Task = name(i), job.Task{Handler: "noop"}
		first, last := i-1, i
		switch shape {
		case shapeFan:
			first, last = 0, min(i, 1)
		case shapeLayers:
			row := i / layerWidth
			first, last = (row-1)*layerWidth, row*layerWidth
		}
		for k := max(first, 0); k < last; k++ {
			s.After = append(s.After, workflow.Edge{Step: name(k), On: workflow.OnSuccess})
		}
	}
	return steps
}
