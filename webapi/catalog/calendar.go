package catalog

import (
	"cmp"
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Bounds of a calendar's preview; the contract states them.
const (
	affectedFor   = 366 * 24 * time.Hour
	affectedJobs  = 500
	affectedFires = 5
)

// PreviewCalendar returns the fires that saving a calendar would affect.
func (c *Catalog) PreviewCalendar(ctx context.Context, wish job.Calendar) (api.CalendarPreview, error) {
	wish.Zone = cmp.Or(wish.Zone, "UTC")
	set, err := wish.Compile()
	if err != nil {
		return api.CalendarPreview{}, err
	}
	from := time.Now().UTC().Truncate(time.Millisecond)
	a := affected{
		calendar: wish.Calendar, now: newForecast(c.conn, from), then: newForecast(c.conn, from), left: maxCounted,
		CalendarPreview: api.CalendarPreview{From: from, To: from.Add(affectedFor), Jobs: []api.AffectedJob{}, Complete: true},
	}
	a.then.sets[wish.Calendar] = set
	err = c.index.eachPlan(ctx, query{firing: true}, func(name job.Name, plan job.Plan) bool {
		return a.add(ctx, name, plan)
	})
	if err = cmp.Or(err, a.err); err != nil {
		return api.CalendarPreview{}, problem.Explain(err, reason.JobsNotLoaded.String())
	}
	return a.CalendarPreview, nil
}
