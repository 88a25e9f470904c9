package catalog

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// previewFires is how many fires a preview has by default; the contract states it.
const previewFires = 10

// anyJob stands for the job of a schedule that is shown without one. It decides what
// H is.
const anyJob = job.Name("any/job")

// Preview returns the next n fires of a job after an instant.
func (c *Catalog) Preview(ctx context.Context, name job.Name, from time.Time, n int) (api.Preview, error) {
	entry, err := c.conn.Jobs().Get(ctx, name)
	if err != nil {
		return api.Preview{}, err
	}
	hold, err := c.conn.Pauses().Get(ctx, "")
	if err != nil {
		return api.Preview{}, err
	}
	p, err := c.preview(ctx, &entry.Version, from, n)
	if err != nil {
		return api.Preview{}, err
	}
	now := time.Now()
	groups, group := c.index.pauses.now(now), name.Group()
	if why := groups.why(group); why != "" {
		skipFires(&p, why, groups[group].Until)
	}
	if paused, until := pauseOf(&entry.Job, now); paused {
		skipFires(&p, whyPaused(reason.JobPaused, reason.JobPausedUntil, until), until)
	}
	if hold = hold.At(now); hold.Paused {
		skipFires(&p, whyPaused(reason.EverythingPaused, reason.EverythingPausedUntil, hold.Until), hold.Until)
	}
	return p, nil
}

func whyPaused(why reason.None, whyUntil reason.One, until time.Time) reason.Text {
	if until.IsZero() {
		return reason.Text(why.String())
	}
	return reason.Text(whyUntil.With(until))
}

// skipFires says that none of the fires before an instant would run; zero is for ever.
func skipFires(p *api.Preview, why reason.Text, until time.Time) {
	p.Note = why
	for i := range p.Fires {
		if until.IsZero() || p.Fires[i].FireTime.Before(until) {
			p.Fires[i].Skipped, p.Fires[i].Reason = true, p.Note
		}
	}
}

// PreviewSchedule returns the next fires of a schedule that no job has yet.
func (c *Catalog) PreviewSchedule(ctx context.Context, r *api.PreviewRequest) (api.Preview, error) {
	j, err := jobOfPreview(r)
	if err != nil {
		return api.Preview{}, err
	}
	if err := c.checkCalendars(ctx, &j.Schedule, nil); err != nil {
		return api.Preview{}, err
	}
	return c.preview(ctx, &job.Version{Job: j}, r.From, r.N)
}

// jobOfPreview returns a valid job with the schedule that a request describes.
func jobOfPreview(r *api.PreviewRequest) (job.Job, error) {
	j := job.Job{Job: anyJob, Task: job.Task{Handler: "any"}}
	if r.Job != "" {
		j.Job = r.Job
	}
	switch {
	case r.Schedule != nil && (r.Expr != "" || r.Zone != ""):
		return j, job.Invalid("schedule", "cannot be given together with expr or zone")
	case r.Schedule != nil:
		j.Schedule = *r.Schedule
	case r.Expr == "":
		return j, job.Invalid("expr", "is missing; give a cron expression, or a schedule")
	default:
		j.Schedule = job.Schedule{Cron: r.Expr, Zone: r.Zone}
	}
	j = j.WithDefaults()
	err := j.Validate()
	if err == nil || r.Schedule != nil {
		return j, err
	}
	// The caller wrote expr and zone, so these are the fields to name.
	var errs []error
	for _, e := range job.Problems(err) {
		field := strings.TrimPrefix(e.Field, "schedule.")
		if field == "cron" {
			field = "expr"
		}
		errs = append(errs, job.Invalid(field, "%s", e.Reason))
	}
	return j, errors.Join(errs...)
}

func (c *Catalog) preview(ctx context.Context, v *job.Version, from time.Time, n int) (api.Preview, error) {
	if from.IsZero() {
		from = time.Now()
	}
	f := newForecast(c.conn, from)
	plan, err := f.planFrom(v, from)
	if err != nil {
		return api.Preview{}, err
	}
	fires, err := f.fires(ctx, v, from, cmp.Or(n, previewFires))
	if err != nil {
		return api.Preview{}, err
	}
	warnings, err := c.pitfalls(ctx, &v.Job, from, nil)
	if err != nil {
		return api.Preview{}, err
	}
	p := api.Preview{Schedule: v.Schedule.String(), Kind: v.Schedule.Kind(), Fires: fires, Warnings: warnings}
	const day = 24 * time.Hour
	p.PerDay, p.PerYear = plan.Count(from, day), plan.Count(from, 365*day)
	if next, ok := plan.NextClockChange(from); ok {
		p.Clock = &api.ClockChange{
			At: next.At, BeforeSeconds: int(next.Before.Seconds()), AfterSeconds: int(next.After.Seconds()), Gap: next.Gap, Overlap: next.Overlap,
		}
	}
	switch {
	case p.Kind == job.KindManual:
		p.Note = reason.Text(refusal.ManualOnly.String())
	case p.Kind == job.KindFixedDelay:
		p.Note = reason.Text(refusal.FollowsEnd.String())
	case len(fires) == 0:
		p.Note = reason.Text(v.Schedule.WhyOver(v.Job.Job, from))
	case len(fires) < cmp.Or(n, previewFires):
		p.Note = reason.Text(v.Schedule.WhyOver(v.Job.Job, fires[len(fires)-1].FireTime))
	}
	return p, nil
}
