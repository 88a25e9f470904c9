package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// CalendarEntry is a version of a calendar as the bucket holds it.
type CalendarEntry struct {
	job.CalendarVersion
	Revision uint64
}

// Calendars are the calendars that schedules name, each with its versions.
type Calendars struct{ conn *Conn }

// Calendars returns the calendars that the cluster keeps.
func (c *Conn) Calendars() Calendars { return Calendars{c} }

var kindCalendar = jet.Kind[job.CalendarVersion]{
	Bucket: bus.BucketCalendar,
	Name:   func(key string) string { return "calendar " + key },
	Decode: func(key string, data []byte) (job.CalendarVersion, error) {
		v, err := DecodeCalendarVersion(data)
		if err != nil {
			return job.CalendarVersion{}, fmt.Errorf("calendar at key %s: %w", key, err)
		}
		return *v, nil
	},
}

// Put saves cal as the calendar's next version; see [Jobs.Put].
func (cs Calendars) Put(ctx context.Context, cal job.Calendar, e Edit) (entry *CalendarEntry, changed bool, err error) {
	return cs.edit(ctx, cal.Calendar, e, func(v *job.CalendarVersion, exists bool) (changed bool, err error) {
		changed = !exists || !reflect.DeepEqual(v.Calendar, cal)
		v.Calendar, v.Deleted = cal, false
		return changed, nil
	})
}

// Delete ends a calendar. Callers see to it that no job names it: its schedule would treat it as
// empty. Errors: job.ErrNotFound, job.ErrConflict, job.ErrUnavailable.
func (cs Calendars) Delete(ctx context.Context, name string, e Edit) error {
	_, _, err := cs.edit(ctx, name, e, func(v *job.CalendarVersion, exists bool) (changed bool, err error) {
		if !exists {
			return false, fmt.Errorf("%w: %s", job.ErrNotFound, kindCalendar.Name(name))
		}
		v.Deleted = true
		return true, nil
	})
	return err
}

// edit stores what change makes of a calendar's present version as its next one. change reports whether
// it has changed anything.
func (cs Calendars) edit(ctx context.Context, name string, e Edit, change func(v *job.CalendarVersion, exists bool) (changed bool, err error)) (entry *CalendarEntry, changed bool, err error) {
	revision, err := kindCalendar.On(cs.conn.Conn).Edit(ctx, name, func(v *job.CalendarVersion, revision uint64) (bool, error) {
		was := *v
		exists := revision != 0 && !was.Deleted
		if changed, err = change(v, exists); err != nil {
			return false, err
		}
		if err := e.Check(kindCalendar.Name(name), exists, revision); err != nil {
			return false, err
		}
		if changed {
			v.Version, v.Author, v.EffectiveFrom = was.Version+1, e.Author, e.after(was.EffectiveFrom)
		}
		entry = &CalendarEntry{CalendarVersion: *v}
		return changed, nil
	})
	if err != nil {
		return nil, false, err
	}
	entry.Revision = revision
	return entry, changed, nil
}

// Get returns a calendar's present version. Errors: job.ErrNotFound,
// job.ErrUnavailable.
func (cs Calendars) Get(ctx context.Context, name string) (*CalendarEntry, error) {
	v, revision, err := kindCalendar.On(cs.conn.Conn).Read(ctx, name)
	if err != nil {
		return nil, err
	}
	if v.Deleted {
		return nil, fmt.Errorf("%w: %s", job.ErrNotFound, kindCalendar.Name(name))
	}
	return &CalendarEntry{CalendarVersion: v, Revision: revision}, nil
}

// Versions returns every version of every calendar that is kept, tombstones
// included, oldest first for each.
func (cs Calendars) Versions(ctx context.Context) ([]*CalendarEntry, error) {
	var all []*CalendarEntry
	err := cs.conn.Entries(ctx, bus.BucketCalendar, ">", true, func(e jetstream.KeyValueEntry) error {
		v, err := kindCalendar.Decode(e.Key(), e.Value())
		all = append(all, &CalendarEntry{CalendarVersion: v, Revision: e.Revision()})
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Watch follows all calendars; see [Jobs.Watch]. Entries are read by
// DecodeCalendarVersion.
func (cs Calendars) Watch(ctx context.Context) (jetstream.KeyWatcher, error) {
	return cs.conn.Watch(ctx, bus.BucketCalendar, []string{">"}, true, 0)
}

// DecodeCalendarVersion reads what the bucket holds for a calendar. The error is an
// *InvalidError.
func DecodeCalendarVersion(data []byte) (*job.CalendarVersion, error) {
	v := &job.CalendarVersion{}
	if err := json.Unmarshal(data, v); err != nil {
		return nil, &job.InvalidError{Field: "calendar", Reason: fmt.Sprintf("is damaged: %v", err)}
	}
	return v, nil
}
