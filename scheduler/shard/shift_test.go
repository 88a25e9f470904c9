package shard

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// weekend has a job's fires moved from Saturdays and Sundays.
func (b *bench) weekend(shift job.Shift, cron string) {
	b.t.Helper()
	b.closed(-time.Hour, "sat,sun")
	b.put(0, 1, shifted(shift, cron))
}

// closed has the calendar weekend be those days, beginning so long after noon.
func (b *bench) closed(after time.Duration, days string) {
	b.t.Helper()
	err := b.m.Cluster.PutCalendar(&job.CalendarVersion{
		Calendar:      job.Calendar{Calendar: "weekend", Windows: []job.Window{{Days: days, From: "00:00", To: "24:00"}}},
		EffectiveFrom: noon.Add(after),
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func shifted(shift job.Shift, cron string) func(*job.Version) {
	return func(v *job.Version) {
		v.Schedule = job.Schedule{Cron: cron, Except: []string{"weekend"}, Shift: shift}
	}
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
	b.m.Cluster.PutHold("g", job.Pause{Paused: true, EffectiveFrom: noon, Until: noon.Add(6 * 24 * time.Hour)})
	b.want(b.step(days(5), bus.MaxBatch), "09:00:00 g/a@1 skipped schedule: executor group g is paused; shift next moves it to the next day that the calendars allow")
	b.want(b.step(days(7), bus.MaxBatch), "09:00:00 g/a@1 pending schedule: moved from 2026-03-07T09:00:00Z, which the calendars exclude")
}

// Calendars that the owner hears of later do not change what has fired.
func TestAnEditHeardLateBeginsAfterTheLastFireThatWasMoved(t *testing.T) {
	const (
		own      = "09:00:00 g/a@1 pending schedule"
		excluded = "09:00:00 g/a@1 skipped schedule: calendar weekend excludes it; shift next moves it to the next day that the calendars allow"
		moved    = "09:00:00 g/a@1 pending schedule: moved from 2026-03-07T09:00:00Z, which the calendars exclude"

		same      = "the same owner"
		successor = "a successor"
	)
	saturday, sunday := days(5), days(6)
	daily := func(v *job.Version) { v.Schedule.Cron, v.Misfire.Grace = "0 9 * * *", job.Duration(time.Hour) }
	for _, c := range []struct {
		name       string
		then       string // is closed while both days are decided
		onSaturday string
		onSunday   []string
		since      string // is closed by a change that is heard of later
		edit       []string
	}{
		{"nothing was moved", "tue", own, nil, "sat", []string{"09:00:00 g/a@2 pending schedule"}},
		{"one was moved", "sat", excluded, []string{moved}, "tue", nil},
		{"one was moved, and calendars still say so", "sat", excluded, []string{moved}, "sat,tue", nil},
	} {
		for _, owner := range []string{same, successor} {
			t.Run(c.name+", "+owner, func(t *testing.T) {
				b := newBench(t)
				tell := func() {
					b.closed(-time.Hour, c.then)
					b.put(0, 1, shifted(job.ShiftNext, "0 9 7 * *"))
				}
				tell()
				b.want(b.step(saturday, bus.MaxBatch), c.onSaturday)
				b.want(b.step(sunday, bus.MaxBatch), c.onSunday...)
				if owner == successor {
					b.succeed()
					tell()
				}

				b.closed(sunday-2*time.Second, c.since)
				b.put(sunday-time.Second, 2, daily)

				b.want(b.step(sunday+time.Second, bus.MaxBatch), c.edit...)
			})
		}
	}
}

func TestTheCursorNotesTheLatestFiresThatWereMovedAndSinceWhenThoseAreAll(t *testing.T) {
	b := newBench(t)
	b.weekend(job.ShiftNext, "0 9 7 * *")
	plan := &b.m.jobs.at(b.m.jobs.byName["g/a"]).plans[0]
	monday := noon.Add(days(7))
	name := func(i int) job.Name { return job.Name(fmt.Sprintf("g/job-%03d", i)) }
	for i := range maxMoved + 2 {
		b.m.fires.moved.note(name(i), plan, monday.Add(time.Duration(i)*time.Second).UnixMilli())
	}
	b.m.fires.moved.note(name(5), plan, noon.Add(days(5+31)).UnixMilli()) // one of its own days came since

	b.step(days(1), bus.MaxBatch)
	b.step(days(2), bus.MaxBatch)
	moved := b.trig.cursor.Moved
	b.succeed()

	if len(moved.Fires) != maxMoved-1 || moved.Fires[0].Job != name(2) || !moved.Since.Equal(monday.Add(time.Second)) {
		t.Errorf("%d fires are noted, from that of %s on, all since %s", len(moved.Fires), moved.Fires[0].Job, moved.Since)
	}
	if diff := cmp.Diff(moved, b.m.fires.moved.list()); diff != "" {
		t.Errorf("its successor knows others (-want +got):\n%s", diff)
	}
}
