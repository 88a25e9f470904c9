package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Bounds of a calendar's preview; the contract states them.
const (
	affectedFor   = 366 * 24 * time.Hour
	affectedJobs  = 500
	affectedFires = 5
)

// checkCalendars refuses a schedule that names a calendar which neither exists nor is one of those to
// be saved before it: a typing error would have the job fire on every holiday.
func (c *Catalog) checkCalendars(ctx context.Context, s *job.Schedule, planned []string) error {
	var errs []error
	for _, list := range []struct {
		field string
		names []string
	}{{"schedule.only", s.Only}, {"schedule.except", s.Except}} {
		for _, name := range list.names {
			if slices.Contains(planned, name) {
				continue
			}
			_, err := c.conn.Calendars().Get(ctx, name)
			switch {
			case errors.Is(err, job.ErrNotFound):
				errs = append(errs, &job.InvalidError{Field: list.field, Reason: refusal.CalendarUnknown.With(name)})
			case err != nil:
				return err
			}
		}
	}
	return errors.Join(errs...)
}

// maxNamed bounds the jobs that a refusal names.
const maxNamed = 10

// DeleteCalendar deletes a calendar. The error is job.ErrConflict if a job names it: its fires would
// run on the days that the calendar has excluded. It names the jobs that the caller may see.
func (c *Catalog) DeleteCalendar(ctx context.Context, name string, edit cluster.Edit) error {
	theirs := access.Who(ctx).Access
	var named []string
	seen, others := 0, 0
	err := c.index.eachPlan(ctx, query{}, func(user job.Name, plan job.Plan) bool {
		switch {
		case !slices.Contains(plan.Only, name) && !slices.Contains(plan.Except, name):
		case !theirs.May(rights.Viewer, user.Group()):
			others++
		default:
			if seen++; seen <= maxNamed {
				named = append(named, string(user))
			}
		}
		return true
	})
	if err != nil {
		return problem.Explain(err, refusal.JobsNotLoaded.String())
	}
	if seen > maxNamed {
		named = append(named, "…")
	}
	jobs := strings.Join(named, ", ")
	switch {
	case others > 0:
		return problem.Explain(fmt.Errorf("%w: calendar %s is in use", job.ErrConflict, name), refusal.CalendarInUseToo.With(name, cmp.Or(jobs, "-"), others))
	case seen > 0:
		return problem.Explain(fmt.Errorf("%w: calendar %s is in use", job.ErrConflict, name), refusal.CalendarInUse.With(name, jobs))
	}
	return c.conn.Calendars().Delete(ctx, name, edit)
}

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
		return api.CalendarPreview{}, problem.Explain(err, refusal.JobsNotLoaded.String())
	}
	return a.CalendarPreview, nil
}
