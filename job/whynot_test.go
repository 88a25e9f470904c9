package job

import (
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job/reason"
)

func TestTheFieldThatKeepsAMinuteFromHavingAFireIsNamed(t *testing.T) {
	at := func(text string) *time.Time {
		v, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return &v
	}
	cron := func(text string) Schedule { return Schedule{Cron: text} }
	berlin := func(text, dst string) Schedule { return Schedule{Cron: text, Zone: "Europe/Berlin", DST: dst} }
	every := func(e Every) Schedule { return Schedule{Every: &e} }
	tests := []struct {
		schedule Schedule
		at       string // 2026-03-07 is a Saturday
		want     string // "" where it has a fire
	}{
		{cron("0 9 * * *"), "2026-03-07T09:00", ""},
		{cron("* * * * *"), "2026-03-07T09:00:40", ""},
		{cron("30 0 9 * * ?"), "2026-03-07T09:00", ""}, // in the minute, not at its beginning
		{cron("0 9 * * 1-5"), "2026-03-07T09:00", `the schedule does not fire on Saturday: its day of the week is "1-5"`},
		{cron("0 0 9 ? * MON-FRI"), "2026-03-07T09:00", `the schedule does not fire on Saturday: its day of the week is "MON-FRI"`},
		{cron("@weekly"), "2026-03-07T00:00", `the schedule does not fire on Saturday: its day of the week is "0"`},
		{cron("0 9-17 * * *"), "2026-03-07T20:05", `the schedule does not fire at 20:05: its hour is "9-17"`},
		{cron("0 9 * * *"), "2026-03-07T09:05", `the schedule does not fire at 09:05: its minute is "0"`},
		{cron("@daily"), "2026-03-07T00:05", `the schedule does not fire at 00:05: its minute is "0"`},
		{cron("0 9 L * ?"), "2026-03-07T09:00", ""}, // refused when saved; there is nothing to say
		{cron("0 0 9 L * ?"), "2026-03-07T09:00", `the schedule does not fire on 2026-03-07: its day of the month is "L"`},
		{cron("0 9 1,15 * *"), "2026-03-07T09:00", `the schedule does not fire on 2026-03-07: its day of the month is "1,15"`},
		{cron("0 9 1,15 * MON"), "2026-03-07T09:00", `the schedule does not fire on Saturday, 2026-03-07: its days are "1,15, MON"`},
		{cron("0 9 * 4-9 *"), "2026-03-07T09:00", `the schedule does not fire in March: its month is "4-9"`},
		{cron("0 0 9 * * ? 2027"), "2026-03-07T09:00", `the schedule does not fire in 2026: its year is "2027"`},
		{Schedule{Cron: "0 9 * * *", From: at("2026-04-01T00:00:00Z")}, "2026-03-07T09:00", "the schedule begins at 2026-04-01T00:00:00Z"},
		{Schedule{Cron: "0 9 * * *", Until: at("2026-03-01T00:00:00Z")}, "2026-03-07T09:00", "the schedule ended at 2026-03-01T00:00:00Z"},
		{Schedule{Cron: "0 9 * * *", Spread: Duration(time.Hour)}, "2026-03-07T09:00", ""}, // fire times are not moved by it

		{every(Every{Days: 2, From: "2026-03-06", At: OneOrMore{"09:00"}}), "2026-03-07T09:00", `its interval does not include 2026-03-07: it is "every 2 days at 09:00 from 2026-03-06"`},
		{every(Every{Days: 1, From: "2026-03-08", At: OneOrMore{"09:00"}}), "2026-03-07T09:00", "its interval begins on 2026-03-08"},
		{every(Every{Days: 1, From: "2026-03-01", At: OneOrMore{"09:00", "17:00"}}), "2026-03-07T10:00", `its interval has no fire at 10:00: it is "every day at 09:00, 17:00 from 2026-03-01"`},
		{every(Every{Days: 1, From: "2026-03-01", At: OneOrMore{"09:00:30"}}), "2026-03-07T09:00", ""},
		{every(Every{Weeks: 1, On: OneOrMore{"mon", "fri"}, From: "2026-03-02", At: OneOrMore{"09:00"}}), "2026-03-07T09:00", `the schedule does not fire on Saturday: its day of the week is "mon, fri"`},
		{every(Every{Weeks: 1, From: "2026-03-02", At: OneOrMore{"09:00"}}), "2026-03-07T09:00", `the schedule does not fire on Saturday: its day of the week is "mon"`},
		{every(Every{Weeks: 2, On: OneOrMore{"sat"}, From: "2026-02-23", At: OneOrMore{"09:00"}}), "2026-03-07T09:00", `its interval does not include 2026-03-07: it is "every 2 weeks on sat at 09:00 from 2026-02-23"`},
		{every(Every{Months: 1, On: OneOrMore{"last day"}, From: "2026-01-01", At: OneOrMore{"09:00"}}), "2026-03-07T09:00", `the schedule does not fire on 2026-03-07: its day of the month is "last day"`},
		{every(Every{Months: 1, From: "2026-01-31", At: OneOrMore{"09:00"}}), "2026-03-07T09:00", `the schedule does not fire on 2026-03-07: its day of the month is "31"`},
		{every(Every{Months: 2, On: OneOrMore{"7"}, From: "2026-02-01", At: OneOrMore{"09:00"}}), "2026-03-07T09:00", `its interval does not include 2026-03-07: it is "every 2 months on 7 at 09:00 from 2026-02-01"`},

		{Schedule{FixedRate: Duration(time.Hour)}, "2026-03-07T09:00", ""},
		{Schedule{FixedRate: Duration(time.Hour)}, "2026-03-07T09:10", "the schedule fires every 1h, counted from 1970-01-01T00:00:00Z"},
		{Schedule{FixedRate: Duration(time.Second)}, "2026-03-07T09:10", ""},
		{Schedule{FixedDelay: Duration(time.Minute)}, "2026-03-07T09:10", "it fires 1m after the end of each run, not at fixed times"},
		{Schedule{Once: at("2026-03-07T09:10:00Z")}, "2026-03-07T09:11", "the schedule has a single fire, at 2026-03-07T09:10:00Z"},
		{cron("@at 2026-03-07T09:10:00Z"), "2026-03-07T09:10", ""},
		{Schedule{}, "2026-03-07T09:10", "the job has no schedule: it runs when somebody or another job starts it"},

		// In Berlin 02:00 to 03:00 of 29 March is skipped, and of 25 October it is repeated.
		{berlin("30 2 * * *", "gap=skip"), "2026-03-29T02:30", "clocks were put forward at 2026-03-29T01:00:00Z, and 02:30 did not exist: by gap=skip the schedule does not fire then"},
		{berlin("30 2 * * *", ""), "2026-03-29T02:30", ""}, // at 03:00
		{berlin("30 4 * * *", ""), "2026-03-29T02:30", `the schedule does not fire at 02:30: its hour is "4"`},
		{berlin("30 2 * * *", ""), "2026-03-29T03:30", `the schedule does not fire at 03:30: its hour is "2"`},
		{berlin("30 2 * * *", ""), "2026-10-25T02:30", ""},
		{berlin("30 2 * * *", ""), "2026-10-25T01:30:00Z", "clocks were put back at 2026-10-25T01:00:00Z, and 02:30 came twice: by overlap=first the schedule fires the first time"},
		{berlin("30 2 * * *", "quartz"), "2026-10-25T02:30", "clocks are put back at 2026-10-25T01:00:00Z, and 02:30 comes twice: by overlap=last the schedule fires the second time"},
		{berlin("30 2 * * *", "quartz"), "2026-10-25T01:30:00Z", ""},
		{berlin("30 * * * *", ""), "2026-10-25T01:30:00Z", ""},
		{berlin("0 9 * * *", ""), "2026-03-07T09:00:00Z", `the schedule does not fire at 10:00: its hour is "9"`}, // on its own wall
	}
	for _, tt := range tests {
		m, err := ParseMoment(tt.at, tt.schedule.Zone)
		if err != nil {
			t.Errorf("%s: %v", tt.at, err)
			continue
		}
		got := tt.schedule.WhyNot("ops/a", m)
		if got != tt.want {
			t.Errorf("%s %s at %s: %q; want %q", tt.schedule, tt.schedule.DST, tt.at, got, tt.want)
		}
		if got != "" && reason.Read(got).Code == "" {
			t.Errorf("%q has no code", got)
		}
	}
}

