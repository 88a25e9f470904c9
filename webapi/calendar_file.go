package webapi

import (
	"cmp"
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

// Bounds of a calendar's preview; the contract states them.
const (
	affectedFor   = 366 * 24 * time.Hour
	affectedJobs  = 500
	affectedFires = 5
)

// PreviewCalendar answers POST /calendars/{calendar}/preview.
func (h *handlers) PreviewCalendar(ctx context.Context, r PreviewCalendarRequestObject) (PreviewCalendarResponseObject, error) {
	if r.Body.Calendar != r.Calendar {
		return nil, problem.Invalid("calendar", "must be as in the path")
	}
	preview, err := h.previewCalendar(ctx, *r.Body)
	return PreviewCalendar200JSONResponse(preview), err
}

// previewCalendar returns the fires that saving a calendar would affect.
func (h *handlers) previewCalendar(ctx context.Context, wish job.Calendar) (CalendarPreview, error) {
	wish.Zone = cmp.Or(wish.Zone, "UTC")
	set, err := wish.Compile()
	if err != nil {
		return CalendarPreview{}, err
	}
	from := time.Now().UTC().Truncate(time.Millisecond)
	a := affected{
		calendar: wish.Calendar, now: newForecast(h.conn, from), then: newForecast(h.conn, from), left: maxCounted,
		CalendarPreview: CalendarPreview{From: from, To: from.Add(affectedFor), Jobs: []AffectedJob{}, Complete: true},
	}
	a.then.sets[wish.Calendar] = set
	err = h.index.eachPlan(ctx, query{firing: true}, func(name job.Name, plan job.Plan) bool {
		return a.add(ctx, name, plan)
	})
	if err = cmp.Or(err, a.err); err != nil {
		return CalendarPreview{}, problem.Explain(err, "the jobs are not loaded yet")
	}
	return a.CalendarPreview, nil
}
