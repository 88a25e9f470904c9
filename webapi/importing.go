package webapi

import (
	"cmp"
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/internal/crontab"
	"github.com/carillon-scheduler/carillon/internal/ical"
	"github.com/carillon-scheduler/carillon/internal/xxljob"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// importHandlers answer requests about files of other schedulers, which it only reads.
type importHandlers struct{}

// ReadCrontab answers POST /import/crontab. The jobs' working directories are left to
// the executors: the homes of this machine's users are not theirs.
func (h *importHandlers) ReadCrontab(ctx context.Context, r ReadCrontabRequestObject) (*CrontabLines, error) {
	text := []byte(r.Body.Text)
	o := crontab.Options{Group: cmp.Or(r.Body.Group, "default"), Zone: cmp.Or(r.Body.Zone, "UTC")}
	if r.Body.System != nil {
		o.System = *r.Body.System
	} else {
		var err error
		if o.System, err = crontab.IsSystem("", text); err != nil {
			return nil, err
		}
	}
	lines, err := crontab.Import(ctx, text, o)
	if err != nil {
		return nil, err
	}
	answer := CrontabLines{Items: make([]CrontabLine, 0, len(lines))}
	for _, l := range lines {
		item := CrontabLine{Line: l.Number, Text: l.Text, Outcome: CrontabLineOutcome(l.Outcome), Note: reason.Text(l.Note)}
		if l.Outcome == crontab.Imported {
			item.Job = &l.Job
		}
		answer.Items = append(answer.Items, item)
	}
	return &answer, nil
}

// ReadXXLJob answers POST /import/xxl-job.
func (h *importHandlers) ReadXXLJob(ctx context.Context, r ReadXXLJobRequestObject) (*XXLJobEntries, error) {
	entries, err := xxljob.Import(ctx, []byte(r.Body.Text), xxljob.Options{Group: r.Body.Group, Zone: cmp.Or(r.Body.Zone, "UTC"), Workflows: r.Body.Workflows})
	if err != nil {
		return nil, err
	}
	answer := XXLJobEntries{Items: make([]XXLJobEntry, 0, len(entries))}
	for _, e := range entries {
		item := XXLJobEntry{ID: e.ID, Line: e.Line, Title: e.Title, Outcome: XXLJobEntryOutcome(e.Outcome), Note: reason.Text(e.Note), Origin: e.Origin}
		if e.Outcome == xxljob.Imported {
			item.Job = &e.Job
		}
		answer.Items = append(answer.Items, item)
	}
	return &answer, nil
}

// ReadCalendarFile answers POST /import/calendar.
func (h *importHandlers) ReadCalendarFile(ctx context.Context, r ReadCalendarFileRequestObject) (*CalendarFileRead, error) {
	year := time.Now().UTC().Year()
	c, err := ical.Import(ctx, []byte(r.Body.Text), ical.Options{
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
		item := CalendarFileEvent{Line: e.Line, Title: e.Title, Outcome: CalendarFileEventOutcome(e.Outcome), Dates: e.Dates, Reason: string(e.Reason), Note: reason.Text(e.Note)}
		if item.Dates == nil {
			item.Dates = []string{}
		}
		for _, w := range e.Windows {
			item.Days = w.Days
		}
		answer.Events = append(answer.Events, item)
	}
	return &answer, nil
}
