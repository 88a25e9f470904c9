package shard

import (
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
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
