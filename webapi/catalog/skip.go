package catalog

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
)

// skipAhead is how far ahead a fire must be for it to be called off: the owner of its
// shard has to hear of that first.
const skipAhead = time.Second

// Skip calls a fire of a job off, unless it is already.
func (c *Catalog) Skip(ctx context.Context, name job.Name, r *api.SkipRequest) (*bus.JobEntry, error) {
	return c.ChangeSkips(ctx, name, r.FireTime, r.Reason, callOff)
}

// Unskip has a fire run after all, unless another run was made in its place.
func (c *Catalog) Unskip(ctx context.Context, name job.Name, r *api.SkipRequest) (*bus.JobEntry, error) {
	return c.ChangeSkips(ctx, name, r.FireTime, r.Reason, takeBack)
}

// callOff calls a fire off, unless it is already.
func callOff(v *job.Version, s job.Skip) error {
	if v.SkipOf(s.FireTime) == nil {
		v.Skip(s)
	}
	return nil
}

// takeBack has a fire run after all, unless another run was made in its place.
func takeBack(v *job.Version, s job.Skip) error {
	if was := v.SkipOf(s.FireTime); was != nil && was.RunID != "" {
		return fmt.Errorf("%w: %s", job.ErrConflict, refusal.FireRanEarly.With(s.FireTime.Format(time.RFC3339Nano), was.RunID))
	}
	v.TakeBack(s.FireTime)
	return nil
}

// ChangeSkips changes which of a job's fires are called off: change is told of the one at
// an instant, which must be a fire of the job, and ahead.
func (c *Catalog) ChangeSkips(ctx context.Context, name job.Name, fireTime time.Time, why string, change func(*job.Version, job.Skip) error) (*bus.JobEntry, error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	fireTime = fireTime.UTC().Truncate(time.Millisecond)
	if fireTime.Before(now.Add(skipAhead)) {
		return nil, &job.InvalidError{Field: "fire_time", Reason: refusal.FireAhead.With(fireTime.Format(time.RFC3339Nano), job.Duration(skipAhead))}
	}
	var refused error
	var before, after []job.Skip
	entry, err := c.edit(ctx, name, cluster.Edit{At: time.Now(), Author: access.Author(ctx), Note: skipNote(fireTime, why)}, func(v *job.Version) {
		was := *v
		before = v.Skips
		if refused = c.checkFire(ctx, v, fireTime); refused == nil {
			refused = change(v, job.Skip{FireTime: fireTime, By: access.Author(ctx), At: now, Reason: why})
		}
		if refused == nil && len(v.Skips) > job.MaxSkips {
			refused = fmt.Errorf("%w: %s", job.ErrConflict, refusal.ManySkips.With(name, job.MaxSkips))
		}
		if refused != nil {
			*v = was
		}
		after = v.Skips
	})
	if err = errors.Join(err, refused); err != nil {
		return nil, err
	}
	return entry, auditlog.Describe(ctx, !reflect.DeepEqual(before, after), why, map[string]any{"skips": before}, map[string]any{"skips": after})
}

// checkFire returns an error unless a version has a fire at an instant.
func (c *Catalog) checkFire(ctx context.Context, v *job.Version, fireTime time.Time) error {
	if err := v.CheckSkip(fireTime); err != nil || v.Schedule.Shift == "" {
		return err
	}
	f := newForecast(c.conn, fireTime.Add(-time.Millisecond))
	plan, err := f.planFrom(v, f.after)
	if err != nil {
		return err
	}
	if _, none, err := f.judge(ctx, &plan, fireTime.UnixMilli()); err != nil || !none {
		return err
	}
	return job.NoFireAt(v.Job.Job, fireTime)
}

func skipNote(fireTime time.Time, why string) string {
	note := "the fire at " + fireTime.Format(time.RFC3339)
	if why != "" {
		note += ": " + why
	}
	return note
}
