package job

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// randomHistory returns versions of a job, in a day, and their plans.
func randomHistory(rng *rand.Rand, p *Planner, start time.Time) ([]*Version, History) {
	crons := []string{"*/7 * * * *", "30 2 * * *", "0 * * * *", "15,45 * * * *"}
	var versions []*Version
	var h History
	from := start
	for n := range 1 + rng.IntN(4) {
		v := &Version{Version: n + 1, EffectiveFrom: from}
		v.Job.Job = "g/a"
		switch rng.IntN(7) {
		case 0, 1:
			v.Schedule.Cron, v.Schedule.Zone = crons[rng.IntN(len(crons))], "Europe/Berlin"
		case 2:
			once := start.Add(time.Duration(rng.IntN(1440)) * time.Minute)
			v.Schedule.Once = &once
		case 3:
			v.Deleted = true
		case 4:
			v.Schedule.Every = &Every{Days: 1 + rng.IntN(2), At: OneOrMore{"00:30", "02:30", "13:07"}, From: start.Format(time.DateOnly)}
			v.Schedule.Zone = "Europe/Berlin"
		default:
			v.Schedule.FixedRate = Duration(time.Duration(1+rng.IntN(50)) * time.Minute)
		}
		if rng.IntN(2) == 0 {
			v.Schedule.Spread = Duration(time.Duration(1+rng.IntN(120)) * time.Minute)
		}
		plan, err := p.Plan(v)
		if err != nil {
			panic(err)
		}
		versions, h = append(versions, v), append(h, plan)
		from = from.Add(time.Duration(rng.IntN(600)) * time.Minute).Add(time.Millisecond * time.Duration(1+rng.IntN(2)*59_999))
	}
	return versions, h
}

// bruteFires walks from second to second of two days and asks each version's
// timetable whether it fires there.
func bruteFires(versions []*Version, h History, start time.Time) [][]Fire {
	all := make([][]Fire, len(versions))
	for i, v := range versions {
		end := int64(1 << 60)
		if i+1 < len(versions) {
			end = versions[i+1].EffectiveFrom.UnixMilli()
		}
		for at := start.UnixMilli() / 60_000 * 60_000; at <= start.Add(48*time.Hour).UnixMilli(); at += 60_000 {
			next, ok := h[i].table.Next(at - 1)
			if ok && next == at && !v.Deleted && at > v.EffectiveFrom.UnixMilli() && at <= end {
				all[i] = append(all[i], Fire{At: at, Due: at + h[i].Offset})
			}
		}
	}
	return all
}

func TestHistoriesAgreeWithAWalkOverEveryMinute(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2026, time.March, 28, 18, 0, 0, 0, time.UTC) // a night without 02:30
	for round := range 400 {
		versions, h := randomHistory(rng, &Planner{}, start)
		brute := bruteFires(versions, h, start)
		lo := start.Add(time.Duration(rng.IntN(86_400_000)) * time.Millisecond).UnixMilli()
		hi := lo + rng.Int64N(12*3_600_000)
		if rng.IntN(3) == 0 && len(brute[0]) > 0 { // boundaries exactly
			lo, hi = brute[0][0].Due, brute[0][len(brute[0])-1].Due
		}
		earliest := endOfTime
		for i := range versions {
			var want, got []Fire
			for _, f := range brute[i] {
				if f.Due > lo {
					earliest = min(earliest, f.Due)
				}
				if f.Due > lo && f.Due <= hi {
					want = append(want, f)
				}
			}
			h.Fires(i, lo, hi, func(f Fire) bool { got = append(got, f); return true })
			if !slices.Equal(want, got) {
				t.Fatalf("round %d, version %d of %+v: fires %v, want %v", round, i+1, versions, got, want)
			}
			last, ok := h.LastDue(i, lo, hi)
			if ok != (len(want) > 0) || ok && last != want[len(want)-1] {
				t.Fatalf("round %d, version %d: last %v, %v; want the last of %v", round, i+1, last, ok, want)
			}
			n := 1 + rng.IntN(4)
			newest, more := h.Newest(nil, i, lo, hi, n)
			if !slices.Equal(newest, want[max(len(want)-n, 0):]) || more != (len(want) > n) {
				t.Fatalf("round %d, version %d: the last %d are %v, %v; want those of %v", round, i+1, n, newest, more, want)
			}
		}
		if due, ok := h.NextDue(lo); ok != (earliest != endOfTime) && earliest != endOfTime || ok && earliest != endOfTime && due != earliest {
			t.Fatalf("round %d: next due %d, %v; want %d", round, due, ok, earliest)
		}
		kept := h.Trim(lo)
		dropped := len(h) - len(kept)
		for i := range dropped {
			for _, f := range brute[i] {
				if f.Due > lo {
					t.Fatalf("round %d: version %d is dropped, and its fire %v is due after %d", round, i+1, f, lo)
				}
			}
		}
		if dropped == len(h) {
			t.Fatalf("round %d: nothing is left", round)
		}
	}
}

