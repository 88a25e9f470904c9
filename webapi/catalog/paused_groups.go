package catalog

import (
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// pauses are the switches that pause groups, as the index has heard of them.
type pauses struct {
	mu sync.RWMutex // guards of
	of map[string]job.Pause
}

// put takes in how the switch for a group is, unless it has been turned since.
func (p *pauses) put(group string, hold job.Pause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if hold.EffectiveFrom.Before(p.of[group].EffectiveFrom) {
		return
	}
	if p.of == nil {
		p.of = map[string]job.Pause{}
	}
	p.of[group] = hold
}

// now returns the groups that are paused at an instant.
func (p *pauses) now(at time.Time) pausedGroups {
	p.mu.RLock()
	defer p.mu.RUnlock()
	paused := pausedGroups{}
	for group, hold := range p.of {
		if hold = hold.At(at); hold.Paused && group != "" {
			paused[group] = hold
		}
	}
	return paused
}

// pausedGroups are the groups that are paused, as one request sees them.
type pausedGroups map[string]job.Pause

// skips reports whether a fire of a group at an instant, in Unix milliseconds, would be skipped.
func (p pausedGroups) skips(group string, at int64) bool {
	hold := p[group]
	return hold.Paused && at > hold.EffectiveFrom.UnixMilli() && (hold.Until.IsZero() || at < hold.Until.UnixMilli())
}

// why says that a group is paused, and until when; "" if it is not.
func (p pausedGroups) why(group string) reason.Text {
	switch hold := p[group]; {
	case !hold.Paused:
		return ""
	case hold.Until.IsZero():
		return reason.Text(reason.GroupPaused.With(group))
	default:
		return reason.Text(reason.GroupPausedUntil.With(group, hold.Until))
	}
}

// from returns the first instant at or after the given one at which a group is not paused, in
// Unix milliseconds; ok is false if it is paused for good.
func (p pausedGroups) from(group string, at int64) (from int64, ok bool) {
	hold := p[group]
	if hold.Paused && !hold.Until.IsZero() {
		return max(at, hold.Until.UnixMilli()), true
	}
	return at, !hold.Paused
}
