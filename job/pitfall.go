package job

import (
	"math"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/cron"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// minDriftingRate is the shortest fixed rate of which people expect the same times of day.
const minDriftingRate = 2 * time.Hour

// lastDay is how every says the last day of each month.
const lastDay = "months: 1, on: [last day]"

// Pitfalls returns what a valid schedule of the named job probably does against the wish of whoever
// wrote it, as sentences for people about a field. It looks at the expression, the zone and the
// window from now on, and not at calendars.
func (s Schedule) Pitfalls(name Name, now time.Time) []*InvalidError {
	var found []*InvalidError
	add := func(field, text string) { found = append(found, &InvalidError{Field: field, Reason: text}) }
	table, err := s.Compile(name)
	if err != nil {
		return nil
	}
	if s.Kind() == KindCron {
		for _, p := range cron.Pitfalls(s.Cron, name.Hash()) {
			switch text := clip.Text(p.Text, maxQuoted); p.Kind {
			case cron.UnevenStep:
				add("schedule.cron", reason.StepUneven.With(text, p.Values, p.Every))
			case cron.NumberedDays:
				add("schedule.cron", reason.DaysNumbered.With(text, p.Values))
			case cron.UnevenDays:
				add("schedule.cron", reason.StepRestarts.With(text, p.Values, p.Every))
			case cron.MissingDay:
				add("schedule.cron", reason.DayMissing.With(text, p.Values, lastDay))
			case cron.LeapDay:
				add("schedule.cron", reason.LeapDay.With(lastDay))
			case cron.EitherDay:
				add("schedule.cron", reason.EitherDay.With("months: 1, on: [1st mon]"))
			case cron.StarBefore:
				add("schedule.cron", reason.StarBefore.With(text))
			}
		}
	}
	if s.Kind() == KindFixedRate && time.Duration(table.every)*time.Millisecond >= minDriftingRate {
		if zone, err := cron.LoadZone(s.Zone); err == nil {
			if change, ok := zone.NextChange(now.Unix()); ok {
				add("schedule.zone", reason.RateIgnoresZone.With(zone.String(), time.Unix(change.At, 0)))
			}
		}
	}
	if field, text := s.over(table, now); text != "" {
		add(field, text)
	}
	return found
}

// over returns why the schedule has no fire after now, and which field says so; "" if it has one.
func (s Schedule) over(table *Timetable, now time.Time) (field, why string) {
	kind := s.Kind()
	_, fires := table.Next(now.UnixMilli())
	if kind == KindFixedDelay {
		fires = max(now.UnixMilli()+s.FixedDelay.Milliseconds(), table.from) <= table.until
	}
	switch {
	case fires || kind == KindManual:
		return "", ""
	case kind == KindOnce:
		return s.kindField(), reason.InPast.With(time.UnixMilli(table.anchor))
	case s.Until != nil && s.Until.Before(now):
		return "schedule.until", reason.InPast.With(*s.Until)
	}
	return s.kindField(), reason.NoFireLeft.String()
}

// WhyOver returns why the valid schedule of the named job has no fire after an instant, as a sentence for
// people; "" if it has one, or fires need no date.
func (s Schedule) WhyOver(name Name, after time.Time) string {
	table, err := s.Compile(name)
	if err != nil {
		return ""
	}
	switch field, _ := s.over(table, after); {
	case field == "":
		return ""
	case s.Kind() == KindOnce:
		return reason.OnlyFireAt.With(time.UnixMilli(table.anchor))
	case s.Until != nil:
		return reason.ScheduleEnds.With(*s.Until)
	}
	if _, ever := table.Next(math.MinInt64); !ever {
		return reason.NoDate.String()
	}
	return reason.NoLaterDate.String()
}

// kindField names the field that says when the schedule fires.
func (s Schedule) kindField() string {
	if s.Cron != "" {
		return "schedule.cron"
	}
	return "schedule." + string(s.Kind())
}

// checkFires refuses a schedule that has no fire within its window, whatever the time is.
func (s Schedule) checkFires(table *Timetable) error {
	if kind := s.Kind(); kind == KindManual || kind == KindFixedDelay {
		return nil
	}
	if _, ok := table.Next(math.MinInt64); ok {
		return nil
	}
	whole := *table
	whole.from, whole.until = 0, math.MaxInt64
	quoted := ""
	if s.Cron != "" {
		quoted = `"` + clip.Text(s.Cron, maxQuoted) + `" `
	}
	_, ok := whole.Next(math.MinInt64)
	switch {
	case !ok:
		return Invalid(s.kindField(), "%snever fires: no date matches it", quoted)
	case s.From == nil:
		return Invalid(s.kindField(), "%snever fires: it has no fire up to schedule.until, %s", quoted, s.Until.Format(time.RFC3339))
	case s.Until == nil:
		return Invalid(s.kindField(), "%snever fires: it has no fire from schedule.from on, %s", quoted, s.From.Format(time.RFC3339))
	}
	return Invalid(s.kindField(), "%snever fires: it has no fire between schedule.from, %s, and schedule.until, %s", quoted, s.From.Format(time.RFC3339), s.Until.Format(time.RFC3339))
}
