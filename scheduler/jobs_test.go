package scheduler_test

import (
	"testing"
	"time"
	_ "time/tzdata" // also on a machine without zones

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

func paused(j *job.Job) { j.Paused = true }

func TestAnEditHoldsFromTheInstantAtWhichItIsSaved(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", cron("* * * * *"))
		time.Sleep(time.Minute) // 00:01:30
		w.put("g/a", cron("*/10 * * * * ?"))
		time.Sleep(15 * time.Second)
		w.put("g/a", cron("0 12 * * *"))
		time.Sleep(2 * time.Minute)
		w.wantDecided("g/a 00:01:00 pending schedule", "g/a 00:01:40 pending schedule")
	})
}

func TestADeletedJobFiresNoMore(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", cron("* * * * *"))
		time.Sleep(time.Minute)
		if err := w.conn.Jobs().Delete(w.t.Context(), "g/a", cluster.Edit{At: time.Now()}); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(2 * time.Minute) // 00:03:30
		w.put("g/a", cron("* * * * *"))
		time.Sleep(time.Minute)
		w.wantDecided("g/a 00:01:00 pending schedule", "g/a 00:04:00 pending schedule")
	})
}

func TestFiresOfAPausedJobAreRecordedAsSkipped(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", cron("* * * * *"))
		time.Sleep(time.Minute)
		w.put("g/a", cron("* * * * *"), paused)
		time.Sleep(2 * time.Minute)
		w.put("g/a", cron("* * * * *"))
		time.Sleep(time.Minute)
		w.wantDecided(
			"g/a 00:01:00 pending schedule",
			"g/a 00:02:00 skipped schedule",
			"g/a 00:03:00 skipped schedule",
			"g/a 00:04:00 pending schedule",
		)
	})
}

func TestEverythingCanBePaused(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", cron("* * * * *"))
		w.put("h/b", cron("* * * * *"))
		hold := func(on bool) {
			if _, _, err := w.conn.Pauses().Set(w.t.Context(), "", on, time.Time{}, cluster.Edit{At: time.Now()}); err != nil {
				w.t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		hold(true)
		time.Sleep(time.Minute)
		w.stopNode("a") // a new node knows of the switch before it fires
		w.startNode("b")
		time.Sleep(time.Minute)
		hold(false)
		time.Sleep(time.Minute)
		w.wantDecided(
			"g/a 00:01:00 pending schedule", "h/b 00:01:00 pending schedule",
			"g/a 00:02:00 skipped schedule", "h/b 00:02:00 skipped schedule",
			"g/a 00:03:00 skipped schedule", "h/b 00:03:00 skipped schedule",
			"g/a 00:04:00 pending schedule", "h/b 00:04:00 pending schedule",
		)
	})
}

func TestACalendarExcludesAsOfWhenItWasSaved(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{Cron: "* * * * *", Except: []string{"holidays"}})
		save := func(dates ...string) {
			if _, _, err := w.conn.Calendars().Put(w.t.Context(), job.Calendar{Calendar: "holidays", Zone: "UTC", Dates: dates}, cluster.Edit{At: time.Now()}); err != nil {
				w.t.Fatal(err)
			}
		}
		save("2026-12-25")
		time.Sleep(time.Minute)
		save("2026-12-25", "2026-01-05")
		time.Sleep(time.Minute)
		w.stopNode("a") // a new node knows of calendars before it fires
		w.startNode("b")
		time.Sleep(time.Minute)
		save("2026-12-25")
		time.Sleep(time.Minute)
		w.wantDecided(
			"g/a 00:01:00 pending schedule",
			"g/a 00:02:00 skipped schedule",
			"g/a 00:03:00 skipped schedule",
			"g/a 00:04:00 pending schedule",
		)
	})
}

// Lord Howe Island turns its clocks by half an hour only, which makes for short nights.
func lordHowe(text string) job.Schedule {
	return job.Schedule{Cron: text, Zone: "Australia/Lord_Howe"}
}

