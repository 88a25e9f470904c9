package cron

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// A change here moves every job that has an H.
func TestWhatHStandsForNeverChanges(t *testing.T) {
	f := func(seed uint64, want string) {
		t.Helper()
		e, err := Parse("H H H H H ?", seed)
		if err != nil {
			t.Fatal(err)
		}
		w, err := Parse("H H * * H", seed)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%d %d %d %d %d %d", bits.TrailingZeros64(e.second), bits.TrailingZeros64(e.minute), bits.TrailingZeros32(e.hour),
			bits.TrailingZeros32(e.dom), bits.TrailingZeros16(e.month), bits.TrailingZeros8(w.dow))
		if got != want {
			t.Errorf("seed %d: got %s, want %s", seed, got, want)
		}
	}
	f(0, "52 25 0 28 2 2")
	f(1, "33 44 23 13 6 5")
	f(0xcafe, "43 46 8 15 3 1")
	f(1<<64-1, "53 54 5 12 9 5")
}

func TestBothDialectsChooseTheSameForH(t *testing.T) {
	for seed := range uint64(1000) {
		unix, err := Parse("H H * H H", seed)
		if err != nil {
			t.Fatal(err)
		}
		quartz, err := Parse("0 H H ? H H", seed)
		if err != nil {
			t.Fatal(err)
		}
		if unix.minute != quartz.minute || unix.hour != quartz.hour || unix.month != quartz.month || unix.dow != quartz.dow {
			t.Fatalf("seed %d: %+v and %+v", seed, unix, quartz)
		}
	}
}

func TestHSpreadsJobsEvenlyAndIndependentlyPerField(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, seed := range map[string]func(int) uint64{
		"random":      func(int) uint64 { return r.Uint64() },
		"consecutive": func(i int) uint64 { return uint64(i) },
		"high bits":   func(i int) uint64 { return uint64(i) << 40 },
		"golden":      func(i int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 },
	} {
		const mean = 100
		counts := make([]int, 24*60)
		for i := range mean * len(counts) {
			e, err := Parse("H H * * *", seed(i))
			if err != nil {
				t.Fatal(err)
			}
			counts[bits.TrailingZeros32(e.hour)*60+bits.TrailingZeros64(e.minute)]++
		}
		chi := 0.0
		for _, n := range counts {
			chi += float64((n-mean)*(n-mean)) / mean
		}
		// 1439 degrees of freedom: a fair choice stays within 1439 ± 5·54.
		if chi < 1170 || chi > 1710 {
			t.Errorf("%s seeds: chi-square of times of day is %.0f", name, chi)
		}
	}
}

func TestHStaysWithinItsRangeAndStep(t *testing.T) {
	f := func(text string, check func(e *Expr) bool) {
		t.Helper()
		reached := map[Expr]bool{}
		for seed := range uint64(2000) {
			e, err := Parse(text, seed)
			if err != nil {
				t.Fatal(err)
			}
			if !check(e) {
				t.Fatalf("%q with seed %d: %+v", text, seed, e)
			}
			reached[*e] = true
		}
		if len(reached) < 5 {
			t.Errorf("%q has only %d outcomes", text, len(reached))
		}
	}
	in := func(mask, within uint64) bool { return mask != 0 && mask&^within == 0 }
	f("H(0-29) * * * *", func(e *Expr) bool { return in(e.minute, 1<<30-1) && bits.OnesCount64(e.minute) == 1 })
	f("H/15 * * * *", func(e *Expr) bool {
		return bits.OnesCount64(e.minute) == 4 && in(e.minute, 0x200040008001<<bits.TrailingZeros64(e.minute))
	})
	f("H(0-29)/10 * * * *", func(e *Expr) bool { return in(e.minute, 1<<30-1) && bits.OnesCount64(e.minute) == 3 })
	f("H * * * * ?", func(e *Expr) bool { return bits.OnesCount64(e.second) == 1 })
	f("0 0 H * *", func(e *Expr) bool { return in(uint64(e.dom), 1<<29-2) && bits.OnesCount32(e.dom) == 1 })
	f("0 0 * * H", func(e *Expr) bool { return bits.OnesCount8(e.dow) == 1 })
	f("0 0 * * h(mon-fri)", func(e *Expr) bool { return in(uint64(e.dow), 0b0111110) })
	f("0 0 0 ? * H(MON-FRI)", func(e *Expr) bool { return in(uint64(e.dow), 0b0111110) })
	f("0 0 H(22-2) * * ?", func(e *Expr) bool { return in(uint64(e.hour), 0b110000000000000000000111) })
	f("H(0-9),H(30-39) * * * *", func(e *Expr) bool { return bits.OnesCount64(e.minute) == 2 })
}

func TestAnHForTheDayOfTheMonthFiresEveryMonth(t *testing.T) {
	for seed := range uint64(200) {
		for _, text := range []string{"0 0 H * *", "0 0 H/28 * *", "0 0 0 H * ?"} {
			e, err := Parse(text, seed)
			if err != nil {
				t.Fatal(err)
			}
			if e.days(2026, 2) == 0 {
				t.Errorf("%q with seed %d leaves out February", text, seed)
			}
		}
	}
}
