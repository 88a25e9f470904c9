package catalog

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/cron"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// forecast tells the next fires of some jobs after one instant. It lives for one
// request, since the planner keeps every schedule that it has seen.
type forecast struct {
	conn    *cluster.Conn
	after   time.Time
	paused  pausedGroups
	planner job.Planner
	sets    map[string]*job.DateSet // calendars, nil for those that do not exist
}

func newForecast(conn *cluster.Conn, after time.Time) *forecast {
	return &forecast{conn: conn, after: after, sets: map[string]*job.DateSet{}}
}

// forecast returns a forecast of what runs, with the groups that are paused now.
func (c *Catalog) forecast(after time.Time) *forecast {
	f := newForecast(c.conn, after)
	f.paused = c.index.pauses.now(time.Now())
	return f
}

// next returns the next n fires of a stored job: none while it is paused, and those
// from then on while it or its group is paused until an instant. Those of a group that is
// paused for good would be skipped.
func (f *forecast) next(ctx context.Context, e *bus.JobEntry, n int) ([]api.Fire, error) {
	if e.Paused || n == 0 {
		return []api.Fire{}, nil
	}
	after := f.after
	if paused, until := pauseOf(&e.Job, after); paused {
		after = until.Add(-time.Millisecond)
	}
	group := e.Job.Job.Group()
	if from, ok := f.paused.from(group, after.UnixMilli()+1); ok {
		after = time.UnixMilli(from - 1)
	}
	fires, err := f.fires(ctx, &e.Version, after, n)
	if errors.Is(err, job.ErrInvalid) {
		// It was valid where it was saved: a zone that this machine does not know. A
		// list must not fail for one such job.
		return []api.Fire{}, nil
	}
	for i := range fires {
		if f.paused.skips(group, fires[i].FireTime.UnixMilli()) {
			fires[i].Skipped, fires[i].Reason = true, f.paused.why(group)
		}
	}
	return fires, err
}

// fires returns the next n fires after an instant, of a version as if there were no other.
func (f *forecast) fires(ctx context.Context, v *job.Version, after time.Time, n int) ([]api.Fire, error) {
	plan, err := f.planFrom(v, after)
	if err != nil {
		return nil, err
	}
	fires := []api.Fire{}
	left := mostLooked
	job.History{plan}.Fires(0, after.UnixMilli(), endOfTime, func(p job.Fire) bool {
		var why string
		var none bool
		if why, none, err = f.judge(ctx, &plan, p.At); err != nil {
			return false
		}
		if left--; none {
			return left > 0
		}
		fire := api.Fire{FireTime: time.UnixMilli(p.At).UTC(), Due: time.UnixMilli(p.Due).UTC()}
		fire.Reason = reason.Text(cmp.Or(plan.WhyOff(p.At), why))
		fire.Skip = v.SkipOf(fire.FireTime)
		fire.Skipped = fire.Reason != ""
		fire.Clock = clockOf(&plan, p.At)
		fires = append(fires, fire)
		return len(fires) < n && left > 0
	})
	return fires, err
}

const (
	endOfTime = int64(1)<<62 - 1
	// mostLooked bounds the instants that are looked at for the next fires: calendars may leave
	// none to a schedule that moves fires.
	mostLooked = 20_000
)

// judge returns why calendars keep a fire of a plan from running, or nothing; none when no fire is
// moved to that instant.
func (f *forecast) judge(ctx context.Context, p *job.Plan, at int64) (why string, none bool, err error) {
	calendars := job.Schedule{Only: p.Only, Except: p.Except}
	if why, err = f.excluded(ctx, calendars, at); err != nil || p.Shift == "" {
		return why, false, err
	}
	allows := func(other int64) bool {
		shut, failed := f.excluded(ctx, calendars, other)
		err = cmp.Or(err, failed)
		return shut == ""
	}
	switch landing, _ := p.Lands(at, allows); {
	case landing != job.LandsElse:
		return "", landing == job.LandsNone, err
	case p.Moves(at, allows):
		return reason.Join(why, reason.Shifts(p.Shift == job.ShiftNext)), false, err
	}
	return why, false, err
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
func clockOf(p *job.Plan, at int64) *api.FireClock {
	move, wall := p.Moved(at)
	if move == cron.NotMoved {
		return nil
	}
	return &api.FireClock{Kind: moves[move], Wall: time.Time{}.Add(wall).Format(time.TimeOnly)}
}

// runs reports whether a plan has a fire at one of its instants, and no calendar skips it.
func (f *forecast) runs(ctx context.Context, p *job.Plan, at int64) (bool, error) {
	why, none, err := f.judge(ctx, p, at)
	return why == "" && !none, err
}

// excluded returns why calendars keep the fire from running, or nothing.
func (f *forecast) excluded(ctx context.Context, s job.Schedule, at int64) (why string, err error) {
	for _, name := range s.Except {
		in, err := f.contains(ctx, name, at)
		if err != nil {
			return "", err
		}
		if in {
			return reason.CalendarExcludes.With(name), nil
		}
	}
	for _, name := range s.Only {
		in, err := f.contains(ctx, name, at)
		if err != nil || in {
			return "", err
		}
	}
	switch len(s.Only) {
	case 0:
		return "", nil
	case 1:
		return reason.CalendarOmits.With(s.Only[0]), nil
	default:
		return reason.CalendarsOmit.String(), nil
	}
}

// contains reports whether the calendar has the instant; one that does not exist is
// empty.
func (f *forecast) contains(ctx context.Context, name string, at int64) (bool, error) {
	set, known := f.sets[name]
	if !known {
		entry, err := f.conn.Calendars().Get(ctx, name)
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
