package bench

import (
	"context"
	"errors"
	"strings"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/job"
)

// largeStep is about how many bytes each step of a large definition has.
const largeStep = 50 << 10

// benchDefinition has workflows with large definitions fire every second, and takes the CPU of a fire. One step of each
// runs, and the others, which have the scripts, are skipped. In turns it measures the same with short scripts.
func benchDefinition(ctx context.Context, o benchOptions) (*benchResult, error) {
	if o.jobs < 1 || o.turns < 1 || o.kilobytes < 1 || o.kilobytes > 250 {
		return nil, cli.Usage(errors.New("--jobs and --turns must be at least 1, and --size from 1 to 250"))
	}
	o.instances, o.slots, o.replicas, o.route, o.bare, o.rate = 1, slotsOf(1), 1, string(job.RouteAny), true, o.jobs
	steps := o.kilobytes<<10/largeStep + 1
	of := func(script string) measurement {
		o := o
		o.change = func(j *job.Job) {
			j.Task, j.Steps = job.Task{}, stepsOf(shapeFan, steps+1)
			for i := range j.Steps[1:] {
				s := &j.Steps[i+1]
				s.Task, s.If = job.Task{Shell: script}, `status.s0 != "succeeded"`
			}
		}
		return func(ctx context.Context) (*benchResult, error) { return measureRuns(ctx, o) }
	}
	all, err := inTurns(ctx, o.turns, of(strings.Repeat("# echo\n", o.kilobytes<<10/steps/7)), of("# echo\n"))
	if err != nil {
		return nil, err
	}
	return all[0].beside(all[1]), nil
}
