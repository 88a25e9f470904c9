package shard

import (
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Cluster is what concerns all shards alike: calendars, pauses, instances, and room for runs.
type Cluster struct {
	calendars map[string][]calendar
	pauses    map[string][]setting         // by group, "" for everything
	instances map[string][]*fleet.Instance // online, by group
	governed  map[string]bool              // groups
	room      *Room                        // nil: there is room for all

	reservedSince int64 // since when no run may begin, while that is so
}

func newCluster() *Cluster {
	return &Cluster{
		calendars: map[string][]calendar{}, pauses: map[string][]setting{}, instances: map[string][]*fleet.Instance{}, governed: map[string]bool{},
	}
}

// setting is a position of a switch that pauses the fires of all jobs, or of those of a group.
type setting struct {
	from   int64
	until  int64 // a pause that ends does so here; 0: it does not
	paused bool
}

// pauseScope says which switch pauses the fires of a job.
type pauseScope int

const (
	nonePaused pauseScope = iota
	allPaused
	groupPaused
)

// calendar is one version of a calendar.
type calendar struct {
	from    int64
	deleted bool
	dates   *job.DateSet
}

// PutHold sets the switch that pauses an executor group, or everything if group is empty. The
// settings of one switch come in order.
func (c *Cluster) PutHold(group string, h job.Pause) {
	from, known := h.EffectiveFrom.UnixMilli(), c.pauses[group]
	if n := len(known); n > 0 && known[n-1].from >= from {
		return
	}
	next := setting{from: from, paused: h.Paused}
	if !h.Until.IsZero() {
		next.until = h.Until.UnixMilli()
	}
	c.pauses[group] = latest(append(known, next), bus.HoldHistory)
}

// PutCalendar enters a version of a calendar; versions come in order. The error is an
// *InvalidError.
func (c *Cluster) PutCalendar(v *job.CalendarVersion) error {
	next := calendar{from: v.EffectiveFrom.UnixMilli(), deleted: v.Deleted}
	versions := c.calendars[v.Calendar.Calendar]
	if n := len(versions); n > 0 && versions[n-1].from >= next.from {
		return nil
	}
	var err error
	if next.dates, err = v.Compile(); err != nil {
		return err
	}
	c.calendars[v.Calendar.Calendar] = latest(append(versions, next), bus.CalendarHistory)
	return nil
}

// PutGroup enters whether a group is governed: its triggers go to a dispatcher by priority,
// otherwise where their routes lead.
func (c *Cluster) PutGroup(group string, governed bool) { c.governed[group] = governed }

// latest returns the last n of list: as many as the bucket keeps, and so as a successor
// would hear of.
func latest[T any](list []T, n int) []T {
	return slices.Delete(list, 0, max(len(list)-n, 0))
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
