package job

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job/cron"
)

func planOf(t *testing.T, s Schedule) Plan {
	t.Helper()
	var planner Planner
	plan, err := planner.Plan(&Version{Job: Job{Job: "a/b", Schedule: s, Task: Task{Handler: "h"}}.WithDefaults()})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestAPlanCountsItsFires(t *testing.T) {
	from := time.Date(2026, 11, 22, 9, 0, 3, 217e6, time.UTC) // between two fires of whatever there is
	const day = 24 * time.Hour
	check := func(s Schedule, within time.Duration, want int) {
		t.Helper()
		plan := planOf(t, s)
		if got := plan.Count(from, within); got != want {
			t.Errorf("%s fires %d times within %s; want %d", s, got, within, want)
		}
	}
	check(Schedule{Cron: "0 3 * * *"}, day, 1)
	check(Schedule{Cron: "0 3 * * *"}, 365*day, 365)
	check(Schedule{Cron: "*/5 * * * *"}, day, 288)
	check(Schedule{Cron: "*/5 * * * *"}, 365*day, 365*288) // beyond what is counted one by one
	check(Schedule{FixedRate: Duration(100 * time.Millisecond)}, 365*day, 365*864_000)
	check(Schedule{}, 365*day, 0)
	until := from.Add(3 * time.Hour)
	check(Schedule{Cron: "0 * * * *", Until: &until}, 365*day, 3)
}

func TestAPlanTellsWhatMovedClocksMeanToIt(t *testing.T) {
	winter := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	spring := time.Date(2027, 3, 28, 1, 0, 0, 0, time.UTC)
	plan := planOf(t, Schedule{Cron: "30 2 * * *", Zone: "Europe/Berlin"})
	if move, wall := plan.Moved(spring.UnixMilli()); move != cron.AfterGap || wall != 150*time.Minute {
		t.Errorf("in spring: %d, %s", move, wall)
	}
	want := ClockChange{At: spring, Before: time.Hour, After: 2 * time.Hour, Gap: "fire", Overlap: "first"}
	if got, ok := plan.NextClockChange(winter); !ok || got != want {
		t.Errorf("the next change is %+v, %t; want %+v", got, ok, want)
	}
	rate := planOf(t, Schedule{FixedRate: Duration(time.Hour), Zone: "Europe/Berlin"})
	if _, ok := rate.NextClockChange(winter); ok {
		t.Error("an interval follows a clock")
	}
	if move, _ := rate.Moved(spring.UnixMilli()); move != cron.NotMoved {
		t.Errorf("a fire of an interval was moved: %d", move)
	}
}
