package logstore

import (
	"slices"
	"sort"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// HoursKept is how long stores keep the counts of hours.
const HoursKept = 100 * Day

const quarter = 15 * time.Minute

// HourParts are the instants of a day in UTC from which the counts of hours are kept: the
// beginning of each hour, and whenever within an hour a day begins in some time zone. So the
// days of all zones are made of whole counts.
var HourParts = hourParts(
	2*time.Hour+30*time.Minute,  // St. John's in summer
	3*time.Hour+30*time.Minute,  // St. John's
	9*time.Hour+30*time.Minute,  // the Marquesas
	10*time.Hour+15*time.Minute, // Chatham in summer
	11*time.Hour+15*time.Minute, // Chatham
	13*time.Hour+30*time.Minute, // Adelaide in summer, Lord Howe
	14*time.Hour+30*time.Minute, // Adelaide, Darwin
	15*time.Hour+15*time.Minute, // Eucla
	17*time.Hour+30*time.Minute, // Yangon
	18*time.Hour+15*time.Minute, // Kathmandu
	18*time.Hour+30*time.Minute, // Kolkata, Colombo
	19*time.Hour+30*time.Minute, // Kabul
	20*time.Hour+30*time.Minute, // Tehran
)

func hourParts(within ...time.Duration) []time.Duration {
	for at := time.Duration(0); at < Day; at += time.Hour {
		within = append(within, at)
	}
	slices.Sort(within)
	return within
}

// HourPart returns the last of HourParts that is not after an instant.
func HourPart(at time.Time) time.Time {
	day := at.UTC().Truncate(Day)
	i, exact := slices.BinarySearch(HourParts, at.Sub(day))
	if !exact {
		i--
	}
	return day.Add(HourParts[i])
}

// Days returns the instants at which the days of the range begin in the filter's zone, and
// at last the one at which they end. Days have as many hours as the zone gives them.
func (f *ReportFilter) Days() []time.Time {
	days := []time.Time{}
	for date := dateOf(f.From, f.Zone); len(days) < 2 || days[len(days)-1].Before(f.To); date = date.Add(Day) {
		begin := beginOf(date, f.Zone)
		if n := len(days); n > 0 && !begin.After(days[n-1]) { // the day before was left out by the zone
			continue
		}
		days = append(days, begin)
	}
	return days
}

// CheckDays refuses days of a zone that reach back further than hours are known, and a filter
// that is not valid.
func (f *ReportFilter) CheckDays(now time.Time) error {
	if err := f.Validate(); err != nil || f.Zone == nil {
		return err
	}
	oldest := now.Add(-HoursKept)
	if whole := f.WithDefaults(); whole.Zone != nil && whole.From.Before(oldest) {
		return job.Invalid("from", "must not lie before %s: days of a zone are made of hours, which are kept for %d days; ask for days in UTC",
			oldest.UTC().Format(time.DateOnly), HoursKept/Day)
	}
	return nil
}

// dateOf returns the date that a calendar in the zone shows at an instant, as its midnight in
// UTC.
func dateOf(at time.Time, zone *time.Location) time.Time {
	year, month, day := at.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// beginOf returns when a date begins in a zone, or the next one if the zone left it out. The
// day need not begin at midnight: clocks may be set forward then.
func beginOf(date time.Time, zone *time.Location) time.Time {
	const farthest = 16 * time.Hour // is more than any zone is from UTC
	first := date.Add(-farthest)
	n := sort.Search(int(Day+2*farthest)/int(quarter), func(i int) bool {
		return !dateOf(first.Add(time.Duration(i)*quarter), zone).Before(date)
	})
	return first.Add(time.Duration(n) * quarter)
}

func areOfUTC(days []time.Time) bool {
	return !slices.ContainsFunc(days, func(at time.Time) bool { return !at.Equal(at.UTC().Truncate(Day)) })
}
