package catalog

import (
	"context"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
)

// affected finds the fires that saving a calendar would affect. It lives for one request.
type affected struct {
	api.CalendarPreview

	calendar  string
	now, then *forecast // by the calendar as it is, and as it would be
	left      int       // of the fires that may be looked at
	err       error
}

// add looks at the fires of one job, and reports whether another may follow. What goes
// wrong is in err.
func (a *affected) add(ctx context.Context, name job.Name, plan job.Plan) bool {
	if !slices.Contains(plan.Only, a.calendar) && !slices.Contains(plan.Except, a.calendar) {
		return true
	}
	if len(a.Jobs) == affectedJobs {
		a.Complete = false
		return false
	}
	one := api.AffectedJob{Job: name, Fires: []api.AffectedFire{}}
	job.History{plan}.Fires(0, a.From.UnixMilli(), a.To.UnixMilli(), func(fire job.Fire) bool {
		if a.left == 0 {
			a.Complete = false
			return false
		}
		if plan.Off(fire.At) {
			a.left--
			return true
		}
		var was, is bool
		if was, a.err = a.now.runs(ctx, &plan, fire.At); a.err != nil {
			return false
		}
		if is, a.err = a.then.runs(ctx, &plan, fire.At); a.err != nil {
			return false
		}
		if was || is || plan.Nominal(fire.At) {
			a.left--
		}
		switch {
		case was == is:
			return true
		case !is:
			one.Skipped++
		default:
			one.Released++
		}
		if len(one.Fires) < affectedFires {
			one.Fires = append(one.Fires, api.AffectedFire{FireTime: time.UnixMilli(fire.At).UTC(), Skipped: !is})
		}
		return true
	})
	a.Skipped += one.Skipped
	a.Released += one.Released
	a.Jobs = append(a.Jobs, one)
	return a.Complete && a.err == nil
}
