package cron

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// policies are all that can be made, more or less.
var policies = []Policy{
	DefaultPolicy, QuartzPolicy, VixiePolicy,
	{gap: gapFire, pass: bothPasses},
	{gap: gapSkip, pass: firstPass},
	{gap: gapFire, pass: lastPass},
}

// nights are instants near which clocks were moved in some remarkable way.
var nights = []struct {
	zone string
	at   []int64
}{
	{"America/New_York", []int64{1741503600, 1762063200}},
	{"America/Sao_Paulo", []int64{1541300400, 1518919200}},   // at midnight
	{"Australia/Lord_Howe", []int64{1759591800, 1743865200}}, // by half an hour
	{"Europe/London", []int64{1743296400, 1761440400}},       //
	{"Pacific/Apia", []int64{1325239200}},                    // a whole day left out
	{"Africa/Cairo", []int64{1745532000, 1761858000}},        // back at midnight, into yesterday
	{"America/Havana", []int64{1741496400, 1762059600}},      //
	{"Africa/Casablanca", []int64{1740276000, 1743904800}},   // back for Ramadan
	{"Antarctica/Troll", []int64{1743296400, 1761440400}},    // by two hours
	{"Africa/Monrovia", []int64{63593070}},                   // from an offset of odd seconds
	{"Asia/Kathmandu", []int64{504901800}},                   // by a quarter of an hour
	{"America/Anchorage", []int64{436359600}},                // offset and DST changed at once
}

func TestNextAgreesWithWalkingThroughTheNightsWhenClocksMove(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	for _, night := range nights {
		zone, err := LoadZone(night.zone)
		if err != nil {
			t.Fatal(err)
		}
		for range 120 {
			text := fmt.Sprintf("0 %s %s %s",
				pick("0", "30", "0/15", "*", "10,50", "0/7", strconv.Itoa(random.IntN(60))),
				pick("*", "*", "0", "1", "2", "0/2", "1-3", "0,12", "23", "22-2", strconv.Itoa(random.IntN(24))),
				pick("* * ?", "* * ?", "? * SUN", "? * SAT,MON", "L * ?", "1-7 * ?", "15W * ?", "LW * ?", "L-3W * ?", "? * 1L", "? * 1#2"))
			e, err := Parse(text, 0)
			if err != nil {
				t.Fatal(err)
			}
			p := policies[random.IntN(len(policies))]
			at := night.at[random.IntN(len(night.at))]
			// Some zones had offsets of odd seconds; there the steps must be small.
			step := int64(60)
			if night.zone == "Africa/Monrovia" {
				step = 30
			}
			after := at/60*60 - 36*3600 + 60*random.Int64N(600)
			until := at/60*60 + 40*3600
			want := slowFires(e, zone.Location(), p, after, until, step)
			compare(t, e, zone, p, after, until, want)
			if t.Failed() {
				t.Fatalf("%q in %s with %v after %d", text, zone, p, after)
			}
			for range 20 { // from anywhere between the fires
				x := after + random.Int64N(until-after)
				got, ok := e.NextUnix(x, zone, p)
				i, _ := slices.BinarySearch(want, x+1)
				if i < len(want) && (!ok || got != want[i]) {
					t.Fatalf("%q in %s with %v: NextUnix(%d) = %d, %v, want %d", text, zone, p, x, got, ok, want[i])
				}
			}
		}
	}
}

// compare collects the fires in (after, until] from NextUnix and compares them.
func compare(t *testing.T, e *Expr, z *Zone, p Policy, after, until int64, want []int64) {
	t.Helper()
	var got []int64
	for u := after; ; {
		next, ok := e.NextUnix(u, z, p)
		if !ok || next > until {
			break
		}
		if next <= u {
			t.Fatalf("NextUnix(%d) = %d, which is not after it", u, next)
		}
		got = append(got, next)
		u = next
	}
	format := func(fires []int64) (out []string) {
		for _, u := range fires {
			out = append(out, time.Unix(u, 0).In(z.Location()).Format(time.RFC3339))
		}
		return out
	}
	if diff := cmp.Diff(format(want), format(got)); diff != "" {
		t.Errorf("fires differ (-walked +Next):\n%s", diff)
	}
}

// isSlow reports whether f takes longer than a second ten times in a row: once, the machine may be busy.
func isSlow(f func()) bool {
	for range 10 {
		began := time.Now()
		if f(); time.Since(began) <= time.Second {
			return false
		}
	}
	return true
}

