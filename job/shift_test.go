package job

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// randomShift is a schedule that moves fires, and a calendar of whole days in its zone.
type randomShift struct {
	Schedule
	days     string          // the fields for days of its expression
	clock    string          // those for times of day
	excluded map[string]bool // dates
	calendar *DateSet
}

func newRandomShift(rng *rand.Rand, from, to time.Time) *randomShift {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	r := &randomShift{
		days:     pick("25 * *", "1,15 * *", "* * 1", "* * *", "31 * *", "29 2 *", "10-20 6 *", "1 1 *", "* * 6,0", "13 * 5"),
		clock:    pick("0 9", "30 2", "15,45 1-3", "0 0", "30 *", "0 3", "59 23"),
		excluded: map[string]bool{},
	}
	r.Cron = r.clock + " " + r.days
	r.Zone = pick("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai")
	r.DST = pick("", "quartz", "vixie", "gap=skip", "overlap=both", "gap=fire,overlap=last")
	r.Shift = Shifts[rng.IntN(2)]
	c := Calendar{Calendar: "c", Zone: r.Zone}
	share := []int{0, 10, 40, 80, 97, 100}[rng.IntN(6)]
	weekend := rng.IntN(2) == 0
	if weekend {
		c.Windows = []Window{{Days: "sat,sun", From: "00:00", To: "24:00"}}
	}
	for day := from; day.Before(to); day = day.AddDate(0, 0, 1) {
		date := day.Format(time.DateOnly)
		r.excluded[date] = rng.IntN(100) < share
		if r.excluded[date] && len(c.Dates) < MaxCalendarDates {
			c.Dates = append(c.Dates, date)
		}
		r.excluded[date] = r.excluded[date] || weekend && (day.Weekday() == time.Saturday || day.Weekday() == time.Sunday)
	}
	r.Except = []string{"c"}
	var err error
	if r.calendar, err = c.Compile(); err != nil {
		panic(err)
	}
	return r
}

// slow returns when r fires after an instant and up to another, in the plainest words: it moves
// each date of the schedule, and lists when an expression without dates fires on those.
func (r *randomShift) slow(t *testing.T, after, upto time.Time) (fires []int64) {
	t.Helper()
	preview := func(s Schedule, after, upto time.Time) (all []time.Time) {
		var planner Planner
		plan, err := planner.Plan(&Version{Job: Job{Job: "g/a", Schedule: s}, EffectiveFrom: after})
		if err != nil {
			t.Fatal(err)
		}
		History{plan}.Fires(0, after.UnixMilli(), upto.UnixMilli(), func(f Fire) bool {
			all = append(all, time.UnixMilli(f.At).UTC())
			return true
		})
		return all
	}
	const far = 40 * 24 * time.Hour
	step := 1
	if r.Shift == ShiftPrevious {
		step = -1
	}
	dates := map[string]bool{}
	for _, noon := range preview(Schedule{Cron: "0 12 " + r.days}, after.Add(-far), upto.Add(far)) {
		for n := range MaxShift + 1 {
			if date := noon.AddDate(0, 0, n*step).Format(time.DateOnly); !r.excluded[date] {
				dates[date] = true
				break
			}
		}
	}
	location, err := time.LoadLocation(r.Zone)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range preview(Schedule{Cron: r.clock + " * * *", Zone: r.Zone, DST: r.DST}, after, upto) {
		if dates[at.In(location).Format(time.DateOnly)] {
			fires = append(fires, at.UnixMilli())
		}
	}
	return fires
}

// fast returns the same by the timetable and what lands there.
func (r *randomShift) fast(t *testing.T, after, upto time.Time) (fires []int64) {
	t.Helper()
	var planner Planner
	plan, err := planner.Plan(&Version{Job: Job{Job: "g/a", Schedule: r.Schedule}, EffectiveFrom: after})
	if err != nil {
		t.Fatal(err)
	}
	allows := func(at int64) bool { return !r.calendar.Contains(at) }
	History{plan}.Fires(0, after.UnixMilli(), upto.UnixMilli(), func(f Fire) bool {
		switch l, from := plan.Lands(f.At, allows); {
		case (l == LandsHere || l == LandsElse) != plan.Nominal(f.At):
			t.Errorf("%s: %d is nominal, %v", time.UnixMilli(f.At).UTC(), l, plan.Nominal(f.At))
		case l == LandsFrom && (allows(from) || (from < f.At) != (r.Shift == ShiftNext)):
			t.Errorf("%s is moved from %s", time.UnixMilli(f.At).UTC(), time.UnixMilli(from).UTC())
		case l == LandsHere || l == LandsFrom:
			fires = append(fires, f.At)
		}
		return true
	})
	return fires
}

// checkShift compares the two for what chance makes of a seed.
func checkShift(t *testing.T, seed uint64) (fires int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 2))
	after := time.Date(2026, time.Month(1+rng.IntN(12)), 1+rng.IntN(28), rng.IntN(24), 0, 0, 0, time.UTC)
	upto := after.AddDate(0, 0, 1+rng.IntN(400))
	r := newRandomShift(rng, after.AddDate(0, 0, -90), upto.AddDate(0, 0, 90))
	want := r.slow(t, after, upto)
	if diff := cmp.Diff(want, r.fast(t, after, upto)); diff != "" {
		t.Fatalf("seed %d: %+v after %s (-slow +fast):\n%s", seed, r.Schedule, after, diff)
	}
	return len(want)
}

func TestShiftedFiresAreThoseOfASlowerAndPlainerWay(t *testing.T) {
	fires := 0
	for seed := range uint64(400) {
		fires += checkShift(t, seed)
	}
	if fires < 10_000 {
		t.Errorf("only %d fires were compared", fires)
	}
}

