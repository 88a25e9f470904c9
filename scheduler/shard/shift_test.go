package shard

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// weekend has a job's fires moved from Saturdays and Sundays.
func (b *bench) weekend(shift job.Shift, cron string) {
	b.t.Helper()
	err := b.m.PutCalendar(&job.CalendarVersion{
		Calendar:      job.Calendar{Calendar: "weekend", Windows: []job.Window{{Days: "sat,sun", From: "00:00", To: "24:00"}}},
		EffectiveFrom: noon.Add(-time.Hour),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.put(0, 1, func(v *job.Version) {
		v.Schedule = job.Schedule{Cron: cron, Except: []string{"weekend"}, Shift: shift}
	})
}

// days is how long it is until nine o'clock, so many days after noon.
func days(n int) time.Duration { return time.Duration(n)*24*time.Hour - 3*time.Hour }

func TestAFireOnAnExcludedDayRunsOnTheNextOrTheOneBefore(t *testing.T) {
	const excluded = "09:00:00 g/a@1 skipped schedule: calendar weekend excludes it; "
	b := newBench(t)
	b.weekend(job.ShiftNext, "0 9 7 * *") // a Saturday; it is Monday the 2nd
	for n := 1; n <= 4; n++ {
		b.want(b.step(days(n), bus.MaxBatch))
	}
	b.want(b.step(days(5), bus.MaxBatch), excluded+"shift next moves it to the next day that the calendars allow")
	b.want(b.step(days(6), bus.MaxBatch))
	b.want(b.step(days(7), bus.MaxBatch), "09:00:00 g/a@1 pending schedule: moved from 2026-03-07T09:00:00Z, which the calendars exclude")
	b.want(b.step(days(8), bus.MaxBatch))

	b = newBench(t)
	b.weekend(job.ShiftPrevious, "0 9 6-8 * *") // three fires on Friday are one
	b.want(b.step(days(3), bus.MaxBatch))
	b.want(b.step(days(4), bus.MaxBatch), "09:00:00 g/a@1 pending schedule")
	for n := 5; n <= 6; n++ {
		b.want(b.step(days(n), bus.MaxBatch), excluded+"shift previous moves it to the last day before that the calendars allow")
	}
	b.want(b.step(days(7), bus.MaxBatch))
}

func TestInstantsWithoutAFireLeaveNoTraceHoweverLateTheyAreNoticed(t *testing.T) {
	b := newBench(t)
	b.weekend(job.ShiftNext, "0 9 7 * *")
	b.want(b.step(20*24*time.Hour, bus.MaxBatch),
		"09:00:00 g/a@1 skipped schedule: calendar weekend excludes it; shift next moves it to the next day that the calendars allow",
		"09:00:00 g/a@1 pending misfire: moved from 2026-03-07T09:00:00Z, which the calendars exclude; noticed 315h late")
}

// So a backfill of what was skipped does not run it beside the fire on the other day.
func TestAFireThatAPauseSkipsSaysThatItMovesToo(t *testing.T) {
	b := newBench(t)
	b.weekend(job.ShiftNext, "0 9 7 * *")
	b.m.PutHold("g", job.Pause{Paused: true, EffectiveFrom: noon, Until: noon.Add(6 * 24 * time.Hour)})
	b.want(b.step(days(5), bus.MaxBatch), "09:00:00 g/a@1 skipped schedule: executor group g is paused; shift next moves it to the next day that the calendars allow")
	b.want(b.step(days(7), bus.MaxBatch), "09:00:00 g/a@1 pending schedule: moved from 2026-03-07T09:00:00Z, which the calendars exclude")
}
