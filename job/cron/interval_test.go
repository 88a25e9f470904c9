package cron

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// slowInterval is an interval in the plainest words: of each date it is asked whether it
// matches. It shares no arithmetic with Interval.
type slowInterval struct{ IntervalText }

func (s slowInterval) hasDate(t time.Time) bool {
	from, _ := time.Parse(time.DateOnly, s.From)
	t = time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	if t.Before(from) || t.Year() > maxYear {
		return false
	}
	weekday := func(t time.Time) string { return strings.ToLower(t.Format("Mon")) }
	monday := func(t time.Time) time.Time {
		for t.Weekday() != time.Monday {
			t = t.AddDate(0, 0, -1)
		}
		return t
	}
	switch s.Unit {
	case Days:
		return int(t.Sub(from).Hours())/24%s.Step == 0
	case Weeks:
		on := s.On
		if len(on) == 0 {
			on = []string{weekday(from)}
		}
		return int(monday(t).Sub(monday(from)).Hours())/(24*7)%s.Step == 0 && slices.Contains(on, weekday(t))
	case Months:
	}
	on := s.On
	if len(on) == 0 {
		on = []string{strconv.Itoa(from.Day())}
	}
	months := (t.Year()-from.Year())*12 + int(t.Month()) - int(from.Month())
	names := []string{strconv.Itoa(t.Day()), []string{"1st", "2nd", "3rd", "4th", "5th"}[(t.Day()-1)/7] + " " + weekday(t)}
	if t.AddDate(0, 0, 1).Month() != t.Month() {
		names = append(names, "last day")
	}
	if t.AddDate(0, 0, 7).Month() != t.Month() {
		names = append(names, "last "+weekday(t))
	}
	return months%s.Step == 0 && slices.ContainsFunc(names, func(name string) bool { return slices.Contains(on, name) })
}

// matches reports whether the interval fires at a second on the wall.
func (s slowInterval) matches(wall int64) bool {
	second := (wall%daySeconds + daySeconds) % daySeconds
	return slices.ContainsFunc(s.At, func(at string) bool {
		clock, _ := time.Parse("15:04", at)
		return int64(clock.Hour()*3600+clock.Minute()*60) == second
	}) && s.hasDate(time.Unix(wall, 0).UTC())
}

// fires returns the fires whose dates on the wall are within some days from a date on, by the
// rules of "auto".
func (s slowInterval) fires(location *time.Location, first time.Time, days int) []int64 {
	offset := func(u int64) int64 {
		_, o := time.Unix(u, 0).In(location).Zone()
		return int64(o)
	}
	var fires []int64
	for day := range days {
		date := first.AddDate(0, 0, day)
		if !s.hasDate(date) {
			continue
		}
		for _, at := range s.At {
			clock, _ := time.Parse("15:04", at)
			wall := date.Unix() + int64(clock.Hour()*3600+clock.Minute()*60)
			u := int64(-1)
			for back := int64(-48); back <= 48 && u < 0; back++ { // the greatest offset is the first pass
				if o := offset(wall - back*3600); offset(wall-o) == o {
					u = wall - o
				}
			}
			for back := int64(-48); back <= 48; back++ {
				if o := offset(wall - back*3600); u >= 0 && offset(wall-o) == o {
					u = min(u, wall-o)
				}
			}
			if u < 0 { // a gap: its end
				u = wall - 48*3600
				for u+offset(u) < wall {
					_, end := time.Unix(u, 0).In(location).ZoneBounds()
					if next := end.Unix(); next+offset(next) > wall && next-1+offset(next-1) < wall {
						u = next
						break
					}
					u = end.Unix()
				}
			}
			fires = append(fires, u)
		}
	}
	slices.Sort(fires)
	return slices.Compact(fires)
}

// randomInterval makes a valid interval that begins near a date.
func randomInterval(r *rand.Rand, near time.Time) IntervalText {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	t := IntervalText{
		Unit: Unit(1 + r.IntN(3)), Step: 1 + r.IntN(1+r.IntN(40)),
		From: near.AddDate(0, 0, -r.IntN(3000)).Format(time.DateOnly),
	}
	for range 1 + r.IntN(3) {
		t.At = append(t.At, pick("00:00", "00:30", "01:00", "01:30", "02:00", "02:15", "02:30", "03:00", "09:00", "12:00", "23:00", "23:30", "23:59"))
	}
	for range r.IntN(4) {
		weekday := weekdayNames[r.IntN(7)]
		switch t.Unit {
		case Weeks:
			t.On = append(t.On, weekday)
		case Months:
			t.On = append(t.On, pick(strconv.Itoa(1+r.IntN(31)), "31", "29", "last day", ordinals[r.IntN(6)]+" "+weekday))
		case Days:
		}
	}
	slices.Sort(t.At)
	slices.Sort(t.On)
	t.At, t.On = slices.Compact(t.At), slices.Compact(t.On)
	return t
}

