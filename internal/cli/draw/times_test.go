package draw

import (
	"testing"
	"time"
)

func TestInstantsAreInTheZoneOfTheReader(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 10, 25, 0, 30, 0, 123e6, time.UTC)
	f := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f(Clock{}.Instant(at), "2026-10-25 00:30:00Z")
	f(Clock{}.Millis(at), "2026-10-25 00:30:00.123Z")
	f(Clock{Zone: time.UTC}.Instant(at.In(berlin)), "2026-10-25 00:30:00Z")
	// An hour later the clock is set back: the two have one name, and not one distance from UTC.
	f(Clock{Zone: berlin}.Instant(at), "2026-10-25 02:30:00+02:00")
	f(Clock{Zone: berlin}.Instant(at.Add(time.Hour)), "2026-10-25 02:30:00+01:00")
	f(Clock{Zone: berlin}.Millis(at), "2026-10-25 02:30:00.123+02:00")
	f(Clock{Zone: berlin}.Instant(time.Time{}), "-")
}
