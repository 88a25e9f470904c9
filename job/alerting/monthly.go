package alerting

import (
	"errors"
	"net/url"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// Monthly says that a channel mails a report of each month: of all jobs, or those of a group, an owner
// and a tag.
type Monthly struct {
	// Day of the next month on which the report is sent, at [hourOfReport] in the channel's zone.
	Day   int    `json:"day,omitempty"`
	Group string `json:"group,omitempty"`
	Owner string `json:"owner,omitempty"`
	Tag   string `json:"tag,omitempty"`
}

const (
	hourOfReport = 8
	lastDay      = 28 // every month has it
	// reportedLate is how late a report is still sent, such as after an outage.
	reportedLate = 7 * 24 * time.Hour
	monthLayout  = "2006-01"
)

func (m *Monthly) validate() error {
	var errs []error
	if m.Day < 1 || m.Day > lastDay {
		errs = append(errs, job.Invalid("month_report.day", "%d must be between 1 and %d", m.Day, lastDay))
	}
	if m.Group != "" {
		errs = append(errs, job.CheckSlug("month_report.group", m.Group))
	}
	for field, text := range map[string]string{"owner": m.Owner, "tag": m.Tag} {
		if len(text) > MaxText {
			errs = append(errs, job.Invalid("month_report."+field, "is longer than %d bytes", MaxText))
		}
	}
	return errors.Join(errs...)
}

// Due returns the month whose report is to be sent by now, as in 2026-10; "" if there is none. It stays
// the same until [reportedLate] has passed.
func (m *Monthly) Due(now time.Time, zone *time.Location) string {
	year, month, _ := now.In(zone).Date()
	at := func(month time.Month) time.Time {
		return time.Date(year, month, m.Day, hourOfReport, 0, 0, 0, zone)
	}
	due := at(month)
	if now.Before(due) {
		month--
		due = at(month)
	}
	if now.Sub(due) > reportedLate {
		return ""
	}
	return time.Date(year, month-1, 1, 0, 0, 0, 0, time.UTC).Format(monthLayout)
}

// Report is what a mail about a month says.
type Report struct {
	Text string `json:"text"` // in the language of its channel
	Path string `json:"path"` // of its page in the console
}

// NewReport returns an incident whose only purpose is a report of a month, as Due has it, without its
// text. The id follows from the channel and the month alone.
func NewReport(c *Channel, month string, now time.Time) (*Incident, error) {
	first, err := time.Parse(monthLayout, month)
	if err != nil {
		return nil, job.Invalid("month", "%q must be a month such as 2026-10", month)
	}
	// Noon in UTC of the last day: no change of the day or the zone moves it, and no report is due before.
	at := first.AddDate(0, 1, -1).Add(12 * time.Hour)
	of, query := c.Month, url.Values{"month": {month}}
	for name, value := range map[string]string{"group": of.Group, "owner": of.Owner, "tag": of.Tag} {
		if value != "" {
			query.Set(name, value)
		}
	}
	inc := &Incident{
		ID: NewID(at, "month_report", c.Channel, month), Subject: "channel " + c.Channel, Group: of.Group, Severity: Info, State: Open, Count: 1, OpenedAt: at,
		Report: &Report{Path: "/reports/month?" + query.Encode()},
	}
	inc.summarize(Say("month_report", "month", month, "group", of.Group, "owner", of.Owner, "tag", of.Tag))
	inc.End(now, Say("was_report"))
	inc.Plan(c.Channel, MonthReport, now, now)
	return inc, nil
}