func mustInterval(t *testing.T, text IntervalText) *Interval {
	t.Helper()
	v, err := ParseInterval(text)
	if err != nil {
		t.Fatalf("%+v: %v", text, err)
	}
	return v
}

func firesBetween(p Pattern, z *Zone, policy Policy, after, until int64) []int64 {
	var fires []int64
	for {
		u, ok := p.NextUnix(after, z, policy)
		if !ok || u > until {
			return fires
		}
		fires = append(fires, u)
		after = u
	}
}

func TestIntervalsAgreeWithWalkingThroughTheNightsWhenClocksMove(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, night := range nights {
		zone, err := LoadZone(night.zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range night.at {
			for range 40 {
				text := randomInterval(random, time.Unix(at, 0).UTC())
				if text.From < "1970-01-02" || random.IntN(2) == 0 { // mostly it has to fire that night
					text.Unit, text.Step, text.On = Days, 1, nil
					text.From = max(text.From, "1970-01-01")
				}
				v, p := mustInterval(t, text), policies[random.IntN(len(policies))]
				after, until, step := at-30*3600, at+30*3600, int64(60)
				if night.zone == "Africa/Monrovia" {
					after, until, step = at-3*3600, at+3*3600, 1
				}
				want := slowFiresOf(slowInterval{text}.matches, p.rules(v), zone.Location(), after, until, step)
				if diff := cmp.Diff(want, firesBetween(v, zone, p, after, until)); diff != "" {
					t.Fatalf("%+v in %s with %s (-slow +Interval):\n%s", text, night.zone, p, diff)
				}
			}
		}
	}
}

func TestIntervalsAgreeWithAskingEachDateInManyZones(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	names := []string{
		"UTC", "Europe/Berlin", "Europe/Dublin", "America/New_York", "America/Sao_Paulo", "America/St_Johns", "America/Havana",
		"Asia/Kolkata", "Asia/Kathmandu", "Asia/Shanghai", "Asia/Tehran", "Australia/Lord_Howe", "Pacific/Chatham", "Pacific/Apia",
		"Pacific/Kiritimati", "Africa/Casablanca", "Africa/Cairo", "Antarctica/Troll",
	}
	for _, name := range names {
		zone, err := LoadZone(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			first := time.Date(1980+random.IntN(130), time.Month(1+random.IntN(12)), 1, 0, 0, 0, 0, time.UTC)
			text := randomInterval(random, first.AddDate(1, 0, 0))
			const days = 500
			v := mustInterval(t, text)
			after, until := first.Unix()-26*3600, first.AddDate(0, 0, days).Unix()+26*3600
			within := func(fires []int64) (kept []int64) { // dates at the edges are half seen
				for _, u := range fires {
					if u > first.Unix()+52*3600 && u < first.AddDate(0, 0, days-3).Unix() {
						kept = append(kept, u)
					}
				}
				return kept
			}
			want, got := within(slowInterval{text}.fires(zone.Location(), first, days)), within(firesBetween(v, zone, DefaultPolicy, after, until))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%+v in %s from %s (-slow +Interval):\n%s", text, name, first.Format(time.DateOnly), diff)
			}
		}
	}
}

func TestIntervalsKnowTheDaysAroundThoseThatMatch(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		near := time.Date(1980+random.IntN(138), 1, 1, 0, 0, 0, 0, time.UTC)
		text := randomInterval(random, near)
		before, after := random.IntN(32), random.IntN(32)
		v, slow := mustInterval(t, text), slowInterval{text}
		around := v.Around(uint8(before), uint8(after))
		first := near.Unix() / daySeconds
		for day := first; day < first+90; day++ {
			if got, want := v.HasDay(day), slow.hasDate(time.Unix(day*daySeconds, 0).UTC()); got != want {
				t.Fatalf("%+v: HasDay(%s) is %v", text, time.Unix(day*daySeconds, 0).UTC().Format(time.DateOnly), got)
			}
			want := false
			for d := day - int64(after); d <= day+int64(before); d++ {
				want = want || v.HasDay(d)
			}
			local, ok := around.nextLocal(day * daySeconds)
			if got := ok && local/daySeconds == day; got != want {
				t.Fatalf("%+v around %d, %d: %s is %v", text, before, after, time.Unix(day*daySeconds, 0).UTC().Format(time.DateOnly), got)
			}
		}
	}
}

