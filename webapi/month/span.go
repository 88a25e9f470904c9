package month

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/logstore"
)

const (
	layout    = "2006-01"
	firstYear = 2000
)

// span is a calendar month in a zone.
type span struct {
	first time.Time // midnight UTC of its first date
	zone  *time.Location
}

// parseSpan reads a month that has begun. Errors: job.ErrInvalid, also for a month that lies so far
// back that its days, or those of the month before, are not known in the zone.
func parseSpan(month string, zone *time.Location, now time.Time) (span, error) {
	first, err := time.Parse(layout, month)
	last := now.In(zone).Format(layout)
	if err != nil || first.Year() < firstYear || month > last {
		return span{}, job.Invalid("month", "%s", refusal.MonthOfReport.With(time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC).Format(layout), last))
	}
	m := span{first, zone}
	before := m.before().filter()
	if before.CheckDays(now) != nil {
		return span{}, job.Invalid("month", "%s", refusal.MonthOfZone.With(now.Add(-logstore.HoursKept).UTC().Format(time.DateOnly)))
	}
	return m, nil
}

// before returns the month before.
func (m span) before() span { return span{m.first.AddDate(0, -1, 0), m.zone} }

// filter returns the report of the month. It begins and ends at noon, which every day has, and
// reports cover whole days.
func (m span) filter() logstore.ReportFilter {
	noon := func(date time.Time) time.Time {
		return time.Date(date.Year(), date.Month(), date.Day(), 12, 0, 0, 0, m.zone)
	}
	f := logstore.ReportFilter{From: noon(m.first), To: noon(m.first.AddDate(0, 1, -1)), Zone: m.zone, Limit: logstore.MaxReportRows}
	if m.zone == time.UTC {
		f.Zone = nil
	}
	return f
}

// bounds returns when the month begins and ends.
func (m span) bounds() (from, to time.Time) {
	whole := m.filter().WithDefaults()
	return whole.From.UTC(), whole.To.UTC()
}
