package cron

import (
	"testing"
	"time"
)

func TestAFireKnowsWhatAMovedClockHasToDoWithIt(t *testing.T) {
	berlin, err := LoadZone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	check := func(expr string, p Policy, at string, want Move, wantWall string) {
		t.Helper()
		e, err := Parse(expr, 0)
		if err != nil {
			t.Fatal(err)
		}
		fire, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if next, ok := e.Next(fire.Add(-time.Second), berlin, p); !ok || !next.Equal(fire) {
			t.Fatalf("%s does not fire at %s but at %s", expr, at, next)
		}
		got, wall := e.Moved(fire.Unix(), berlin, p)
		if clock := time.Unix(wall, 0).UTC().Format(time.TimeOnly); got != want || clock != wantWall {
			t.Errorf("%s at %s: %d, %s; want %d, %s", expr, at, got, clock, want, wantWall)
		}
	}
	// On 28 March 2027 clocks go from 2 to 3, on 31 October from 3 to 2.
	check("30 2 * * *", DefaultPolicy, "2027-03-27T01:30:00Z", NotMoved, "02:30:00")
	check("30 2 * * *", DefaultPolicy, "2027-03-28T01:00:00Z", AfterGap, "02:30:00")
	check("0 3 * * *", DefaultPolicy, "2027-03-28T01:00:00Z", NotMoved, "03:00:00")
	check("*/30 * * * *", DefaultPolicy, "2027-03-28T01:00:00Z", NotMoved, "03:00:00")
	check("30 2 * * *", DefaultPolicy, "2027-10-31T00:30:00Z", FirstPass, "02:30:00")
	check("30 2 * * *", QuartzPolicy, "2027-10-31T01:30:00Z", SecondPass, "02:30:00")
	check("0 3 * * *", DefaultPolicy, "2027-10-31T02:00:00Z", NotMoved, "03:00:00")
	check("59 1 * * *", DefaultPolicy, "2027-10-30T23:59:00Z", NotMoved, "01:59:00")
}

func TestAZoneTellsWhenItsClocksAreMovedNext(t *testing.T) {
	next := func(zone string) (Change, bool) {
		t.Helper()
		z, err := LoadZone(zone)
		if err != nil {
			t.Fatal(err)
		}
		return z.NextChange(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	}
	want := Change{At: time.Date(2027, 3, 28, 1, 0, 0, 0, time.UTC).Unix(), Before: 3600, After: 7200}
	if got, ok := next("Europe/Berlin"); !ok || got != want {
		t.Errorf("Berlin: %+v, %t; want %+v", got, ok, want)
	}
	if got, ok := next("Asia/Shanghai"); ok {
		t.Errorf("Shanghai moves its clocks: %+v", got)
	}
}

func TestAPolicyTellsWhatItMeansForAnExpression(t *testing.T) {
	check := func(text string, p Policy, gap, overlap string) {
		t.Helper()
		e, err := Parse(text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Gap(e); got != gap {
			t.Errorf("%s: gap %s; want %s", text, got, gap)
		}
		if got := p.Overlap(e); got != overlap {
			t.Errorf("%s: overlap %s; want %s", text, got, overlap)
		}
	}
	check("30 2 * * *", DefaultPolicy, "fire", "first")
	check("*/5 * * * *", DefaultPolicy, "skip", "both")
	check("30 2 * * *", QuartzPolicy, "skip", "last")
}