func TestAnIntervalFiresAsPeopleMeanIt(t *testing.T) {
	berlin, err := LoadZone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	fires := func(text IntervalText, after string, want ...string) {
		t.Helper()
		from, err := time.Parse(time.RFC3339, after)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		v, u := mustInterval(t, text), from.Unix()
		for range want {
			next, ok := v.NextUnix(u, berlin, DefaultPolicy)
			if !ok {
				got = append(got, "none")
				break
			}
			u = next
			got = append(got, time.Unix(u, 0).In(berlin.Location()).Format("Mon 2006-01-02 15:04 MST"))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v after %s (-want +got):\n%s", text, after, diff)
		}
	}
	// Every second Tuesday, across the night on which clocks are put forward.
	tuesdays := IntervalText{Unit: Weeks, Step: 2, On: []string{"tue"}, From: "2026-01-06", At: []string{"09:00"}}
	fires(tuesdays, "2026-03-11T00:00:00Z", "Tue 2026-03-17 09:00 CET", "Tue 2026-03-31 09:00 CEST", "Tue 2026-04-14 09:00 CEST")
	// The week counts, not the day on which it begins.
	fires(IntervalText{Unit: Weeks, Step: 2, On: []string{"mon", "thu"}, From: "2026-01-06", At: []string{"09:30"}}, "2025-12-01T00:00:00Z",
		"Thu 2026-01-08 09:30 CET", "Mon 2026-01-19 09:30 CET", "Thu 2026-01-22 09:30 CET", "Mon 2026-02-02 09:30 CET")
	// A Sunday is the last day of its week.
	fires(IntervalText{Unit: Weeks, Step: 2, On: []string{"sun", "mon"}, From: "2026-01-05", At: []string{"09:30"}}, "2025-12-01T00:00:00Z",
		"Mon 2026-01-05 09:30 CET", "Sun 2026-01-11 09:30 CET", "Mon 2026-01-19 09:30 CET")
	fires(IntervalText{Unit: Weeks, Step: 3, From: "2026-01-07", At: []string{"09:30"}}, "2025-12-01T00:00:00Z", "Wed 2026-01-07 09:30 CET", "Wed 2026-01-28 09:30 CET")
	// Days are those of the calendar; the year has an end, the interval has not.
	fires(IntervalText{Unit: Days, Step: 3, From: "2026-12-28", At: []string{"20:00", "08:00"}}, "2026-12-31T12:00:00Z",
		"Thu 2026-12-31 20:00 CET", "Sun 2027-01-03 08:00 CET")
	// A month without the day is left out, and the phase stays.
	fires(IntervalText{Unit: Months, Step: 3, On: []string{"31"}, From: "2026-01-31", At: []string{"06:00"}}, "2026-01-01T00:00:00Z",
		"Sat 2026-01-31 06:00 CET", "Fri 2026-07-31 06:00 CEST", "Sat 2026-10-31 06:00 CET")
	fires(IntervalText{Unit: Months, Step: 3, On: []string{"last day"}, From: "2026-01-31", At: []string{"06:00"}}, "2026-01-01T00:00:00Z",
		"Sat 2026-01-31 06:00 CET", "Thu 2026-04-30 06:00 CEST")
	fires(IntervalText{Unit: Months, Step: 3, On: []string{"last fri", "2nd tue"}, From: "2026-01-14", At: []string{"06:00"}}, "2026-01-01T00:00:00Z",
		"Fri 2026-01-30 06:00 CET", "Tue 2026-04-14 06:00 CEST", "Fri 2026-04-24 06:00 CEST")
	// A leap day comes in leap years.
	fires(IntervalText{Unit: Months, Step: 12, From: "2024-02-29", At: []string{"06:00"}}, "2026-01-01T00:00:00Z", "Tue 2028-02-29 06:00 CET", "Sun 2032-02-29 06:00 CET")
	// In a gap it fires when that ends, and in the first pass of a repeated hour.
	fires(IntervalText{Unit: Days, Step: 1, From: "2026-03-01", At: []string{"02:30"}}, "2026-03-28T12:00:00Z", "Sun 2026-03-29 03:00 CEST", "Mon 2026-03-30 02:30 CEST")
	fires(IntervalText{Unit: Days, Step: 1, From: "2026-03-01", At: []string{"02:30"}}, "2026-10-24T12:00:00Z", "Sun 2026-10-25 02:30 CEST", "Mon 2026-10-26 02:30 CET")
	fires(tuesdays, "2125-12-20T00:00:00Z", "Tue 2125-12-25 09:00 CET", "none")
	fires(IntervalText{Unit: Months, Step: 12, On: []string{"30"}, From: "2026-02-01", At: []string{"06:00"}}, "2026-01-01T00:00:00Z", "none")
}

