package cron

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
	_ "time/tzdata" // also on a machine without zones
)

func TestZonesHaveTheOffsetsOfTheStandardLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, name := range []string{
		"UTC", "Asia/Shanghai", "Asia/Kolkata", "America/New_York", "America/Sao_Paulo", "Europe/London", "Europe/Dublin", "Australia/Lord_Howe",
		"Pacific/Apia", "Africa/Cairo", "Africa/Casablanca", "Africa/Monrovia", "America/Havana", "Antarctica/Troll", "Asia/Gaza", "America/Nuuk",
	} {
		zone, err := LoadZone(name)
		if err != nil {
			t.Fatal(err)
		}
		check := func(u int64) {
			_, want := time.Unix(u, 0).In(zone.Location()).Zone()
			if got := zone.periods[zone.at(u)].offset; got != int64(want) {
				t.Fatalf("%s has offset %d at %d, want %d", name, got, u, want)
			}
		}
		for range 5000 {
			check(r.Int64N(maxLocal))
		}
		for i := 1; i < len(zone.periods); i++ {
			check(zone.periods[i].start - 1)
			check(zone.periods[i].start)
			if zone.periods[i].offset == zone.periods[i-1].offset {
				t.Errorf("%s: nothing happens at %d", name, zone.periods[i].start)
			}
		}
	}
}

func TestAZoneIsLoadedOnce(t *testing.T) {
	const name = "Europe/Vienna"
	var wait sync.WaitGroup
	got := make([]*Zone, 8)
	for i := range got {
		wait.Go(func() {
			zone, err := LoadZone(name)
			if err != nil {
				t.Error(err)
				return
			}
			zone.at(int64(i) * 100_000_000)
			got[i] = zone
		})
	}
	wait.Wait()
	for _, zone := range got {
		if zone != got[0] {
			t.Error("two zones of one name")
		}
	}
	if s := got[0].String(); s != name {
		t.Errorf("it is called %q", s)
	}
}

func TestUTCHasTwoNames(t *testing.T) {
	a, err := LoadZone("")
	if err != nil {
		t.Fatal(err)
	}
	b, err := LoadZone("UTC")
	if err != nil {
		t.Fatal(err)
	}
	if a != b {
		t.Error("they are two zones")
	}
}

func TestZonesThatAreNoneAreRefused(t *testing.T) {
	for _, name := range []string{
		"Local", "local time", "Mars/Olympus", "Europe", "Europe//London", "./Europe/London", "../zoneinfo/Europe/London", "/etc/localtime",
		`Europe\London`, "Europe/London/", "\x00", strings.Repeat("x", 65), " UTC",
	} {
		if zone, err := LoadZone(name); err == nil {
			t.Errorf("LoadZone(%q) = %v", name, zone)
		} else if !strings.Contains(err.Error(), "Europe/London") {
			t.Errorf("LoadZone(%q) does not say what would be right: %v", name, err)
		}
	}
}

func TestTheCalendarIsGregorian(t *testing.T) {
	day := time.Date(minYear, time.January, 1, 0, 0, 0, 0, time.UTC)
	n := 0
	for ; day.Year() <= maxYear; day, n = day.AddDate(0, 0, 1), n+1 {
		y, m, d := civil(n)
		if y != day.Year() || m != int(day.Month()) || d != day.Day() {
			t.Fatalf("civil(%d) = %d-%d-%d, want %s", n, y, m, d, day.Format(time.DateOnly))
		}
		if got := daysSinceEpoch(y, m, d); got != n {
			t.Fatalf("daysSinceEpoch(%d, %d, %d) = %d, want %d", y, m, d, got, n)
		}
		if d == 1 {
			if got := weekdayOfFirst(y, m); got != int(day.Weekday()) {
				t.Fatalf("weekdayOfFirst(%d, %d) = %d, want %s", y, m, got, day.Weekday())
			}
			if got, want := monthLength(y, m), day.AddDate(0, 1, -1).Day(); got != want {
				t.Fatalf("monthLength(%d, %d) = %d, want %d", y, m, got, want)
			}
		}
	}
	if maxLocal != n*daySeconds-1 {
		t.Errorf("maxLocal is %d, want %d", maxLocal, n*daySeconds-1)
	}
}
