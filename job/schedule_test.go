package job_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

func TestTheKindOfAScheduleFollowsFromItsFields(t *testing.T) {
	once := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	is := func(s job.Schedule, kind job.ScheduleKind, text string) {
		t.Helper()
		if s.Kind() != kind || s.String() != text {
			t.Errorf("%+v is %s, %q; want %s, %q", s, s.Kind(), s, kind, text)
		}
	}
	is(job.Schedule{Cron: "0 3 * * *", Zone: "Europe/Berlin"}, job.KindCron, "0 3 * * * Europe/Berlin")
	is(job.Schedule{Cron: "@daily", Zone: "UTC"}, job.KindCron, "@daily")
	is(job.Schedule{Cron: "@every 90s"}, job.KindFixedRate, "@every 90s")
	is(job.Schedule{Cron: "@at 2026-03-01T09:00:00Z"}, job.KindOnce, "@at 2026-03-01T09:00:00Z")
	is(job.Schedule{FixedRate: job.Duration(5 * time.Minute)}, job.KindFixedRate, "every 5m")
	is(job.Schedule{FixedDelay: job.Duration(time.Hour)}, job.KindFixedDelay, "1h after the last run")
	is(job.Schedule{Once: &once}, job.KindOnce, "once at 2026-03-01T09:00:00Z")
	is(job.Schedule{}, job.KindManual, "manual")
}

func TestPreviewTellsTheNextFires(t *testing.T) {
	noon := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) *time.Time { v := noon.Add(d); return &v }
	fires := func(s job.Schedule, want ...time.Duration) {
		t.Helper()
		var p job.Planner
		got, err := p.Preview(job.Job{Job: "g/a", Schedule: s}, noon, 3)
		if err != nil {
			t.Errorf("%s: %v", s, err)
			return
		}
		if len(got) != len(want) {
			t.Errorf("%s fires at %v, want %v", s, got, want)
			return
		}
		for i, f := range got {
			if f.At != noon.Add(want[i]).UnixMilli() {
				t.Errorf("%s fires at %s, want %s", s, time.UnixMilli(f.At).UTC(), noon.Add(want[i]))
			}
		}
	}
	const m = time.Minute
	fires(job.Schedule{Cron: "*/20 * * * *"}, 20*m, 40*m, 60*m)
	fires(job.Schedule{Cron: "@every 25m"}, 10*m, 35*m, 60*m) // counted from 1970
	fires(job.Schedule{FixedRate: job.Duration(25 * m), Anchor: at(-m)}, 24*m, 49*m, 74*m)
	fires(job.Schedule{FixedRate: job.Duration(25 * m), Anchor: at(24 * 365 * time.Hour)}, 25*m, 50*m, 75*m)
	fires(job.Schedule{FixedRate: job.Duration(25 * m), From: at(7 * m)}, 7*m, 32*m, 57*m)
	fires(job.Schedule{FixedRate: job.Duration(25 * m), From: at(7 * m), Until: at(32 * m)}, 7*m, 32*m)
	fires(job.Schedule{FixedRate: job.Duration(25 * m), From: at(7 * m), Until: at(32*m - 1)}, 7*m)
	fires(job.Schedule{Cron: "*/20 * * * *", From: at(20 * m), Until: at(40 * m)}, 20*m, 40*m)
	fires(job.Schedule{Cron: "*/20 * * * *", From: at(20*m + time.Millisecond)}, 40*m, 60*m, 80*m)
	fires(job.Schedule{Once: at(m)}, m)
	fires(job.Schedule{Once: at(0)})
	fires(job.Schedule{Once: at(m), From: at(2 * m)})
	fires(job.Schedule{Cron: "@at 2026-03-01T13:02:00+01:00"}, 2*m)
	fires(job.Schedule{FixedDelay: job.Duration(m)})
	fires(job.Schedule{})
}

func TestASpreadMovesTheDispatchByTheSameOffsetEachTime(t *testing.T) {
	noon := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	var p job.Planner
	spread := job.Schedule{Cron: "* * * * *", Spread: job.Duration(time.Hour)}
	offsets := map[int64]bool{}
	for _, name := range []job.Name{"g/a", "g/b", "g/c", "g/d"} {
		fires, err := p.Preview(job.Job{Job: name, Schedule: spread}, noon, 2)
		if err != nil {
			t.Fatal(err)
		}
		offset := fires[0].Due - fires[0].At
		if offset < 0 || offset >= time.Hour.Milliseconds() || fires[1].Due-fires[1].At != offset {
			t.Errorf("%s is due %v", name, fires)
		}
		offsets[offset] = true
	}
	if len(offsets) != 4 {
		t.Errorf("offsets %v of four jobs", offsets)
	}
}
