package job_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

func withEvery(every string) []byte {
	return []byte(`{"job":"g/a","task":{"handler":"h"},"schedule":{"zone":"Europe/Berlin","every":` + every + `}}`)
}

func TestAnIntervalOfTheCalendarIsReadAndWritten(t *testing.T) {
	f := func(every, words, again string) {
		t.Helper()
		document := withEvery(every)
		j, err := job.Decode(document)
		if err != nil {
			t.Errorf("%s: %v", every, err)
			return
		}
		if d := cmp.Diff(string(withEvery(every)), string(document)); d != "" {
			t.Errorf("reading changes what is read:\n%s", d)
		}
		text, err := json.Marshal(j.Schedule.Every)
		if err != nil {
			t.Fatal(err)
		}
		if j.Schedule.Kind() != job.KindEvery || j.Schedule.String() != words || string(text) != again {
			t.Errorf("%s is %s, %q, %s; want %q, %s", every, j.Schedule.Kind(), j.Schedule, text, words, again)
		}
	}
	f(`{"weeks":2,"on":["tue"],"at":["09:00"],"from":"2026-01-06"}`, "every 2 weeks on tue at 09:00 from 2026-01-06 Europe/Berlin",
		`{"weeks":2,"on":["tue"],"at":["09:00"],"from":"2026-01-06"}`)
	f(`{"weeks":1,"on":["mon","thu"],"at":["09:00","12:30"],"from":"2026-01-06"}`, "every week on mon, thu at 09:00, 12:30 from 2026-01-06 Europe/Berlin",
		`{"weeks":1,"on":["mon","thu"],"at":["09:00","12:30"],"from":"2026-01-06"}`)
	f(`{"days":1,"at":"08:00","from":"2026-01-06"}`, "every day at 08:00 from 2026-01-06 Europe/Berlin",
		`{"days":1,"at":["08:00"],"from":"2026-01-06"}`)
	f(`{"months":3,"on":31,"at":["08:00"],"from":"2026-01-06"}`, "every 3 months on 31 at 08:00 from 2026-01-06 Europe/Berlin",
		`{"months":3,"on":["31"],"at":["08:00"],"from":"2026-01-06"}`)
	f(`{"years":1,"on":[15,"last fri"],"at":["08:00"],"from":"2026-01-06"}`, "every year on 15, last fri at 08:00 from 2026-01-06 Europe/Berlin",
		`{"years":1,"on":["15","last fri"],"at":["08:00"],"from":"2026-01-06"}`)
}

