package webapi

import (
	"context"
	"errors"
	"strings"
	"time"

	"carillon/bus"
	"carillon/bus/cluster"
	"carillon/job"
	"carillon/job/cron"
)

// previewFires is how many fires a preview has by default; the contract states it.
const previewFires = 10

// anyJob stands for the job of a schedule that is shown without one. It decides what
// H is.
const anyJob = job.Name("any/job")

// PreviewJob answers GET /jobs/{group}/{name}/preview.
func (h *handlers) PreviewJob(ctx context.Context, r PreviewJobRequestObject) (PreviewJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	entry, err := h.conn.GetJob(ctx, name)
	if err != nil {
		return nil, err
	}
	hold, err := h.conn.GetHold(ctx)
	if err != nil {
		return nil, err
	}
	p, err := h.preview(ctx, &entry.Version, r.Params.From, r.Params.N)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if paused, until := pauseOf(&entry.Job, now); paused {
		skipFires(&p, "the job is paused", until)
	}
	if hold = hold.At(now); hold.Paused {
		skipFires(&p, "everything is paused", hold.Until)
	}
	return PreviewJob200JSONResponse(p), nil
}

// skipFires says that none of the fires before an instant would run; zero is for ever.
func skipFires(p *Preview, why string, until time.Time) {
	if p.Note = why; !until.IsZero() {
		p.Note += " until " + until.UTC().Format(time.RFC3339)
	}
	for i := range p.Fires {
		if until.IsZero() || p.Fires[i].FireTime.Before(until) {
			p.Fires[i].Skipped, p.Fires[i].Reason = true, p.Note
		}
	}
}

// PreviewSchedule answers POST /preview.
func (h *handlers) PreviewSchedule(ctx context.Context, r PreviewScheduleRequestObject) (PreviewScheduleResponseObject, error) {
	j, err := jobOfPreview(r.Body)
	if err != nil {
		return nil, err
	}
	p, err := h.preview(ctx, &job.Version{Job: j}, r.Body.From, r.Body.N)
	if err != nil {
		return nil, err
	}
	return PreviewSchedule200JSONResponse(p), nil
}

// jobOfPreview returns a valid job with the schedule that a request describes.
func jobOfPreview(r *PreviewRequest) (job.Job, error) {
	j := job.Job{Job: anyJob, Task: job.Task{Handler: "any"}}
	if r.Job != "" {
		j.Job = r.Job
	}
	switch {
	case r.Schedule != nil && (r.Expr != "" || r.Zone != ""):
		return j, invalid("schedule", "cannot be given together with expr or zone")
	case r.Schedule != nil:
		j.Schedule = *r.Schedule
	case r.Expr == "":
		return j, invalid("expr", "is missing; give a cron expression, or a schedule")
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
		errs = append(errs, invalid(field, e.Reason))
	}
	return j, errors.Join(errs...)
}

func (h *handlers) preview(ctx context.Context, v *job.Version, from time.Time, n int) (Preview, error) {
	if from.IsZero() {
		from = time.Now()
	}
	f := newForecast(h.conn, from)
	plan, err := f.planFrom(v, from)
	if err != nil {
		return Preview{}, err
	}
	fires, err := f.fires(ctx, v, from, orDefault(n, previewFires))
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Schedule: v.Schedule.String(), Kind: v.Schedule.Kind(), Fires: fires}
	const day = 24 * time.Hour
	p.PerDay, p.PerYear = plan.Count(from, day), plan.Count(from, 365*day)
	if next, ok := plan.NextClockChange(from); ok {
		p.Clock = &ClockChange{
			At: next.At, BeforeSeconds: int(next.Before.Seconds()), AfterSeconds: int(next.After.Seconds()), Gap: next.Gap, Overlap: next.Overlap,
		}
	}
	switch {
	case p.Kind == job.KindManual:
		p.Note = "the job runs only when somebody asks"
	case p.Kind == job.KindFixedDelay:
		p.Note = "each fire follows the end of the run before"
	case len(fires) == 0:
		p.Note = "there are no more fires"
	}
	return p, nil
}

