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
	shapeWide   = "wide"   // no step after another
)

var shapes = []string{shapeChain, shapeFan, shapeLayers, shapeWide}

const layerWidth = 10

// What workflows are measured beside.
const (
	besideWatched  = "watched"  // as many runs of jobs whose owner watches them, without a graph
	besideChildren = "children" // chains of jobs, each the child of the one before
)

var rivals = []string{besideWatched, besideChildren}

// benchWorkflow has workflows run whose steps do nothing, and takes the time until the last run is stored as
// succeeded. It counts steps. In turns it measures as many runs of jobs without a graph. Of chains it also takes the
// time from the end of a step, or a run, until the next begins.
func benchWorkflow(ctx context.Context, o benchOptions) (*benchResult, error) {
	if err := o.checkWorkflow(); err != nil {
		return nil, err
	}
	o.instances, o.slots, o.replicas, o.route, o.bare = 1, slotsOf(1), 1, string(job.RouteAny), true
	steps, rival := o, o
	steps.change = func(j *job.Job) { j.Task, j.Steps = job.Task{}, stepsOf(o.shape, o.steps) }
	rival.jobs, rival.profile = o.jobs*o.steps, "" // it would overwrite that of the steps
	rival.change = func(j *job.Job) { j.Retry = job.Retry{Limit: 1} }
	length := min(o.steps, job.MaxChain)
	if o.rival == besideChildren {
		rival.jobs = o.jobs * length
	}
	all, err := inTurns(ctx, o.turns,
		func(ctx context.Context) (*benchResult, error) { return steps.hopping(ctx, o.steps) },
		func(ctx context.Context) (*benchResult, error) {
			one := rival
			if o.rival == besideChildren {
				one.change = chainOf(length) // counts the jobs of one measurement
			}
			return one.hopping(ctx, 1)
		})
	if err != nil {
		return nil, err
	}
	r := all[0].beside(all[1])
	delete(r.Times, "seconds") // of unlike many
	return r, nil
}

func (o *benchOptions) checkWorkflow() error {
	switch {
	case !slices.Contains(shapes, o.shape):
		return cli.Usage(fmt.Errorf("--shape %q must be one of %v", o.shape, shapes))
	case !slices.Contains(rivals, o.rival):
		return cli.Usage(fmt.Errorf("--beside %q must be one of %v", o.rival, rivals))
	case o.rival == besideChildren && o.shape != shapeChain:
		return cli.Usage(fmt.Errorf("--beside %s goes with --shape %s", besideChildren, shapeChain))
	}
	return o.checkSteps()
}

// checkSteps checks the flags that all benches of workflows have.
func (o *benchOptions) checkSteps() error {
	switch {
	case o.steps < 1 || o.steps > workflow.MaxSteps:
		return cli.Usage(fmt.Errorf("--steps must be from 1 to %d", workflow.MaxSteps))
	case o.jobs < 1:
		return cli.Usage(errors.New("--jobs must be at least 1"))
	case o.turns < 1:
		return cli.Usage(errors.New("--turns must be at least 1"))
	}
	return nil
}

// hopping measures runs, each of which counts as so many, with the lateness of what follows another.
func (o benchOptions) hopping(ctx context.Context, count int) (*benchResult, error) {
	h := newHops()
	if o.shape == shapeChain {
		o.handler = h.handle
	}
	r, err := measureRuns(ctx, o)
	if err != nil {
		return nil, err
	}
	r.Count *= count
	r.Rate *= float64(count)
	r.CPUMicros /= float64(count)
	r.P50, r.P99, r.Max = h.late.quantiles()
	return r, nil
}

// stepsOf returns so many steps that do nothing, in a shape.
func stepsOf(shape string, n int) []job.Step {
	steps := make([]job.Step, n)
	for i := range steps {
		s := &steps[i]
		s.Name, s.Task = stepName(i), job.Task{Handler: "noop"}
		first, last := i-1, i
		switch shape {
		case shapeFan:
			first, last = 0, min(i, 1)
		case shapeLayers:
			row := i / layerWidth
			first, last = (row-1)*layerWidth, row*layerWidth
		case shapeWide:
			last = 0
		}
		for k := max(first, 0); k < last; k++ {
			s.After = append(s.After, workflow.Edge{Step: stepName(k), On: workflow.OnSuccess})
		}
	}
	return steps
}

func stepName(i int) string { return "s" + strconv.Itoa(i) }

// chainOf makes chains of so many jobs of those that it is called for, in the order of their numbers from 0. The first of each fires.
func chainOf(length int) func(*job.Job) {
	n := 0
	return func(j *job.Job) {
		if n%length > 0 {
			j.Schedule = job.Schedule{}
		}
		if n++; n%length > 0 {
			j.Children = []job.Child{{Job: benchJob(n), On: job.OnSuccess}}
		}
	}
}