func TestExpressionsThatNeverFireAreFoundOutAtOnce(t *testing.T) {
	zone, err := LoadZone("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	after := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, text := range []string{"0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 0 31W 2,4,6,9,11 ?", "* * * L-30W 2 ?", "0 0 0 1 1 ? 2025", "0 0 0 29 2 ? 2100"} {
		e, err := Parse(text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range policies {
			if isSlow(func() {
				if next, ok := e.Next(after, zone, p); ok {
					t.Errorf("%q fires at %s", text, next)
				}
			}) {
				t.Errorf("%q takes longer than a second", text)
			}
		}
	}
}

func TestNextIsStrictlyAfterAndInUTC(t *testing.T) {
	e, err := Parse("*/5 * * * *", 0)
	if err != nil {
		t.Fatal(err)
	}
	zone, err := LoadZone("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	f := func(after, want string) {
		t.Helper()
		from, err := time.Parse(time.RFC3339, after)
		if err != nil {
			t.Fatal(err)
		}
		next, ok := e.Next(from, zone, DefaultPolicy)
		if got := next.Format(time.RFC3339Nano); !ok || got != want {
			t.Errorf("Next(%s) = %s, want %s", after, got, want)
		}
	}
	f("2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z")
	f("2026-01-01T00:04:59Z", "2026-01-01T00:05:00Z")
	f("2026-01-01T00:04:59.999999999Z", "2026-01-01T00:05:00Z")
	f("2026-01-01T00:05:00.000000001Z", "2026-01-01T00:10:00Z")
	f("2026-01-01T01:00:00+01:00", "2026-01-01T00:05:00Z")
}

func TestFiresBeginWithLocal1970AndEndWithLocal2125(t *testing.T) {
	e, err := Parse("* * * * * ?", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"UTC", "America/New_York", "Pacific/Apia"} {
		zone, err := LoadZone(name)
		if err != nil {
			t.Fatal(err)
		}
		first := time.Date(minYear, time.January, 1, 0, 0, 0, 0, zone.Location())
		last := time.Date(maxYear, time.December, 31, 23, 59, 59, 0, zone.Location())
		for _, after := range []time.Time{{}, time.Unix(math.MinInt64, 0), first.Add(-time.Second)} {
			if next, ok := e.Next(after, zone, DefaultPolicy); !ok || !next.Equal(first) {
				t.Errorf("%s: after %s comes %s, %v, want %s", name, after, next, ok, first)
			}
		}
		if next, ok := e.Next(last.Add(-time.Second), zone, DefaultPolicy); !ok || !next.Equal(last) {
			t.Errorf("%s: the last fire is %s, %v, want %s", name, next, ok, last)
		}
		for _, after := range []time.Time{last, last.AddDate(100, 0, 0), time.Unix(math.MaxInt64, 0)} {
			if next, ok := e.Next(after, zone, DefaultPolicy); ok {
				t.Errorf("%s: after %s comes %s, want none", name, after, next)
			}
		}
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	zone, err := LoadZone("Europe/London")
	if err != nil {
		t.Fatal(err)
	}
	e, err := Parse("0 30 1 LW * ?", 0)
	if err != nil {
		t.Fatal(err)
	}
	u := int64(1767225600)
	if n := testing.AllocsPerRun(100, func() { u, _ = e.NextUnix(u, zone, DefaultPolicy) }); n != 0 {
		t.Errorf("%v allocations a call", n)
	}
}

// BenchmarkNext follows one expression from fire to fire, as the ring does.
func BenchmarkNext(b *testing.B) {
	for _, text := range []string{
		"* * * * * ?", "*/5 * * * *", "30 4 * * *", "0 9 * * 1-5", "0 0 1 * *", "0 0 0 LW * ?", "0 0 12 ? * 6#3", "0 0 1 1 *", "0 0 30 2 *",
	} {
		for _, name := range []string{"UTC", "America/New_York"} {
			b.Run(text+"/"+name, func(b *testing.B) {
				e, err := Parse(text, 0)
				if err != nil {
					b.Fatal(err)
				}
				zone, err := LoadZone(name)
				if err != nil {
					b.Fatal(err)
				}
				const start = 1767225600 // 2026
				u := int64(start)
				b.ReportAllocs()
				for b.Loop() {
					next, ok := e.NextUnix(u, zone, DefaultPolicy)
					if u = next; !ok || u > start+20*365*daySeconds {
						u = start
					}
				}
			})
		}
	}
}
