package catalog

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
)

// CheckUntil checks when a pause is to end by itself, if it is to.
func CheckUntil(paused bool, until, now time.Time) error {
	switch {
	case until.IsZero():
		return nil
	case !paused:
		return &job.InvalidError{Field: "until", Reason: refusal.UntilForPause.String()}
	case !until.After(now):
		return &job.InvalidError{Field: "until", Reason: refusal.MustLieAhead.With(until)}
	case until.Year() > 2225:
		return job.Invalid("until", "must lie before the year 2226")
	}
	return nil
}

// pauseFields are what a pause is in the audit log.
func pauseFields(paused bool, until time.Time) map[string]any {
	fields := map[string]any{"paused": paused}
	if paused && !until.IsZero() {
		fields["until"] = until.UTC()
	}
	return fields
}

// Pause is a request to pause or resume a job. Until is when a pause ends; zero is
// never.
type Pause struct {
	Paused bool
	Until  time.Time
}

// Holds reports whether a job is so already.
func (w Pause) Holds(j *job.Job, now time.Time) bool {
	paused, until := pauseOf(j, now)
	return paused == w.Paused && until.Equal(w.Until)
}

// pauseOf returns whether a job is paused, and until when.
func pauseOf(j *job.Job, now time.Time) (paused bool, until time.Time) {
	if paused = j.PausedAt(now); paused && !j.Paused {
		until = *j.PausedUntil
	}
	return paused, until
}

// SetPaused pauses or resumes a job. changed is false if it was so already.
func (c *Catalog) SetPaused(ctx context.Context, name job.Name, edit cluster.Edit, wish Pause) (entry *bus.JobEntry, changed bool, err error) {
	now := time.Now()
	if err := CheckUntil(wish.Paused, wish.Until, now); err != nil {
		return nil, false, err
	}
	wish.Until = wish.Until.UTC().Truncate(time.Millisecond)
	var was map[string]any
	entry, err = c.edit(ctx, name, edit, func(v *job.Version) {
		was = pauseFields(pauseOf(&v.Job, now))
		if changed = !wish.Holds(&v.Job, now); !changed {
			return
		}
		v.Paused, v.PausedUntil = wish.Paused && wish.Until.IsZero(), nil
		if !wish.Until.IsZero() {
			v.PausedUntil = &wish.Until
		}
	})
	if err != nil {
		return nil, false, err
	}
	return entry, changed, auditlog.Describe(ctx, changed, edit.Note, was, pauseFields(wish.Paused, wish.Until))
}

// SetSwitch turns the switch that pauses an executor group, or with "" that for everything.
func (c *Catalog) SetSwitch(ctx context.Context, group string, wish *api.PauseSwitch) (job.Pause, error) {
	now := time.Now()
	if err := CheckUntil(wish.Paused, wish.Until, now); err != nil {
		return job.Pause{}, err
	}
	was, hold, err := c.conn.Pauses().Set(ctx, group, wish.Paused, wish.Until, cluster.Edit{At: now, Author: access.Author(ctx), Note: wish.Note})
	if err != nil {
		return job.Pause{}, err
	}
	c.index.pauses.put(group, hold)
	changed := was.Paused != hold.Paused || !was.Until.Equal(hold.Until)
	return hold, auditlog.Describe(ctx, changed, wish.Note, pauseFields(was.Paused, was.Until), pauseFields(hold.Paused, hold.Until))
}
