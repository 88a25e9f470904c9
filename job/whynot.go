package job

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/cron"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Moment is a minute about which somebody asks.
type Moment struct {
	// At is when it begins, in UTC. Of a time that clocks skipped it is when they did.
	At time.Time
	// Skipped is the time on the wall, in seconds since the beginning of 1970 there, if clocks skipped it; else 0.
	Skipped int64
}

// End returns when the minute is over.
func (m Moment) End() time.Time { return m.At.Add(time.Minute) }

// ParseMoment reads an instant in RFC 3339, or a time on the wall in an IANA zone such as 2026-03-29T02:30. Of one
// that comes twice it is the first. The error is an *InvalidError about the field "at".
func ParseMoment(text, zone string) (Moment, error) {
	const field = "at"
	z, err := cron.LoadZone(zone)
	if err != nil {
		return Moment{}, Invalid(field, "%s", err)
	}
	at, err := time.Parse(time.RFC3339, text)
	if err == nil {
		at = at.UTC().Truncate(time.Minute)
		return Moment{At: at}, checkYear(field, at)
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		wall, err := time.Parse(layout, strings.Replace(text, " ", "T", 1))
		if err != nil {
			continue
		}
		if wall = wall.Truncate(time.Minute); checkYear(field, wall) != nil {
			return Moment{}, checkYear(field, wall)
		}
		m := Moment{At: time.Unix(z.Unix(wall.Unix()), 0).UTC()}
		if z.Wall(m.At.Unix()) != wall.Unix() {
			m.Skipped = wall.Unix()
		}
		return m, nil
	}
	return Moment{}, Invalid(field, "%q must be a time such as 2026-03-01T09:00 in the zone of the job, or 2026-03-01T09:00:00Z", clip.Text(text, maxQuoted))
}

func checkYear(field string, at time.Time) error {
	if at.Year() < 1970 || at.Year() > 2125 {
		return Invalid(field, "must be between the years 1970 and 2125")
	}
	return nil
}

// WhyNot returns why the schedule of the named job has no fire in a minute, and "" if it has one. Calendars and
// pauses do not count.
func (s Schedule) WhyNot(name Name, m Moment) string {
	t, err := s.Compile(name)
	if err != nil {
		return ""
	}
	from, end := m.At.UnixMilli(), m.End().UnixMilli()
	if at, ok := t.Next(from - 1); ok && at < end {
		return ""
	}
	switch {
	case t.kind == KindManual:
		return reason.NoSchedule.String()
	case end <= t.from:
		return reason.ScheduleBegins.With(*s.From)
	case from > t.until:
		return reason.ScheduleOver.With(*s.Until)
	}
	switch t.kind {
	case KindFixedDelay:
		return reason.FollowsRuns.With(s.FixedDelay)
	case KindFixedRate:
		return reason.BetweenFires.With(Duration(t.every*int64(time.Millisecond)), time.UnixMilli(t.anchor))
	case KindOnce:
		return reason.FiresOnce.With(time.UnixMilli(t.anchor))
	case KindCron, KindEvery, KindManual:
	}
	return s.whyNotOnWall(t, m)
}

// whyNotOnWall is WhyNot for times on the wall.
func (s Schedule) whyNotOnWall(t *Timetable, m Moment) string {
	at := m.At.Unix()
	seconds := cmp.Or(m.Skipped, t.zone.Wall(at))
	wall := time.Unix(seconds, 0).UTC()
	date, clock := wall.Format(time.DateOnly), wall.Format("15:04")
	part := t.pattern.Excludes(seconds)
	field := cron.Field(s.Cron, part)
	if t.kind == KindEvery {
		field = s.Every.days()
	}
	switch part {
	case cron.Years:
		return reason.NotInYear.With(strconv.Itoa(wall.Year()), cmp.Or(field, "1970-2125"))
	case cron.MonthField:
		return reason.NotInMonth.With(wall.Month(), field)
	case cron.DayOfMonth:
		return reason.NotOnDay.With(date, field)
	case cron.DayOfWeek:
		return reason.NotOnWeekday.With(wall.Weekday(), field)
	case cron.BothDays:
		return reason.NotOnEither.With(wall.Weekday(), date, cron.Field(s.Cron, cron.DayOfMonth)+", "+cron.Field(s.Cron, cron.DayOfWeek))
	case cron.HourField:
		return reason.NotInHour.With(clock, field)
	case cron.MinuteField:
		return reason.NotInMinute.With(clock, field)
	case cron.Begin:
		return reason.IntervalBegins.With(s.Every.From)
	case cron.Step:
		return reason.IntervalSkips.With(date, s.Every)
	case cron.TimeOfDay:
		return reason.IntervalTimes.With(clock, s.Every)
	case cron.NoPart:
	}
	// It names the minute, so moved clocks keep it from firing.
	last, _ := t.zone.LastChange(at)
	switch move, _ := t.pattern.Moved(at, t.zone, t.policy); {
	case m.Skipped != 0:
		return reason.ClockSkipped.With(time.Unix(last.At, 0), clock, "gap="+t.policy.Gap(t.pattern))
	case move == cron.SecondPass:
		return reason.ClockFiresFirst.With(time.Unix(last.At, 0), clock, "overlap="+t.policy.Overlap(t.pattern))
	}
	next, _ := t.zone.NextChange(at)
	return reason.ClockFiresLast.With(time.Unix(next.At, 0), clock, "overlap="+t.policy.Overlap(t.pattern))
}

// days returns what an interval has for its days, as typed or as they follow from the date on which it begins.
func (e *Every) days() string {
	if len(e.On) > 0 {
		return strings.Join(e.On, ", ")
	}
	from, _ := time.Parse(time.DateOnly, e.From) // it has been compiled
	if e.Weeks != 0 {
		return strings.ToLower(from.Weekday().String()[:3])
	}
	return strconv.Itoa(from.Day())
}
