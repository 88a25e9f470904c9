package bulk

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// pauses are the switches that pause groups, and everything, as one request sees them.
type pauses struct {
	now    time.Time
	all    job.Pause
	groups map[string]job.Pause
}

func (m *Bulk) pauses(ctx context.Context) (p pauses, err error) {
	p.now = time.Now()
	if p.all, err = m.conn.Pauses().Get(ctx, ""); err != nil {
		return p, err
	}
	p.groups, err = m.conn.Pauses().OfGroups(ctx)
	return p, err
}

// of returns why a job is paused; "" if it is not.
func (p pauses) of(j *job.Job) string {
	switch group := j.Job.Group(); {
	case j.PausedAt(p.now):
		return reason.JobPaused.String()
	case p.groups[group].At(p.now).Paused:
		return reason.GroupPaused.With(group)
	case p.all.At(p.now).Paused:
		return reason.EverythingPaused.String()
	}
	return ""
}
