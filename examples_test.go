package carillon_test

import (
	"os"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/carillon-scheduler/carillon/job"
)

// TestTheCalendarOfChinaHasItsWeekendsHolidaysAndMadeUpDays checks each day of the years that it covers:
// a weekday is off as a holiday, and a weekend is off unless it is worked.
func TestTheCalendarOfChinaHasItsWeekendsHolidaysAndMadeUpDays(t *testing.T) {
	text, err := os.ReadFile("examples/calendars/cn-days-off.yaml")
	if err != nil {
		t.Fatal(err)
	}
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	c, err := job.DecodeCalendar(data)
	if err != nil {
		t.Fatal(err)
	}
	set, err := c.Compile()
	if err != nil {
		t.Fatal(err)
	}
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	worked, holidays := map[int]int{}, map[int]int{}
	for day := time.Date(2026, time.January, 1, 9, 0, 0, 0, zone); day.Year() < 2028; day = day.AddDate(0, 0, 1) {
		weekend := day.Weekday() == time.Saturday || day.Weekday() == time.Sunday
		switch off := set.Contains(day.UnixMilli()); {
		case weekend && !off:
			worked[day.Year()]++
		case !weekend && off:
			holidays[day.Year()]++
		}
	}
	// Counted by hand.
	if worked[2026] != 6 || holidays[2026] != 19 || worked[2027] != 5 || holidays[2027] != 18 {
		t.Errorf("%v weekend days are worked, %v weekdays are off", worked, holidays)
	}
	for day, off := range map[string]bool{"2026-02-17": true, "2026-02-28": false, "2026-10-10": false, "2026-10-11": true, "2027-05-04": true, "2026-03-02": false} {
		at, err := time.ParseInLocation("2006-01-02 15:04", day+" 09:00", zone)
		if err != nil || set.Contains(at.UnixMilli()) != off {
			t.Errorf("%s: off is %v, want %v (%v)", day, set.Contains(at.UnixMilli()), off, err)
		}
	}
}
