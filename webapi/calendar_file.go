package webapi

import (
	"context"
	"time"

	"carillon/internal/ical"
	"carillon/job"
	"carillon/webapi/problem"
)

// ReadCalendarFile answers POST /import/calendar.
func (h *handlers) ReadCalendarFile(_ context.Context, r ReadCalendarFileRequestObject) (ReadCalendarFileResponseObject, error) {
	year := time.Now().UTC().Year()
	c, err := ical.Import([]byte(r.Body.Text), ical.Options{
		Zone: r.Body.Zone, From: time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC), Years: r.Body.Years,
	})
	if err != nil {
		return nil, err
	}
	answer := CalendarFileRead{
		Title: c.Title, Zone: c.Zone, Dates: c.Dates, Windows: c.Windows, Until: c.Until, Events: make([]CalendarFileEvent, 0, len(c.Events)),
	}
	if answer.Windows == nil {
		answer.Windows = []job.Window{}
	}
	for _, e := range c.Events {
		item := CalendarFileEvent{Line: e.Line, Title: e.Title, Outcome: CalendarFileEventOutcome(e.Outcome), Dates: e.Dates, Reason: string(e.Reason), Note: e.Note}
		if item.Dates == nil {
			item.Dates = []string{}
		}
		for _, w := range e.Windows {
			item.Days = w.Days
		}
		answer.Events = append(answer.Events, item)
	}
	return ReadCalendarFile200JSONResponse(answer), nil
}

// PreviewCalendar answers POST /calendars/{calendar}/preview.
func (h *handlers) PreviewCalendar(ctx context.Context, r PreviewCalendarRequestObject) (PreviewCalendarResponseObject, error) {
	if r.Body.Calendar != r.Calendar {
		return nil, problem.Invalid("calendar", "must be as in the path")
	}
	preview, err := h.catalog.PreviewCalendar(ctx, *r.Body)
	return PreviewCalendar200JSONResponse(preview), err
}
