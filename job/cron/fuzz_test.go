package cron

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

// seeds is a bit of every kind of text.
var seeds = []string{
	"* * * * *", "*/5 0-6 1,15 * 1-5", "0 0 13 * 5", "0 0 */2 * 1", "15 14 1 JAN-mar sun", "@daily", "@reboot", "@every 5s",
	"* * * * * ?", "0 0/15 22-2 ? * MON#1", "0 0 0 L-3W,15W,LW * ? 2024/4", "30 5 1 ? * 6L 2026-2030", "0 0 12 ? FEB 1#5",
	"H H * * *", "H/15 H(0-7) H H H(1-5)", "H H(0-29)/10 H(22-2) ? * H", "0 0 30 2 *", "0 0 0 29 2 ? 2100",
	"", " ", ",", "a b c d e", "1-2-3 * * * *", "0/0 * * * * ?", "999999999999 * * * *", "* * * * * * * *", "\x00 \xff * * *", "ſun * * * *",
}

// FuzzParse: any text is refused or understood in bounded time, says why it is
// refused, and means the same when it is read again.
func FuzzParse(f *testing.F) {
	for _, text := range seeds {
		f.Add(text, uint64(1))
	}
	zone, err := LoadZone("America/New_York")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		began := time.Now()
		e, err := Parse(text, seed)
		if err != nil {
			problem, ok := err.(*ParseError) //nolint:errorlint // the contract is this very type
			if !ok || problem.Field == "" || problem.Reason == "" || len(err.Error()) > 1024 {
				t.Fatalf("Parse(%q): %v", text, err)
			}
			return
		}
		after := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		next, ok := e.Next(after, zone, DefaultPolicy)
		if time.Since(began) > time.Second && isSlow(func() {
			if e, err := Parse(text, seed); err == nil {
				e.Next(after, zone, DefaultPolicy)
			}
		}) {
			t.Fatalf("%q takes longer than a second", text)
		}
		if strings.HasPrefix(strings.Trim(text, blanks), "@") || len(text) == maxText {
			return // macros have no other spelling, and a blank more is too long
		}
		again, err := Parse(strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return r - 'a' + 'A'
			}
			return r
		}, text)+"\n", seed)
		if err != nil {
			t.Fatalf("%q in upper case: %v", text, err)
		}
		if n, o := again.Next(after, zone, DefaultPolicy); o != ok || !n.Equal(next) {
			t.Fatalf("%q fires at %s, but in upper case at %s", text, next, n)
		}
	})
}

// FuzzNext: a fire comes after the instant asked from, is the same from all instants
// before it, and the fires of two hours are those of the slow version.
func FuzzNext(f *testing.F) {
	for i := range 100 {
		night := nights[i%len(nights)]
		f.Add(uint64(i), uint8(i), night.at[0]+int64(i%7-4)*1800, uint8(i/2))
	}
	f.Fuzz(func(t *testing.T, choices uint64, place uint8, after int64, policy uint8) {
		text := randomText(rand.New(rand.NewPCG(choices, 0)))
		e, err := Parse(text, choices)
		if err != nil {
			t.Fatalf("made %q: %v", text, err)
		}
		zone, err := LoadZone(nights[int(place)%len(nights)].zone)
		if err != nil {
			t.Fatal(err)
		}
		p := policies[int(policy)%len(policies)]
		if u, ok := e.NextUnix(after, zone, p); ok && u <= after {
			t.Fatalf("%q: NextUnix(%d) = %d", text, after, u)
		}
		const first, last = minUnix, maxUnix
		after = first + ((after-first)%(last-first)+(last-first))%(last-first)
		const window = 2 * 60 * 60
		compare(t, e, zone, p, after, after+window, slowFires(e, zone.Location(), p, after, after+window, 1))
		if t.Failed() {
			t.Fatalf("%q in %s with %s after %d", text, zone, p, after)
		}
		u, ok := e.NextUnix(after, zone, p)
		if !ok {
			return
		}
		for _, between := range []int64{after + (u-after)/2, after + (u-after)/3, u - 1} {
			if v, ok := e.NextUnix(between, zone, p); !ok || v != u {
				t.Fatalf("%q: NextUnix(%d) = %d, but NextUnix(%d) = %d", text, after, u, between, v)
			}
		}
	})
}

// randomText makes a valid expression of either dialect that is likely to fire often.
func randomText(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	number := func(low, high int) string { return strconv.Itoa(low + r.IntN(high-low+1)) }
	field := func(low, high int) string {
		a, b := low+r.IntN(high-low), high
		b = a + r.IntN(b-a+1)
		span := strconv.Itoa(a) + "-" + strconv.Itoa(b)
		return pick("*", "*", "*/"+number(1, high/2), number(low, high), span, span+"/"+number(1, 9),
			number(low, high)+","+span, "H", "H("+span+")")
	}
	if r.IntN(2) == 0 {
		return strings.Join([]string{field(0, 59), field(0, 23), pick("*", "*", field(1, 31)), pick("*", field(1, 12)), pick("*", "*", field(0, 7))}, " ")
	}
	dom, dow := pick("*", "*", field(1, 31), "L", "LW", "L-2", "15W", "1W,L-3W"), "?"
	if r.IntN(3) == 0 {
		dom, dow = "?", pick("*", field(1, 7), "L", "6L", "SUN", "1#1", "2#5", "SAT-MON")
	}
	text := strings.Join([]string{pick("0", field(0, 59)), field(0, 59), pick("*", "22-2", field(0, 23)), dom, pick("*", "11-3", field(1, 12)), dow}, " ")
	return text + pick("", "", " *", " 1970-2100/2")
}