func FuzzShift(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkShift(t, seed) })
}

func TestAPaydayOnAHolidayIsMoved(t *testing.T) {
	holidays, err := Calendar{Calendar: "c", Zone: "Europe/Berlin", Dates: []string{"12-25", "12-26"}, Windows: []Window{{Days: "sat,sun", From: "00:00", To: "24:00"}}}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	landings := func(s Shift, cron string, except func(int64) bool) string {
		var planner Planner
		plan, err := planner.Plan(&Version{Job: Job{Job: "g/pay", Schedule: Schedule{Cron: cron, Zone: "Europe/Berlin", Except: []string{"c"}, Shift: s}}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		from := time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)
		History{plan}.Fires(0, from.UnixMilli(), from.AddDate(0, 7, 0).UnixMilli(), func(f Fire) bool {
			if l, of := plan.Lands(f.At, func(at int64) bool { return !except(at) }); l == LandsHere || l == LandsFrom {
				text := time.UnixMilli(f.At).UTC().Format("0102T15")
				if l == LandsFrom {
					text += time.UnixMilli(of).UTC().Format("<0102")
				}
				got = append(got, text)
			}
			return true
		})
		slices.Sort(got)
		return strings.Join(got, " ")
	}
	for s, want := range map[Shift]string{
		ShiftNext:     "0625T07 0727T07<0725 0825T07 0925T07 1026T08<1025 1125T08 1228T08<1225",
		ShiftPrevious: "0625T07 0724T07<0725 0825T07 0925T07 1023T07<1025 1125T08 1224T08<1225",
	} {
		if got := landings(s, "0 9 25 * *", holidays.Contains); got != want {
			t.Errorf("shift %s fires at %s, want %s", s, got, want)
		}
		if got := landings(s, "0 9 25 * *", func(int64) bool { return true }); got != "" {
			t.Errorf("shift %s with a calendar that excludes everything fires at %s", s, got)
		}
	}
	for day, want := range map[int]string{26: "0726T07<0625", 27: ""} { // 31 days after the 25th of June, and 32
		but := func(at int64) bool { return time.UnixMilli(at).UTC().Format("0102") != fmt.Sprintf("07%d", day) }
		if got := landings(ShiftNext, "0 9 25 6 *", but); got != want {
			t.Errorf("with July %d alone it fires at %s, want %s", day, got, want)
		}
	}
}

func TestAShiftIsForCronWithCalendars(t *testing.T) {
	wrong := func(s Schedule, want string) {
		t.Helper()
		err := Job{Job: "g/a", Task: Task{Handler: "h"}, Schedule: s}.WithDefaults().Validate()
		if got := fmt.Sprint(err); !strings.Contains(got, want) {
			t.Errorf("%+v: %s, want %s", s, got, want)
		}
	}
	wrong(Schedule{Cron: "0 9 * * *", Except: []string{"c"}, Shift: "later"}, `schedule.shift "later" must be next or previous`)
	wrong(Schedule{Cron: "0 9 * * *", Shift: ShiftNext}, "schedule.shift needs calendars")
	wrong(Schedule{Cron: "@every 5m", Only: []string{"c"}, Shift: ShiftNext}, "schedule.shift belongs to cron and every only")
	wrong(Schedule{Cron: "0 9 * * *", Except: []string{"c"}, Shift: ShiftPrevious}, "<nil>")
	wrong(Schedule{Cron: "0 * * * *", Except: []string{"c"}, Shift: ShiftPrevious}, "<nil>")
	wrong(Schedule{Cron: "0,30 8-20 * * *", Except: []string{"c"}, Shift: ShiftNext}, "schedule.shift moves fires of schedules with at most 24 times of day, and schedule.cron has 26")
}

func TestNothingIsMovedOutOfThePeriodOfASchedule(t *testing.T) {
	weekend, err := Calendar{Calendar: "c", Windows: []Window{{Days: "sat,sun", From: "00:00", To: "24:00"}}}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	allows := func(at int64) bool { return !weekend.Contains(at) }
	july := func(day, hour int) *time.Time {
		return new(time.Date(2026, time.July, day, hour, 0, 0, 0, time.UTC))
	}
	for _, c := range []struct {
		shift       Shift
		from, until *time.Time
		want        string // of Saturday the 25th
	}{
		{ShiftNext, nil, nil, "2 on 25, moves; 1 on 27"},
		{ShiftPrevious, nil, nil, "1 on 24; 2 on 25, moves"},
		{ShiftPrevious, nil, july(25, 0), ""}, // the 25th is no fire
		{ShiftNext, july(26, 0), nil, ""},
		{ShiftNext, nil, july(26, 0), "2 on 25"}, // no day is left
		{ShiftPrevious, july(25, 0), nil, "2 on 25"},
	} {
		var planner Planner
		plan, err := planner.Plan(&Version{Job: Job{Job: "g/pay", Schedule: Schedule{
			Cron: "0 9 25 7 *", Zone: "UTC", Except: []string{"c"}, Shift: c.shift, From: c.from, Until: c.until,
		}}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		History{plan}.Fires(0, july(1, 0).UnixMilli(), july(31, 0).UnixMilli(), func(f Fire) bool {
			if l, _ := plan.Lands(f.At, allows); l != LandsNone {
				text := fmt.Sprintf("%d on %d", l, time.UnixMilli(f.At).UTC().Day())
				if l == LandsElse && plan.Moves(f.At, allows) {
					text += ", moves"
				}
				got = append(got, text)
			}
			return true
		})
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("shift %s from %v until %v: %q, want %q", c.shift, c.from, c.until, got, c.want)
		}
	}
}
