// Package ical makes calendars of iCalendar files (RFC 5545), as Google, Apple and
// Outlook export them.
//
// A calendar has whole days, so an event that lasts whole days is taken, by all-day
// dates or from midnight to midnight, and one that lasts part of a day is left out with
// the reason. What recurs for ever on a fixed date ("12-25") or on days of the week
// stays so; all else is written out, for some years ahead:
//
//	DTSTART;VALUE=DATE:20261224       2026-12-24, 2026-12-25: DTEND is exclusive
//	DTEND;VALUE=DATE:20261226
//
//	DTSTART;VALUE=DATE:20201225       12-25
//	RRULE:FREQ=YEARLY
//
//	DTSTART;VALUE=DATE:20201126       2026-11-26, 2027-11-25, 2028-11-23, …
//	RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH
//
// A file with anything that bears on its days and is not understood is refused as a
// whole, by the number of the line: a holiday that is lost in silence is found when the
// job has run. Of the libraries for these files none says on which line a rule or a
// date is.
package ical
