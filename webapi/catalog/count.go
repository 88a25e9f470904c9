package catalog

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
)

// minutesOfHour is how many minutes an hour has.
const minutesOfHour = 60

// counter counts the fires of jobs over a range of time in equal parts. It lives for one request.
type counter struct {
	api.FireCounts

	forecast *forecast
	apart    time.Duration            // jobs whose fires are less far apart are left out
	week     map[job.Name]api.JobWeek // nil without the figures, or if nobody asks for them
	left     int                      // of the fires that may be counted
	err      error
}

// apart returns how far apart the first two fires of a plan after an instant are, at most a month.
func apart(plan job.Plan, after int64) time.Duration {
	var first int64
	gap := maxRange
	job.History{plan}.Fires(0, after, after+maxRange.Milliseconds(), func(fire job.Fire) bool {
		if !plan.Nominal(fire.At) {
			return true
		}
		if first == 0 {
			first = fire.At
			return true
		}
		gap = time.Duration(fire.At-first) * time.Millisecond
		return false
	})
	return gap
}

// add counts the fires of one job, and reports whether another may follow. What goes wrong is in err.
func (c *counter) add(ctx context.Context, name job.Name, plan job.Plan) bool {
	after, end := c.From.UnixMilli(), c.To.UnixMilli()
	limited := len(plan.Only)+len(plan.Except) > 0
	usual := c.week[name].P50Ms
	if c.apart > 0 && apart(plan, after) < c.apart {
		return true
	}
	n, group := 0, name.Group()
	job.History{plan}.Fires(0, after, end, func(fire job.Fire) bool {
		if n == c.left {
			return false
		}
		if plan.Off(fire.At) || c.forecast.paused.skips(group, fire.At) {
			return true
		}
		if limited {
			var runs bool
			if runs, c.err = c.forecast.runs(ctx, &plan, fire.At); !runs {
				return c.err == nil
			}
		}
		n++
		part := min(int((fire.Due-after)*int64(len(c.Counts))/(end-after)), len(c.Counts)-1)
		c.Counts[part]++
		if c.SlotMs != nil {
			c.SlotMs[part] += usual
		}
		if c.Minutes != nil {
			c.Minutes[fire.Due/60_000%minutesOfHour]++
		}
		return true
	})
	if c.left -= n; n > 0 {
		c.Jobs++
	}
	c.Complete = c.left > 0
	return c.Complete && c.err == nil
}
