package job_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // also on a machine without zones

	"github.com/carillon-scheduler/carillon/job"
)

func contains(t *testing.T, c job.Calendar) func(at string, want bool) {
	t.Helper()
	c.Calendar = "c"
	set, err := c.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return func(at string, want bool) {
		t.Helper()
		instant, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if set.Contains(instant.UnixMilli()) != want {
			t.Errorf("%s: contained is %v", at, !want)
		}
	}
}

func TestDatesAreWholeDaysOfTheCalendarsZone(t *testing.T) {
	in := contains(t, job.Calendar{Zone: "Europe/Berlin", Dates: []string{"2026-12-25", "02-29", "01-01"}})
	in("2026-12-24T22:59:59Z", false)
	in("2026-12-24T23:00:00Z", true)
	in("2026-12-25T22:59:59Z", true)
	in("2026-12-25T23:00:00Z", false)
	in("2027-12-25T12:00:00Z", false)
	in("2028-02-29T12:00:00Z", true)
	in("2027-03-01T12:00:00Z", false)
	in("2031-01-01T12:00:00Z", true)
}

func TestAWindowMayGoOnPastMidnight(t *testing.T) {
	in := contains(t, job.Calendar{Windows: []job.Window{{Days: "fri", From: "22:00", To: "06:00"}}})
	in("2026-03-06T21:59:59Z", false) // a Friday
	in("2026-03-06T22:00:00Z", true)
	in("2026-03-07T05:59:59Z", true)
	in("2026-03-07T06:00:00Z", false)
	in("2026-03-07T22:00:00Z", false) // Saturday's night is not Friday's
	in("2026-03-06T03:00:00Z", false) // nor is Thursday's
}

func TestWindowsAreByTheWallClock(t *testing.T) {
	in := contains(t, job.Calendar{Zone: "Europe/Berlin", Windows: []job.Window{{Days: "sat-mon", From: "02:00", To: "03:00"}}})
	in("2026-03-29T00:59:59Z", false) // 01:59:59; the next second is 03:00
	in("2026-03-29T01:00:00Z", false)
	in("2026-10-25T00:00:00Z", true) // 02:00 for the first time
	in("2026-10-25T01:59:59Z", true) // 02:59:59 for the second time
	in("2026-10-25T02:00:00Z", false)
	in("2026-03-31T00:30:00Z", false) // a Tuesday
	in("2026-03-30T00:30:00Z", true)
	day := contains(t, job.Calendar{Windows: []job.Window{{Days: "Mon, wed", From: "00:00", To: "24:00"}, {From: "23:59:30", To: "24:00"}}})
	day("2026-03-30T00:00:00Z", true)
	day("2026-03-30T23:59:59Z", true)
	day("2026-03-31T00:00:00Z", false)
	day("2026-03-31T23:59:29Z", false)
	day("2026-03-31T23:59:30Z", true)
	whole := contains(t, job.Calendar{Windows: []job.Window{{From: "09:00", To: "09:00"}}})
	whole("2026-03-31T08:59:59Z", true)
	whole("2026-03-31T09:00:00Z", true)
}

// Minute by minute over a week with a change of clocks, against a table of the week.
func TestWindowsAgreeWithATableOfTheWeek(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []job.Window{
		{Days: "mon-fri", From: "09:00", To: "17:30"},
		{Days: "sat-sun", From: "23:00", To: "02:30"},
		{Days: "fri-mon", From: "02:15", To: "02:45"},
		{From: "00:00", To: "00:01"},
	} {
		set, err := job.Calendar{Calendar: "c", Zone: "Europe/Berlin", Windows: []job.Window{w}}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		names := "sunmontuewedthufrisat"
		var open [7 * 1440]bool
		var from, to, fromMin, toMin int
		_, _ = fmt.Sscanf(w.From+" "+w.To, "%d:%d %d:%d", &from, &fromMin, &to, &toMin)
		days := w.Days
		if days == "" {
			days = "sun-sat"
		}
		first, last := strings.Index(names, days[:3])/3, strings.Index(names, days[4:])/3
		for d := first; ; d = (d + 1) % 7 {
			length := (to*60 + toMin) - (from*60 + fromMin)
			if length <= 0 {
				length += 1440
			}
			for m := range length {
				open[(d*1440+from*60+fromMin+m)%len(open)] = true
			}
			if d == last {
				break
			}
		}
		at := time.Date(2026, time.March, 25, 0, 0, 0, 0, time.UTC)
		for range 9 * 1440 {
			wall := at.In(zone)
			if want := open[int(wall.Weekday())*1440+wall.Hour()*60+wall.Minute()]; set.Contains(at.UnixMilli()) != want {
				t.Fatalf("%+v at %s: contained is %v", w, wall, !want)
			}
			at = at.Add(time.Minute)
		}
	}
}

func TestDecodeCalendarNamesTheFieldThatIsWrong(t *testing.T) {
	wrong := func(document, field string) {
		t.Helper()
		_, err := job.DecodeCalendar([]byte(document))
		if !errors.Is(err, job.ErrInvalid) || len(job.Problems(err)) == 0 || job.Problems(err)[0].Field != field {
			t.Errorf("%.80s: %v; want a problem of %q", document, err, field)
		}
	}
	wrong(`{"calendar":"No"}`, "calendar")
	wrong(`{"calendar":"c","zone":"Local"}`, "zone")
	wrong(`{"calendar":"c","dates":["2026-02-30"]}`, "dates[0]")
	wrong(`{"calendar":"c","dates":["12-25","02-30"]}`, "dates[1]")
	wrong(`{"calendar":"c","windows":[{"from":"9","to":"17:00"}]}`, "windows[0]")
	wrong(`{"calendar":"c","windows":[{"from":"09:00","to":"25:00"}]}`, "windows[0]")
	wrong(`{"calendar":"c","windows":[{"days":"noday","from":"09:00","to":"10:00"}]}`, "windows[0]")
	wrong(`{"calendar":"c","holidays":[]}`, "holidays")
	wrong(`{"calendar":"c","description":"`+strings.Repeat("x", job.MaxDocument)+`"}`, "")
	c, err := job.DecodeCalendar([]byte(`{"calendar":"c","dates":["02-29"]}`))
	if err != nil || c.Zone != "UTC" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestTheRuleThatContainsAnInstantIsNamed(t *testing.T) {
	c := job.Calendar{
		Calendar: "holidays", Zone: "Europe/Berlin", Dates: []string{"2026-04-03", "12-25"},
		Windows: []job.Window{{Days: "sat,sun", From: "00:00", To: "24:00"}, {From: "22:00", To: "02:00"}},
	}
	for at, want := range map[string]string{
		"2026-04-02T22:30:00Z": "2026-04-03", // the third there
		"2027-12-25T09:00:00Z": "12-25",
		"2026-03-07T09:00:00Z": "sat,sun 00:00-24:00",
		"2026-03-03T00:30:00Z": "22:00-02:00",
		"2026-03-03T09:00:00Z": "",
	} {
		instant, err := time.Parse(time.RFC3339, at)
		if got := c.Rule(instant); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", at, got, err, want)
		}
	}
}
