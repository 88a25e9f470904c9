package shard

import (
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// excluded returns why a fire, at the given instant, of a job of the group with this plan is
// to be skipped, or "".
func (c *Cluster) excluded(group string, p *job.Plan, at int64) string {
	why := c.whyPaused(group, p, at)
	if why == "" {
		why = p.WhyOff(at)
	}
	if why != "" && p.Shift == "" {
		return why
	}
	shut := c.shut(p, at, at)
	if why == "" {
		why = shut
	}
	// A fire that moves says so whatever else keeps it from running: it may run on the other day.
	if shut == "" || !p.Moves(at, func(other int64) bool { return c.shut(p, at, other) == "" }) {
		return why
	}
	return reason.Join(why, reason.Shifts(p.Shift == job.ShiftNext))
}

// whyPaused returns why a job of the group, with this plan, was paused at an instant, or "".
func (c *Cluster) whyPaused(group string, p *job.Plan, at int64) string {
	if why := p.WhyPaused(at); why != "" {
		return why
	}
	switch c.pausedBy(group, at) {
	case allPaused:
		return reason.EverythingPaused.String()
	case groupPaused:
		return reason.GroupPaused.With(group)
	case nonePaused:
	}
	return ""
}

// pausedBy returns which switch paused the fires of a group's jobs at an instant.
func (c *Cluster) pausedBy(group string, at int64) pauseScope {
	switch {
	case len(c.pauses) == 0:
		return nonePaused
	case pausedAt(c.pauses[""], at):
		return allPaused
	case pausedAt(c.pauses[group], at):
		return groupPaused
	}
	return nonePaused
}

// pausedAt reports whether a switch with these settings was on at an instant.
func pausedAt(settings []setting, at int64) bool {
	for _, v := range slices.Backward(settings) {
		if v.from < at {
			return v.paused && (v.until == 0 || at < v.until)
		}
	}
	return false
}

// lands returns what becomes of an instant of a plan's schedule, by its calendars as they were
// then, and why it fires if that is because of another day.
func (c *Cluster) lands(p *job.Plan, at int64) (job.Landing, string) {
	if p.Shift == "" {
		return job.LandsHere, ""
	}
	l, from := p.Lands(at, func(other int64) bool { return c.shut(p, at, other) == "" })
	if l != job.LandsFrom {
		return l, ""
	}
	return l, reason.ShiftedFrom.With(instant(from).Format(time.RFC3339))
}

// shut returns why a plan's calendars, as they were at an instant, exclude a fire at another one,
// or "".
func (c *Cluster) shut(p *job.Plan, asOf, at int64) string {
	for _, name := range p.Except {
		if dates := c.calendarAt(name, asOf); dates != nil && dates.Contains(at) {
			return reason.CalendarExcludes.With(name)
		}
	}
	if len(p.Only) == 0 {
		return ""
	}
	for _, name := range p.Only {
		if dates := c.calendarAt(name, asOf); dates != nil && dates.Contains(at) {
			return ""
		}
	}
	if len(p.Only) == 1 {
		return reason.CalendarOmits.With(p.Only[0])
	}
	return reason.CalendarsOmit.String()
}

// calendarAt returns the calendar as it was at an instant, or nil when there was none.
func (c *Cluster) calendarAt(name string, at int64) *job.DateSet {
	versions := c.calendars[name]
	for _, version := range slices.Backward(versions) {
		if version.from < at {
			if version.deleted {
				return nil
			}
			return version.dates
		}
	}
	// A calendar that came after the fire: better its first version than none.
	if len(versions) > 0 && !versions[0].deleted {
		return versions[0].dates
	}
	return nil
}
