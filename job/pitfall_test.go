package job_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

func TestAScheduleWithoutAFireInItsWindowIsRefusedAndTheWindowNamed(t *testing.T) {
	at := func(text string) *time.Time {
		v, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return &v
	}
	from, until := at("2027-02-01T01:00:00Z"), at("2027-03-01T00:00:00Z")
	f := func(s job.Schedule, want string) {
		t.Helper()
		got := ""
		if err := (job.Job{Job: "g/a", Task: job.Task{Shell: "true"}, Schedule: s}).WithDefaults().Validate(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s is refused with\n     %q\nwant %q", s, got, want)
		}
	}
	const between = "never fires: it has no fire between schedule.from, 2027-02-01T01:00:00Z, and schedule.until, 2027-03-01T00:00:00Z"
	f(job.Schedule{Cron: "0 9 1 1 *", From: from, Until: until}, `schedule.cron "0 9 1 1 *" `+between)
	f(job.Schedule{Cron: "0 0 0 1 1 ? 2026", From: from}, `schedule.cron "0 0 0 1 1 ? 2026" never fires: it has no fire from schedule.from on, 2027-02-01T01:00:00Z`)
	f(job.Schedule{Cron: "0 0 0 1 1 ? 2030", Until: until}, `schedule.cron "0 0 0 1 1 ? 2030" never fires: it has no fire up to schedule.until, 2027-03-01T00:00:00Z`)
	f(job.Schedule{Cron: "0 0 30 2 *", From: from, Until: until}, `schedule.cron "0 0 30 2 *" never fires: no date matches it`)
	f(job.Schedule{Once: at("2027-04-01T00:00:00Z"), From: from, Until: until}, "schedule.once "+between)
	f(job.Schedule{Cron: "@at 2027-01-01T00:00:00Z", From: from, Until: until}, `schedule.cron "@at 2027-01-01T00:00:00Z" `+between)
	f(job.Schedule{FixedRate: job.Duration(24 * time.Hour), Anchor: at("2027-02-01T00:00:00Z"), From: from, Until: at("2027-02-01T23:00:00Z")},
		"schedule.fixed_rate never fires: it has no fire between schedule.from, 2027-02-01T01:00:00Z, and schedule.until, 2027-02-01T23:00:00Z")
	f(job.Schedule{Cron: "@every 24h", Until: at("1970-01-01T00:00:00Z")}, "")
	f(job.Schedule{Cron: "0 9 1 2 *", From: from, Until: until}, "")
	f(job.Schedule{FixedDelay: job.Duration(time.Hour), From: from, Until: from}, "")
	f(job.Schedule{From: from, Until: from}, "")
}

func TestASchedulesPitfallsAreNamed(t *testing.T) {
	now := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) *time.Time { v := now.Add(d); return &v }
	f := func(s job.Schedule, want ...string) {
		t.Helper()
		var got []string
		for _, p := range s.Pitfalls("g/a", now) {
			got = append(got, p.Error())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", s, diff)
		}
	}
	f(job.Schedule{Cron: "0 30 18 ? * 1-5"}, `schedule.cron has "1-5", which is SUN-THU, because 1 is Sunday with six fields; write names, such as MON-FRI`)
	f(job.Schedule{Cron: "*/90 * * * *"}, `schedule.cron has "*/90", which stands for 0 and starts again each time; use fixed_rate for a fire every 90m`)
	f(job.Schedule{Cron: "0 0 1 */5 *"}, `schedule.cron has "*/5", which stands for 1,6,11 and starts again each time; for equal intervals, use every with "months: 5"`)
	f(job.Schedule{Cron: "0 0 31 * *"}, `schedule.cron names day 31 and does not fire in months that end before it (FEB,APR,JUN,SEP,NOV); for the last day, use every with "months: 1, on: [last day]"`)
	f(job.Schedule{Cron: "0 0 29 2 *"}, `schedule.cron names day 29, which February has in leap years only; for the last day, use every with "months: 1, on: [last day]"`)
	f(job.Schedule{Cron: "0 0 1-7 * 1"}, `schedule.cron has a day of the month and a day of the week, and fires on each day that one of them matches, as cron does; for days that both match, use every, such as "months: 1, on: [1st mon]"`)
	f(job.Schedule{Cron: "* 3 * * *"}, `schedule.cron has "*" before "3" and fires 60 times then; for one fire, write 0 in the place of the *`)
	const drift = "schedule.zone has no effect on when a fixed rate fires: its time of day changes with the clocks of Europe/Brussels, next at 2026-03-29T01:00:00Z; use cron or every for a fixed time of day"
	f(job.Schedule{FixedRate: job.Duration(168 * time.Hour), Zone: "Europe/Brussels"}, drift)
	f(job.Schedule{Cron: "@every 12h", Zone: "Europe/Brussels"}, drift)
	f(job.Schedule{FixedRate: job.Duration(time.Hour), Zone: "Europe/Brussels"})
	f(job.Schedule{FixedRate: job.Duration(168 * time.Hour), Zone: "Asia/Shanghai"})
	f(job.Schedule{FixedRate: job.Duration(168 * time.Hour)})

	f(job.Schedule{Once: at(-time.Hour)}, "schedule.once 2026-03-01T11:00:00Z is in the past: the job never fires")
	f(job.Schedule{Cron: "@at 2026-03-01T11:00:00Z"}, "schedule.cron 2026-03-01T11:00:00Z is in the past: the job never fires")
	f(job.Schedule{Once: at(time.Hour)})
	for _, s := range []job.Schedule{
		{Cron: "0 3 * * *"}, {FixedRate: job.Duration(time.Minute)}, {FixedDelay: job.Duration(time.Minute)}, {Cron: "@every 1m"},
	} {
		f(s)
		s.From, s.Until = at(-48*time.Hour), at(-time.Hour)
		f(s, "schedule.until 2026-03-01T11:00:00Z is in the past: the job never fires")
	}
	f(job.Schedule{Cron: "0 3 * * *", Until: at(time.Hour)}, "schedule.cron has no fire from now on: the job never fires")
	f(job.Schedule{Cron: "0 0 0 1 1 ? 2020"}, "schedule.cron has no fire from now on: the job never fires")
	f(job.Schedule{FixedDelay: job.Duration(2 * time.Hour), Until: at(time.Hour)}, "schedule.fixed_delay has no fire from now on: the job never fires")
	f(job.Schedule{FixedRate: job.Duration(24 * time.Hour), Until: at(time.Hour)}, "schedule.fixed_rate has no fire from now on: the job never fires")
	f(job.Schedule{})
}
