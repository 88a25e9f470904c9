package shard

import (
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// setting is how somebody set a switch that pauses the fires of all jobs, or of those of a group.
type setting struct {
	from   int64
	until  int64 // a pause that ends does so here; 0: it does not
	paused bool
}

// held says which switch pauses the fires of a job.
type held int

const (
	notHeld held = iota
	heldAll
	heldGroup
)

// calendar is one version of a calendar.
type calendar struct {
	from    int64
	deleted bool
	dates   *job.DateSet
}

// PutHold sets the switch that pauses an executor group, or everything if group is empty. The
// settings of one switch come in order.
func (m *Machine) PutHold(group string, h job.Pause) {
	from, known := h.EffectiveFrom.UnixMilli(), m.cluster.pauses[group]
	if n := len(known); n > 0 && known[n-1].from >= from {
		return
	}
	next := setting{from: from, paused: h.Paused}
	if !h.Until.IsZero() {
		next.until = h.Until.UnixMilli()
	}
	m.cluster.pauses[group] = latest(append(known, next), bus.HoldHistory)
}

// PutCalendar tells of a calendar's version, versions in order. The error is an
// *InvalidError.
func (m *Machine) PutCalendar(v *job.CalendarVersion) error {
	c := calendar{from: v.EffectiveFrom.UnixMilli(), deleted: v.Deleted}
	versions := m.cluster.calendars[v.Calendar.Calendar]
	if n := len(versions); n > 0 && versions[n-1].from >= c.from {
		return nil
	}
	var err error
	if c.dates, err = v.Compile(); err != nil {
		return err
	}
	m.cluster.calendars[v.Calendar.Calendar] = latest(append(versions, c), bus.CalendarHistory)
	return nil
}

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

// held returns which switch paused the fires of a group's jobs at an instant.
func (m *Machine) held(group string, at int64) held {
	switch {
	case len(m.cluster.pauses) == 0:
		return notHeld
	case pausedAt(m.cluster.pauses[""], at):
		return heldAll
	case pausedAt(m.cluster.pauses[group], at):
		return heldGroup
	}
	return notHeld
}

// whyPaused returns why a job of the group, with this plan, was paused at an instant, or "".
func (m *Machine) whyPaused(group string, p *job.Plan, at int64) string {
	if why := p.WhyPaused(at); why != "" {
		return why
	}
	switch m.held(group, at) {
	case heldAll:
		return reason.EverythingPaused.String()
	case heldGroup:
		return reason.GroupPaused.With(group)
	case notHeld:
	}
	return ""
}

// excluded returns why a fire, at the given instant, of a job of the group with this plan is
// to be skipped, or "".
func (m *Machine) excluded(group string, p *job.Plan, at int64) string {
	why := m.whyPaused(group, p, at)
	if why == "" {
		why = p.WhyOff(at)
	}
	if why != "" && p.Shift == "" {
		return why
	}
	shut := m.shut(p, at, at)
	if why == "" {
		why = shut
	}
	// A fire that moves says so whatever else keeps it from running: it may run on the other day.
	if shut == "" || !p.Moves(at, func(other int64) bool { return m.shut(p, at, other) == "" }) {
		return why
	}
	return reason.Join(why, reason.Shifts(p.Shift == job.ShiftNext))
}

// shut returns why a plan's calendars, as they were at an instant, exclude a fire at another one,
// or "".
func (m *Machine) shut(p *job.Plan, asOf, at int64) string {
	for _, name := range p.Except {
		if dates := m.calendarAt(name, asOf); dates != nil && dates.Contains(at) {
			return reason.CalendarExcludes.With(name)
		}
	}
	if len(p.Only) == 0 {
		return ""
	}
	for _, name := range p.Only {
		if dates := m.calendarAt(name, asOf); dates != nil && dates.Contains(at) {
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
func (m *Machine) lands(p *job.Plan, at int64) (job.Landing, string) {
	if p.Shift == "" {
		return job.LandsHere, ""
	}
	l, from := p.Lands(at, func(other int64) bool { return m.shut(p, at, other) == "" })
	if l != job.LandsFrom {
		return l, ""
	}
	return l, reason.ShiftedFrom.With(instant(from).Format(time.RFC3339))
}

// calendarAt returns the calendar as it was at an instant, or nil when there was none.
func (m *Machine) calendarAt(name string, at int64) *job.DateSet {
	versions := m.cluster.calendars[name]
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