func TestPlansWithTheSameRulesShareThem(t *testing.T) {
	var p Planner
	plan := func(name Name, change func(*Version)) Plan {
		t.Helper()
		v := &Version{Job: Job{Job: name, Schedule: Schedule{Cron: "0 3 * * *"}}, Version: 1}
		change(v)
		got, err := p.Plan(v)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	base := plan("g/a", func(*Version) {})
	at := time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)
	shares := func(want bool, name Name, change func(*Version)) {
		t.Helper()
		if got := plan(name, change); (got.Rules == base.Rules) != want {
			t.Errorf("%s %+v: shares is %v", name, got, !want)
		}
	}
	shares(true, "g/b", func(*Version) {})
	shares(true, "g/a", func(v *Version) { v.Paused, v.Version, v.Schedule.Spread = true, 2, Duration(time.Hour) })
	shares(false, "g/a", func(v *Version) { v.Schedule.Cron = "0 4 * * *" })
	shares(false, "g/a", func(v *Version) { v.Schedule.Zone = "Europe/Berlin" })
	shares(false, "g/a", func(v *Version) {
		v.Schedule.Cron, v.Schedule.Every = "", &Every{Days: 2, At: OneOrMore{"03:00"}, From: "2026-01-01"}
	})
	shares(false, "g/a", func(v *Version) { v.Schedule.DST = "quartz" })
	shares(false, "g/a", func(v *Version) { v.Schedule.Only = []string{"c"} })
	shares(false, "g/a", func(v *Version) { v.Schedule.Except = []string{"c"} })
	shares(false, "g/a", func(v *Version) { v.Schedule.From = &at })
	shares(false, "g/a", func(v *Version) { v.Schedule.Until = &at })
	shares(false, "g/a", func(v *Version) { v.Misfire.Policy = FireAll })
	shares(false, "g/a", func(v *Version) { v.Misfire.Grace = Duration(time.Hour) })

	only := plan("g/a", func(v *Version) { v.Schedule.Only = []string{"c"} })
	except := plan("g/a", func(v *Version) { v.Schedule.Except = []string{"c"} })
	if only.Rules == except.Rules {
		t.Error("only and except share rules")
	}
	hash := func(v *Version) { v.Schedule.Cron = "H H * * *" }
	for _, text := range []string{"@hourly", "@every 1h"} {
		same := func(v *Version) { v.Schedule.Cron = text }
		if plan("g/a", same).Rules != plan("g/b", same).Rules {
			t.Errorf("two jobs do not share %s", text)
		}
	}
	if plan("g/a", hash).Rules == plan("g/b", hash).Rules {
		t.Error("two jobs share an expression with H, which stands for the job's own value")
	}
	if first, second := plan("g/a", hash), plan("g/a", hash); first.Rules != second.Rules {
		t.Error("a job's H is not shared among its versions")
	}
}

func TestAPlanOfAnInvalidVersionIsRefused(t *testing.T) {
	var p Planner
	_, err := p.Plan(&Version{Job: Job{Job: "g/a", Schedule: Schedule{Cron: "soon"}}})
	if got := Problems(err); len(got) != 1 || got[0].Field != "schedule.cron" {
		t.Errorf("problems %v", got)
	}
}

func TestADelayFiresWithinItsScheduleOnly(t *testing.T) {
	noon := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	from, until := noon.Add(time.Hour), noon.Add(2*time.Hour)
	var p Planner
	plan, err := p.Plan(&Version{Job: Job{Job: "g/a", Schedule: Schedule{
		FixedDelay: Duration(time.Minute), From: &from, Until: &until, Spread: Duration(time.Hour),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	fires := func(since, want time.Duration, ok bool) {
		t.Helper()
		f, got := plan.DelayFire(noon.Add(since).UnixMilli())
		if diff := cmp.Diff(fmt.Sprint(noon.Add(want).UnixMilli(), ok), fmt.Sprint(f.At, got)); diff != "" || f.Due-f.At != plan.Offset {
			t.Errorf("since %s: %+v %s", since, f, diff)
		}
	}
	fires(0, time.Hour, true)
	fires(59*time.Minute, time.Hour, true)
	fires(90*time.Minute, 91*time.Minute, true)
	fires(119*time.Minute, 2*time.Hour, true)
	fires(120*time.Minute, 121*time.Minute, false)
}

func TestAPlannerForgetsRulesThatNoPlanHas(t *testing.T) {
	planner := &Planner{}
	once := func(i int) Plan {
		at := time.UnixMilli(int64(i)).UTC()
		p, err := planner.Plan(&Version{Job: Job{Job: "g/a", Schedule: Schedule{Once: &at}}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	kept := once(0)
	for i := range 20 {
		for k := range 1000 {
			once(1 + 1000*i + k)
		}
		runtime.GC()
	}
	if n := len(planner.rules); n > 8000 {
		t.Errorf("the planner has %d rules, and one is used", n)
	}
	if again := once(0); again.Rules != kept.Rules {
		t.Error("two equal plans do not share their rules")
	}
	runtime.KeepAlive(kept)
}
