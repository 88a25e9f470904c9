package catalog

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// Bounds of the search for a fire that calendars allow.
const (
	year         = int64(365 * 24 * time.Hour / time.Millisecond)
	mostExcluded = 366 * 24 * 60 // fires, each in another minute
	fewExcluded  = 2000          // are looked at even if they take more than a year
)

// pitfalls returns warnings about a job's schedule. planned names calendars that will be saved
// later, of which nothing is known yet.
func (c *Catalog) pitfalls(ctx context.Context, j *job.Job, now time.Time, planned []string) ([]api.FieldError, error) {
	var warnings []api.FieldError
	for _, p := range j.Schedule.Pitfalls(j.Job, now) {
		warnings = append(warnings, api.FieldError{Field: p.Field, Reason: reason.Text(p.Reason)})
	}
	if gap, long := j.GraceIsLong(); long {
		warnings = append(warnings, api.FieldError{Field: "task.watch.grace", Reason: reason.Text(refusal.WatchGraceLong.With(j.Task.Watch.Grace, gap))})
	}
	calendars := slices.Concat(j.Schedule.Only, j.Schedule.Except)
	if len(calendars) == 0 || slices.ContainsFunc(calendars, func(name string) bool { return slices.Contains(planned, name) }) {
		return warnings, nil
	}
	why, err := newForecast(c.conn, now).allExcluded(ctx, &job.Version{Job: *j}, now)
	if err != nil || why == "" {
		return warnings, err
	}
	field := "schedule.except"
	if len(j.Schedule.Except) == 0 {
		field = "schedule.only"
	}
	return append(warnings, api.FieldError{Field: field, Reason: why}), nil
}

// allExcluded returns that calendars exclude every fire of a version after an instant, or those of a
// year and more; "" if they allow one, if there is none, and if a look at many fires does not tell.
func (f *forecast) allExcluded(ctx context.Context, v *job.Version, after time.Time) (reason.Text, error) {
	plan, err := f.planFrom(v, after)
	if err != nil {
		return "", err
	}
	history := job.History{plan}
	at, first, left := after.UnixMilli(), int64(math.MaxInt64), mostExcluded
	ended := false
	if plan.Shift != "" {
		left = mostLooked // they cost more
	}
	for ; left > 0 && (at-first < year || mostExcluded-left < fewExcluded); left-- {
		due, ok := history.NextDue(at)
		if ended = !ok; ended {
			break
		}
		fire := due - plan.Offset
		if runs, err := f.runs(ctx, &plan, fire); err != nil || runs {
			return "", err
		}
		first = min(first, due)
		at = due
		if plan.Shift == "" { // calendars change with the minute at most
			const minute = int64(time.Minute / time.Millisecond)
			at = fire - fire%minute + minute - 1 + plan.Offset
		}
	}
	switch {
	case at == after.UnixMilli():
		return "", nil
	case ended:
		return reason.Text(refusal.CalendarsExcludeAll.String()), nil
	case at-first >= year:
		return reason.Text(refusal.CalendarsExcludeTo.With(time.UnixMilli(at).Truncate(time.Minute))), nil
	}
	return "", nil
}
