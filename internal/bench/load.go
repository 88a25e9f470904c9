package bench

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

// load is when the jobs of a bench fire.
type load struct {
	from     time.Time // the first fire
	schedule func(i int) job.Schedule
	runs     int
}

// load has each job fire once, all at one instant. With a rate, so many of them fire on each whole second,
// for as long as --for says.
func (o benchOptions) load() (load, error) {
	l := load{from: o.readyBy(), runs: o.jobs}
	l.schedule = func(int) job.Schedule { return job.Schedule{Once: &l.from} }
	if o.rate == 0 {
		return l, nil
	}
	seconds := int(o.runFor / time.Second)
	if o.rate < 0 || o.jobs%o.rate != 0 || seconds < 1 {
		return l, cli.Usage(errors.New("--jobs must be a multiple of --rate, because each job fires as often as the others, and --for at least 1s"))
	}
	rate := everySecond(l.from, o.jobs/o.rate)
	until := l.from.Add(time.Duration(seconds)*time.Second - time.Millisecond)
	l.schedule = func(i int) job.Schedule {
		s := rate(i)
		s.Until = &until
		return s
	}
	l.runs = o.rate * seconds
	return l, nil
}

// starts collects, for each run since an instant, the time from its fire until its handler began; first
// has those of the first second.
func starts(ctx context.Context, store logstore.Store, from time.Time) (first, all lateness, err error) {
	filter := logstore.RunFilter{From: from, Causes: job.CountedCauses, Limit: logstore.MaxRuns}
	for {
		page, err := store.Runs(ctx, filter)
		if err != nil {
			return first, all, err
		}
		for i := range page.Runs {
			run := &page.Runs[i]
			late := float32(run.StartedAt.Sub(run.FireTime).Seconds() * 1000)
			all.all = append(all.all, late)
			if run.FireTime.Before(from.Add(time.Second)) {
				first.all = append(first.all, late)
			}
		}
		if filter.Cursor = page.Next; page.Next == "" {
			return first, all, nil
		}
	}
}