// forecast tells the next fires of some jobs after one instant. It lives for one
// request, since the planner keeps every schedule that it has seen.
type forecast struct {
	conn    *cluster.Conn
	after   time.Time
	planner job.Planner
	sets    map[string]*job.DateSet // calendars, nil for those that do not exist
}

func newForecast(conn *cluster.Conn, after time.Time) *forecast {
	return &forecast{conn: conn, after: after, sets: map[string]*job.DateSet{}}
}

// next returns the next n fires of a stored job: none while it is paused, and those
// from then on while it is paused until an instant.
func (f *forecast) next(ctx context.Context, e *bus.JobEntry, n int) ([]Fire, error) {
	if e.Paused || n == 0 {
		return []Fire{}, nil
	}
	after := f.after
	if paused, until := pauseOf(&e.Job, after); paused {
		after = until.Add(-time.Millisecond)
	}
	fires, err := f.fires(ctx, &e.Version, after, n)
	if errors.Is(err, job.ErrInvalid) {
		// It was valid where it was saved: a zone that this machine does not know. A
		// list must not fail for one such job.
		return []Fire{}, nil
	}
	return fires, err
}

// fires returns the next n fires after an instant, of a version as if there were no other.
func (f *forecast) fires(ctx context.Context, v *job.Version, after time.Time, n int) ([]Fire, error) {
	plan, err := f.planFrom(v, after)
	if err != nil {
		return nil, err
	}
	planned := plan.Next(after.UnixMilli(), n)
	fires := make([]Fire, len(planned))
	for i, p := range planned {
		fire := Fire{FireTime: time.UnixMilli(p.At).UTC(), Due: time.UnixMilli(p.Due).UTC(), Reason: plan.WhyOff(p.At)}
		fire.Skip = v.SkipOf(fire.FireTime)
		if fire.Reason == "" {
			if fire.Reason, err = f.excluded(ctx, v.Schedule, p.At); err != nil {
				return nil, err
			}
		}
		fire.Skipped = fire.Reason != ""
		fire.Clock = clockOf(&plan, p.At)
		fires[i] = fire
	}
	return fires, nil
}

// planFrom returns a version's plan from an instant on, as if there were no other version.
func (f *forecast) planFrom(v *job.Version, after time.Time) (job.Plan, error) {
	only := *v
	only.EffectiveFrom = after
	return f.planner.Plan(&only)
}

// moves are the names of what a moved clock has to do with a fire.
var moves = map[cron.Move]string{cron.AfterGap: "after_gap", cron.FirstPass: "first_pass", cron.SecondPass: "second_pass"}

// clockOf returns what a moved clock has to do with a fire; nil when nothing.
func clockOf(p *job.Plan, at int64) *FireClock {
	move, wall := p.Moved(at)
	if move == cron.NotMoved {
		return nil
	}
	return &FireClock{Kind: moves[move], Wall: time.Time{}.Add(wall).Format(time.TimeOnly)}
}

// excluded returns why calendars keep the fire from running, or nothing.
func (f *forecast) excluded(ctx context.Context, s job.Schedule, at int64) (reason string, err error) {
	for _, name := range s.Except {
		in, err := f.contains(ctx, name, at)
		if err != nil {
			return "", err
		}
		if in {
			return "calendar " + name + " excludes it", nil
		}
	}
	for _, name := range s.Only {
		in, err := f.contains(ctx, name, at)
		if err != nil || in {
			return "", err
		}
	}
	if len(s.Only) > 0 {
		return "calendar " + strings.Join(s.Only, ", ") + " does not include it", nil
	}
	return "", nil
}

// contains reports whether the calendar has the instant; one that does not exist is
// empty.
func (f *forecast) contains(ctx context.Context, name string, at int64) (bool, error) {
	set, known := f.sets[name]
	if !known {
		entry, err := f.conn.GetCalendar(ctx, name)
		switch {
		case errors.Is(err, job.ErrNotFound):
		case err != nil:
			return false, err
		default:
			if set, err = entry.Compile(); err != nil {
				return false, err
			}
		}
		f.sets[name] = set
	}
	return set != nil && set.Contains(at), nil
}
