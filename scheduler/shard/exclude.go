package shard

import (
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// pauseOfAll is one position of the switch for everything.
type pauseOfAll struct {
	from   int64
	until  int64 // a pause that ends does so here; 0: it does not
	paused bool
}

// calendar is one version of a calendar.
type calendar struct {
	from    int64
	deleted bool
	dates   *job.DateSet
}

// PutHold tells of the switch for everything, its positions in order.
func (m *Machine) PutHold(h job.GlobalPause) {
	from := h.EffectiveFrom.UnixMilli()
	if n := len(m.cluster.pauses); n > 0 && m.cluster.pauses[n-1].from >= from {
		return
	}
	next := pauseOfAll{from: from, paused: h.Paused}
	if !h.Until.IsZero() {
		next.until = h.Until.UnixMilli()
	}
	m.cluster.pauses = latest(append(m.cluster.pauses, next), bus.HoldHistory)
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

// held reports whether everything was paused at an instant.
func (m *Machine) held(at int64) bool {
	for _, v := range slices.Backward(m.cluster.pauses) {
		if v.from < at {
			return v.paused && (v.until == 0 || at < v.until)
		}
	}
	return false
}

// excluded returns why a fire of the plan at the given instant is to be skipped, or "".
func (m *Machine) excluded(p *job.Plan, at int64) string {
	if why := p.WhyPaused(at); why != "" {
		return why
	}
	if m.held(at) {
		return reason.EverythingPaused.String()
	}
	if why := p.WhyOff(at); why != "" {
		return why
	}
	for _, name := range p.Except {
		if dates := m.calendarAt(name, at); dates != nil && dates.Contains(at) {
			return reason.CalendarExcludes.With(name)
		}
	}
	if len(p.Only) == 0 {
		return ""
	}
	for _, name := range p.Only {
		if dates := m.calendarAt(name, at); dates != nil && dates.Contains(at) {
			return ""
		}
	}
	if len(p.Only) == 1 {
		return reason.CalendarOmits.With(p.Only[0])
	}
	return reason.CalendarsOmit.String()
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
