package webapi

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// calendarHandlers answer requests about calendars.
type calendarHandlers struct {
	conn    *cluster.Conn
	catalog *catalog.Catalog
}

// ListCalendars answers GET /calendars.
func (h *calendarHandlers) ListCalendars(ctx context.Context, _ ListCalendarsRequestObject) (*CalendarList, error) {
	versions, err := h.conn.Calendars().Versions(ctx)
	if err != nil {
		return nil, err
	}
	newest := map[string]*cluster.CalendarEntry{}
	for _, v := range versions { // oldest first
		newest[v.Calendar.Calendar] = v
	}
	list := CalendarList{Items: []CalendarItem{}}
	for _, v := range newest {
		if !v.Deleted {
			list.Items = append(list.Items, CalendarItem{Definition: v.CalendarVersion, Revision: v.Revision})
		}
	}
	slices.SortFunc(list.Items, func(a, b CalendarItem) int {
		return strings.Compare(a.Definition.Calendar.Calendar, b.Definition.Calendar.Calendar)
	})
	return &list, nil
}

// GetCalendar answers GET /calendars/{calendar}.
func (h *calendarHandlers) GetCalendar(ctx context.Context, r GetCalendarRequestObject) (*answer[CalendarItem], error) {
	if err := job.CheckSlug("calendar", r.Calendar); err != nil {
		return nil, err
	}
	entry, err := h.conn.Calendars().Get(ctx, r.Calendar)
	if err != nil {
		return nil, err
	}
	return &answer[CalendarItem]{
		Body: CalendarItem{Definition: entry.CalendarVersion, Revision: entry.Revision},
		ETag: etag(entry.Revision),
	}, nil
}

// PutCalendar answers PUT /calendars/{calendar}.
func (h *calendarHandlers) PutCalendar(ctx context.Context, r PutCalendarRequestObject) (*answer[CalendarItem], error) {
	wish := *r.Body
	if wish.Zone == "" {
		wish.Zone = "UTC" // as job.DecodeCalendar has it, by which the document was checked
	}
	if wish.Calendar != r.Calendar {
		return nil, job.Invalid("calendar", "%q must be %q, as in the path", wish.Calendar, r.Calendar)
	}
	edit, err := editOf(access.Author(ctx), "", r.Params.IfMatch, r.Params.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	var before any
	if was, err := h.conn.Calendars().Get(ctx, r.Calendar); err == nil {
		before = was.Calendar
	} else if !errors.Is(err, job.ErrNotFound) {
		return nil, err
	}
	entry, changed, err := h.conn.Calendars().Put(ctx, wish, edit)
	if err != nil {
		return nil, problem.Conditional(edit, err)
	}
	if err := auditlog.Describe(ctx, changed, "", before, entry.Calendar); err != nil {
		return nil, err
	}
	return &answer[CalendarItem]{
		Body: CalendarItem{Definition: entry.CalendarVersion, Revision: entry.Revision},
		ETag: etag(entry.Revision),
	}, nil
}

// DeleteCalendar answers DELETE /calendars/{calendar}.
func (h *calendarHandlers) DeleteCalendar(ctx context.Context, r DeleteCalendarRequestObject) (*none, error) {
	if err := job.CheckSlug("calendar", r.Calendar); err != nil {
		return nil, err
	}
	edit, err := editOf(access.Author(ctx), "", r.Params.IfMatch, "")
	if err != nil {
		return nil, err
	}
	if err := h.catalog.DeleteCalendar(ctx, r.Calendar, edit); err != nil {
		return nil, problem.Conditional(edit, err)
	}
	return &none{}, nil
}

// PreviewCalendar answers POST /calendars/{calendar}/preview.
func (h *calendarHandlers) PreviewCalendar(ctx context.Context, r PreviewCalendarRequestObject) (*CalendarPreview, error) {
	if r.Body.Calendar != r.Calendar {
		return nil, job.Invalid("calendar", "must be as in the path")
	}
	preview, err := h.catalog.PreviewCalendar(ctx, *r.Body)
	return &preview, err
}