func TestFiresOfIntervalsDoNotAllocate(t *testing.T) {
	zone, err := LoadZone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	var p Pattern = mustInterval(t, IntervalText{Unit: Months, Step: 4, On: []string{"5th fri"}, From: "2026-01-01", At: []string{"09:00"}})
	after := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	if n := testing.AllocsPerRun(100, func() { p.NextUnix(after, zone, DefaultPolicy) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAnIntervalThatIsWrongIsRefusedWithWhatWouldBeRight(t *testing.T) {
	good := func(change func(*IntervalText)) IntervalText {
		text := IntervalText{Unit: Weeks, Step: 2, From: "2026-01-06", At: []string{"09:00"}}
		change(&text)
		return text
	}
	refused := func(change func(*IntervalText), want string) {
		t.Helper()
		text := good(change)
		_, err := ParseInterval(text)
		if _, ok := errors.AsType[*ParseError](err); !ok || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", text, err, want)
		}
	}
	many := func(n int) (texts []string) {
		for i := range n {
			texts = append(texts, fmt.Sprintf("%02d:%02d", i/60, i%60))
		}
		return texts
	}
	refused(func(v *IntervalText) { v.From = "" }, `from "" must be a date that exists, such as 2026-01-06`)
	refused(func(v *IntervalText) { v.From = "2026-02-30" }, `from "2026-02-30" must be a date that exists`)
	refused(func(v *IntervalText) { v.From = "2026-01-06T00:00:00Z" }, `from "2026-01-06T00:00:00Z" must be a date that exists`)
	refused(func(v *IntervalText) { v.From = "1969-12-31" }, `from "1969-12-31" must be between the years 1970 and 2125`)
	refused(func(v *IntervalText) { v.From = "2126-01-01" }, `from "2126-01-01" must be between the years 1970 and 2125`)
	refused(func(v *IntervalText) { v.At = nil }, `at "" must be the times of day, such as 09:00`)
	for _, at := range []string{"9", "9:00", "24:00", "09:60", "09:00:", "09:00:60", "09:00:00.5", " 09:00", "9am"} {
		refused(func(v *IntervalText) { v.At = []string{at} }, fmt.Sprintf("at %q must be a time of day from 00:00 to 23:59", at))
	}
	refused(func(v *IntervalText) { v.At = []string{"09:00", "09:00:00"} }, `at "09:00:00" is given twice`)
	refused(func(v *IntervalText) { v.At = many(25) }, `at "00:00" and the others are 25 times of day; at most 24 are kept`)
	for _, on := range []string{"", "tuesday", "2nd tue", "31", "mon,thu"} {
		refused(func(v *IntervalText) { v.On = []string{on} }, fmt.Sprintf("on %q must be a weekday, of mon, tue, wed", on))
	}
	refused(func(v *IntervalText) { v.On = []string{"tue", "Tue"} }, `on "Tue" is given twice`)
	refused(func(v *IntervalText) { v.On = many(41) }, `on "00:00" and the others are 41 days; at most 40 are kept`)
	refused(func(v *IntervalText) { v.Unit, v.On = Days, []string{"tue"} }, `on "tue" belongs to weeks, months and years only`)
	for _, on := range []string{"0", "32", "-1", "01", "tue", "last", "6th fri", "last friday", "first fri"} {
		refused(func(v *IntervalText) { v.Unit, v.On = Months, []string{on} }, fmt.Sprintf(`on %q must be a day of the month from 1 to 31, "last day"`, on))
	}
	refused(func(v *IntervalText) { v.Unit, v.On = Months, []string{"last fri", "LAST FRI"} }, `on "LAST FRI" is given twice`)
}