func TestAtLengthTheNightThatSkipsHalfAnHourFiresWhatItSkipsAtTheEndOfTheGap(t *testing.T) {
	runAt(t, time.Date(2026, time.October, 3, 15, 20, 0, 0, time.UTC), 1, func(w *world) { // 01:50 there
		w.startNode("a")
		w.put("g/before", lordHowe("55 1 * * *"))
		w.put("g/within", lordHowe("15 2 * * *"))
		w.put("g/hourly", lordHowe("5,40 * * * *"))
		time.Sleep(22 * time.Minute) // 02:42: after 01:59 came 02:30
		w.wantDecided(
			"g/before 15:25:00 pending schedule",
			"g/hourly 15:40:00 pending schedule",
			"g/within 15:30:00 pending schedule",
		)
	})
}

func TestAtLengthTheNightThatRepeatsHalfAnHourFiresDailyJobsOnce(t *testing.T) {
	runAt(t, time.Date(2026, time.April, 4, 14, 48, 0, 0, time.UTC), 1, func(w *world) { // 01:48 there
		w.startNode("a")
		w.put("g/daily", lordHowe("50 1 * * *"))
		w.put("g/hourly", lordHowe("51 * * * *"))
		time.Sleep(34 * time.Minute) // 01:52, for the second time
		w.wantDecided(
			"g/daily 14:50:00 pending schedule",
			"g/hourly 14:51:00 pending schedule", "g/hourly 15:21:00 pending schedule",
		)
	})
}

// The node that crashes does so 2 s before a fire.
func TestAtLengthHoursAreWhatTheSchedulesSay(t *testing.T) {
	passes(t, time.Date(2026, time.January, 5, 12, 59, 58, 0, time.UTC), 13*time.Minute, 90)
}

func TestNightlyAWholeDayIsWhatTheSchedulesSay(t *testing.T) { passes(t, start, 24*time.Hour/5, 1500) }

// passes fires many kinds of job for five times the length of a part. Between the parts a node joins,
// one crashes, the broker restarts, and the nodes change. The fires must be those that package job
// computes, and at least so many.
func passes(t *testing.T, begin time.Time, part time.Duration, atLeast int) {
	t.Helper()
	runAt(t, begin, 2, func(w *world) {
		schedules := []job.Schedule{
			{Cron: "*/7 * * * *"},
			{Cron: "0 3 * * *", Zone: "Asia/Tokyo"},
			{Cron: "H * * * *"},
			{Cron: "30 8-18/2 * * mon-fri", Zone: "Europe/Berlin"},
			{Cron: "15 10 * * *", Spread: job.Duration(time.Hour)},
			{FixedRate: job.Duration(17 * time.Minute)},
			{Cron: "@every 31m"},
			{Cron: "@at 2026-01-05T13:14:15Z"},
			{Cron: "0 0/5 14,18 * * ?"},
			{Cron: "0 0 29 2 *"},
		}
		jobs := names(50)
		for i, n := range jobs {
			w.put(n, schedules[i%len(schedules)])
		}
		w.startNode("a")
		time.Sleep(part)
		w.startNode("b")
		time.Sleep(part)
		w.killNode("a")
		time.Sleep(part)
		w.broker.Stop()
		w.broker.Start()
		time.Sleep(part)
		w.startNode("a")
		w.stopNode("b")
		time.Sleep(part)
		now := time.Now()
		var want []string
		planner := &job.Planner{}
		for _, n := range jobs {
			versions, err := w.conn.Jobs().Versions(w.t.Context(), n)
			if err != nil {
				w.t.Fatal(err)
			}
			plan, err := planner.Plan(&versions[0].Version)
			if err != nil {
				w.t.Fatal(err)
			}
			job.History{plan}.Fires(0, begin.UnixMilli(), now.UnixMilli(), func(f job.Fire) bool {
				want = append(want, string(n)+" "+time.UnixMilli(f.At).UTC().Format("15:04:05")+" pending schedule")
				return true
			})
		}
		if len(want) < atLeast {
			w.t.Fatalf("there are %d fires, want at least %d", len(want), atLeast)
		}
		w.wantDecided(want...)
	})
}