func TestAnIntervalOfTheCalendarThatIsWrongIsRefusedByItsField(t *testing.T) {
	f := func(every, field, reason string) {
		t.Helper()
		_, err := job.Decode(withEvery(every))
		problems := job.Problems(err)
		if len(problems) != 1 || problems[0].Field != field || !strings.Contains(problems[0].Reason, reason) {
			t.Errorf("%s: %v, want %s: %s", every, err, field, reason)
		}
	}
	const rest = `"at":["09:00"],"from":"2026-01-06"`
	f(`{`+rest+`}`, "schedule.every", "must have exactly one of days, weeks, months and years")
	f(`{"days":1,"weeks":1,`+rest+`}`, "schedule.every", "must have exactly one of days, weeks, months and years")
	f(`{"days":0,`+rest+`}`, "schedule.every", "must have exactly one of")
	f(`{"days":-1,`+rest+`}`, "schedule.every.days", "-1 must be between 1 and 366")
	f(`{"weeks":367,`+rest+`}`, "schedule.every.weeks", "367 must be between 1 and 366")
	f(`{"years":9999999999999,`+rest+`}`, "schedule.every.years", "must be between 1 and 366")
	f(`{"years":99999999999999999999,`+rest+`}`, "schedule.every.years", "must be a whole number")
	f(`{"months":1.5,`+rest+`}`, "schedule.every.months", "must be a whole number")
	f(`{"weeks":"2",`+rest+`}`, "schedule.every.weeks", "must be a whole number")
	f(`{"weeks":2,"at":["09:00"]}`, "schedule.every.from", "is missing; give the date from which weeks are counted, such as 2026-01-06")
	f(`{"weeks":2,"from":"2026-01-06"}`, "schedule.every.at", "is missing; give the times of day")
	f(`{"weeks":2,"at":["09:00"],"from":"2026-02-29"}`, "schedule.every.from", "must be a date that exists")
	f(`{"weeks":2,"at":9,"from":"2026-01-06"}`, "schedule.every.at", `"9" must be a time of day`)
	f(`{"weeks":2,"at":true,"from":"2026-01-06"}`, "schedule.every.at", "must be text, or a list of texts in quotes")
	f(`{"weeks":2,"on":[["tue"]],`+rest+`}`, "schedule.every.on", "must be text, or a list of texts in quotes")
	f(`{"weeks":2,"at":[{"09":0}],"from":"2026-01-06"}`, "schedule.every.at", "must be text, or a list of texts in quotes") // of YAML: [09:00]
	f(`{"weeks":2,"on":[null],`+rest+`}`, "schedule.every.on", "must be text, or a list of texts in quotes")
	f(`{"weeks":2,"on":["2nd tue"],`+rest+`}`, "schedule.every.on", "must be a weekday")
	f(`{"days":2,"on":["tue"],`+rest+`}`, "schedule.every.on", "belongs to weeks, months and years only")
	f(`{"months":2,"on":["`+strings.Repeat("x", 900)+`"],`+rest+`}`, "schedule.every.on", "must be a day of the month")
	f(`{"week":2,`+rest+`}`, "schedule.every.week", "is not a known field; write weeks")
	f(`{"Weeks":2,`+rest+`}`, "schedule.every.Weeks", "is not a known field; write weeks")
	f(`{"weeks":2,"day":"tue",`+rest+`}`, "schedule.every.day", "is not a known field")
	f(`"2w"`, "schedule.every", "must be an object")
	f(`{"years":1,"on":["30"],"at":["09:00"],"from":"2026-02-01"}`, "schedule.every", "never fires: no date matches it")

	for schedule, want := range map[string]string{
		`{"cron":"0 9 * * *","every":{"days":1,` + rest + `}}`:                                                         "schedule has more than one of cron, every",
		`{"every":{"days":1,` + rest + `},"anchor":"2026-01-01T00:00:00Z"}`:                                            "schedule.anchor belongs to fixed_rate only",
		`{"every":{"days":7,` + rest + `},"from":"2026-01-07T00:00:00Z","until":"2026-01-12T00:00:00Z"}`:               "schedule.every never fires: it has no fire between schedule.from, 2026-01-07T00:00:00Z, and schedule.until, 2026-01-12T00:00:00Z",
		`{"fixed_rate":"5m","dst":"quartz"}`:                                                                           "schedule.dst belongs to cron and every only",
		`{"every":{"days":1,` + rest + `},"dst":"quartz","zone":"Europe/Berlin","shift":"next","except":["holidays"]}`: "<nil>",
	} {
		_, err := job.Decode([]byte(`{"job":"g/a","task":{"handler":"h"},"schedule":` + schedule + `}`))
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v, want %s", schedule, err, want)
		}
	}
}

// The phase is part of the document: when it was saved, from when it is asked, and what is
// active meanwhile have no part in it.
func TestTheWeeksOfAnIntervalStayWhereTheyAre(t *testing.T) {
	j, err := job.Decode(withEvery(`{"weeks":2,"on":["tue"],"at":["09:00"],"from":"2026-01-06"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for day := time.Date(2026, time.January, 6, 0, 0, 0, 0, time.UTC); day.Year() < 2029; day = day.AddDate(0, 0, 14) {
		want[day.Format(time.DateOnly)+" 09:00"] = true
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	var planner job.Planner
	for after := time.Date(2025, time.December, 1, 0, 0, 0, 0, time.UTC); after.Year() < 2029; after = after.AddDate(0, 0, 5) {
		edited := j // each time as if it had just been saved
		edited.Description = after.String()
		fires, err := planner.Preview(edited, after, 1)
		if err != nil {
			t.Fatal(err)
		}
		if at := time.UnixMilli(fires[0].At).In(berlin); at.Year() < 2029 {
			got[at.Format("2006-01-02 15:04")] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fires (-want +got):\n%s", diff)
	}
}
