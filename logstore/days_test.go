package logstore

import (
	"slices"
	"testing"
	"time"
	_ "time/tzdata" // also on a machine without zones

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Of each distance from UTC that some zone has, now or in a summer to come, a zone.
var everyDistance = []string{
	"Pacific/Kiritimati", "Pacific/Chatham", "Pacific/Auckland", "Pacific/Norfolk", "Australia/Lord_Howe", "Australia/Sydney", "Australia/Adelaide", "Australia/Darwin",
	"Asia/Tokyo", "Australia/Eucla", "Asia/Shanghai", "Asia/Bangkok", "Asia/Yangon", "Asia/Dhaka", "Asia/Kathmandu", "Asia/Kolkata", "Asia/Colombo", "Asia/Karachi", "Asia/Kabul",
	"Asia/Dubai", "Asia/Tehran", "Europe/Moscow", "Asia/Beirut", "Africa/Cairo", "Europe/Berlin", "Europe/Dublin", "UTC", "Atlantic/Azores", "America/Nuuk", "America/Sao_Paulo",
	"America/St_Johns", "America/Halifax", "America/Asuncion", "America/Santiago", "America/New_York", "America/Havana", "America/Chicago", "America/Denver", "America/Los_Angeles",
	"America/Anchorage", "Pacific/Marquesas", "Pacific/Honolulu", "Pacific/Pago_Pago",
}

func TestTheDaysOfAllZonesAreMadeOfWholeCounts(t *testing.T) {
	from := time.Now().UTC().Truncate(Day)
	for _, name := range everyDistance {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		f := ReportFilter{From: from, To: from.Add(3 * 366 * Day), Step: runlog.StepDay, Zone: zone}
		days := f.Days()
		for i, at := range days {
			if !HourPart(at).Equal(at) {
				t.Fatalf("in %s a day begins at %s, which is within the counts from %s", name, at, HourPart(at))
			}
			if i > 0 && (at.Sub(days[i-1]) < 23*time.Hour || at.Sub(days[i-1]) > 25*time.Hour) {
				t.Fatalf("in %s the day from %s has %s", name, days[i-1], at.Sub(days[i-1]))
			}
			if before := at.Add(-time.Second).In(zone); before.Day() == at.In(zone).Day() {
				t.Fatalf("in %s no day begins at %s", name, at.In(zone))
			}
		}
		if days[0].After(from) || days[1].Before(from) || days[len(days)-1].Before(f.To) {
			t.Errorf("in %s the days are those from %s to %s", name, days[0], days[len(days)-1])
		}
	}
}

func TestDaysOfNightsOnWhichClocksAreSet(t *testing.T) {
	f := func(zone, from, to string, want ...string) {
		t.Helper()
		in, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		parse := func(s string) time.Time {
			at, err := time.Parse(time.RFC3339, s)
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		filter := ReportFilter{From: parse(from), To: parse(to), Step: runlog.StepDay, Zone: in}
		var got []string
		for _, at := range filter.Days() {
			got = append(got, at.UTC().Format(time.RFC3339))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the days in %s differ (-want +got):\n%s", zone, diff)
		}
	}
	f("Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-30T12:00:00Z", "2026-03-27T23:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "2026-03-30T22:00:00Z")
	f("Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-25T12:00:01Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z")
	f("Asia/Kathmandu", "2026-01-01T00:00:00Z", "2026-01-01T18:15:00Z", "2025-12-31T18:15:00Z", "2026-01-01T18:15:00Z")
	f("America/St_Johns", "2026-11-01T12:00:00Z", "2026-11-02T12:00:00Z", "2026-11-01T02:30:00Z", "2026-11-02T03:30:00Z", "2026-11-03T03:30:00Z")
	f("Africa/Cairo", "2026-04-24T12:00:00Z", "2026-04-24T13:00:00Z", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z")                         // clocks go from 0:00 to 1:00
	f("Pacific/Apia", "2011-12-30T00:00:00Z", "2011-12-31T00:00:00Z", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z") // has no 30 December
}

func TestDaysOfUTCNeedNoHours(t *testing.T) {
	from := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	f := func(zone string, want runlog.Step) {
		t.Helper()
		in, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		filter := ReportFilter{From: from, To: from.Add(48 * time.Hour), Step: runlog.StepDay, Zone: in}.WithDefaults()
		if filter.Unit() != want {
			t.Errorf("days in %s are made of each %s; want each %s", zone, filter.Unit(), want)
		}
		if again := filter.WithDefaults(); !again.From.Equal(filter.From) || !again.To.Equal(filter.To) || again.Zone != filter.Zone {
			t.Errorf("what has its defaults changes: %+v, %+v", filter, again)
		}
	}
	f("UTC", runlog.StepDay)
	f("Africa/Abidjan", runlog.StepDay)
	f("Europe/London", runlog.StepDay) // it is winter
	f("Asia/Kolkata", runlog.StepHour)
}

func TestDaysOfAZoneReachAsFarBackAsHours(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	f := func(zone *time.Location, daysAgo int, refused bool) {
		t.Helper()
		filter := ReportFilter{From: now.Add(-time.Duration(daysAgo) * Day), To: now, Step: runlog.StepDay, Zone: zone}
		if err := filter.CheckDays(now); (err != nil) != refused {
			t.Errorf("%d days ago in %v: %v", daysAgo, zone, err)
		}
	}
	tokyo := time.FixedZone("Tokyo", 9*3600)
	f(tokyo, 98, false)
	f(tokyo, 100, true)
	f(time.UTC, 1000, false)
	f(nil, 1000, false)
}

func TestHourPartsAreInOrder(t *testing.T) {
	if !slices.IsSorted(HourParts) || HourParts[0] != 0 || len(HourParts) != 37 {
		t.Errorf("the parts are %v", HourParts)
	}
}