func TestATimeInQuestionIsAnInstantOrOnTheWall(t *testing.T) {
	for text, want := range map[string]string{
		"2026-03-07T09:00": "2026-03-07T08:00:00Z", "2026-03-07 09:00": "2026-03-07T08:00:00Z", "2026-03-07T09:00:59": "2026-03-07T08:00:00Z",
		"2026-03-07T09:00:59.5+02:00": "2026-03-07T07:00:00Z", "2026-03-29T02:30": "2026-03-29T01:00:00Z", "2026-10-25T02:30": "2026-10-25T00:30:00Z",
	} {
		if got, err := ParseMoment(text, "Europe/Berlin"); err != nil || got.At.Format(time.RFC3339) != want {
			t.Errorf("%s is read as %v, %v; want %s", text, got.At, err, want)
		}
	}
	for _, text := range []string{"", "yesterday", "09:00", "9999-01-01T00:00", "0001-01-01T00:00:00Z", "2126-01-01T00:00:00Z", "1969-12-31T23:59", "2026-02-30T09:00"} {
		_, err := ParseMoment(text, "Europe/Berlin")
		if invalid, ok := errors.AsType[*InvalidError](err); !ok || invalid.Field != "at" {
			t.Errorf("%s is read with the error %v", text, err)
		}
	}
}
