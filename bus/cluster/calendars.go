package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
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

// Put saves cal as the calendar's next version; see [Jobs.Put].
func (cs Calendars) Put(ctx context.Context, cal job.Calendar, e Edit) (entry *CalendarEntry, changed bool, err error) {
	return cs.write(ctx, cal.Calendar, e, func(v *job.CalendarVersion) bool {
		same := !v.Deleted && reflect.DeepEqual(v.Calendar, cal)
		v.Calendar, v.Deleted = cal, false
		return same
	})
}

// Delete ends a calendar. Callers see to it that no job names it: its schedule would treat it as
// empty. Errors: job.ErrNotFound, job.ErrConflict, job.ErrUnavailable.
func (cs Calendars) Delete(ctx context.Context, name string, e Edit) error {
	if _, err := cs.Get(ctx, name); err != nil {
		return err
	}
	_, _, err := cs.write(ctx, name, e, func(v *job.CalendarVersion) bool {
		same := v.Deleted
		v.Deleted = true
		return same
	})
	return err
}

func (cs Calendars) write(ctx context.Context, name string, e Edit, change func(*job.CalendarVersion) (same bool)) (*CalendarEntry, bool, error) {
	kv, err := cs.conn.Bucket(ctx, bus.BucketCalendar)
	if err != nil {
		return nil, false, err
	}
	for {
		was := &CalendarEntry{}
		stored, err := cs.conn.Entry(ctx, bus.BucketCalendar, name)
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			was.Deleted = true
		case err != nil:
			return nil, false, fmt.Errorf("read calendar %s: %w", name, err)
		default:
			if was, err = decodeCalendarEntry(stored); err != nil {
				return nil, false, err
			}
		}
		if e.IfAbsent && !was.Deleted || e.IfRevision != 0 && was.Revision != e.IfRevision {
			return nil, false, fmt.Errorf("%w: %s", job.ErrConflict, reason.NotAtRevision.With("calendar "+name, e.IfRevision))
		}
		next := &CalendarEntry{CalendarVersion: was.CalendarVersion}
		if change(&next.CalendarVersion) {
			return was, false, nil
		}
		next.Version, next.Author = was.Version+1, e.Author
		next.EffectiveFrom = e.At.UTC().Truncate(time.Millisecond)
		if !next.EffectiveFrom.After(was.EffectiveFrom) {
			next.EffectiveFrom = was.EffectiveFrom.Add(time.Millisecond)
		}
		data, err := json.Marshal(next.CalendarVersion)
		if err != nil {
			return nil, false, fmt.Errorf("encode calendar %s: %w", name, err)
		}
		if was.Revision == 0 {
			next.Revision, err = kv.Create(ctx, name, data)
		} else {
			next.Revision, err = kv.Update(ctx, name, data, was.Revision)
		}
		switch {
		case err == nil:
			return next, true, nil
		case !jet.LostRace(err):
			return nil, false, fmt.Errorf("write calendar %s: %w", name, jet.Unavailable(err))
		case e.IfRevision != 0 || e.IfAbsent:
			return nil, false, fmt.Errorf("%w: %s", job.ErrConflict, reason.ChangedJustNow.With("calendar "+name))
		}
	}
}

// Get returns a calendar's present version. Errors: job.ErrNotFound,
// job.ErrUnavailable.
func (cs Calendars) Get(ctx context.Context, name string) (*CalendarEntry, error) {
	stored, err := cs.conn.Entry(ctx, bus.BucketCalendar, name)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, fmt.Errorf("%w: calendar %s", job.ErrNotFound, name)
	}
	if err != nil {
		return nil, fmt.Errorf("read calendar %s: %w", name, err)
	}
	entry, err := decodeCalendarEntry(stored)
	if err == nil && entry.Deleted {
		return nil, fmt.Errorf("%w: calendar %s", job.ErrNotFound, name)
	}
	return entry, err
}

// Versions returns every version of every calendar that is kept, tombstones
// included, oldest first for each.
func (cs Calendars) Versions(ctx context.Context) ([]*CalendarEntry, error) {
	var all []*CalendarEntry
	err := cs.conn.Entries(ctx, bus.BucketCalendar, ">", true, func(e jetstream.KeyValueEntry) error {
		entry, err := decodeCalendarEntry(e)
		all = append(all, entry)
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

func decodeCalendarEntry(e jetstream.KeyValueEntry) (*CalendarEntry, error) {
	v, err := DecodeCalendarVersion(e.Value())
	if err != nil {
		return nil, fmt.Errorf("calendar at key %s: %w", e.Key(), err)
	}
	return &CalendarEntry{CalendarVersion: *v, Revision: e.Revision()}, nil
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
