package firetime

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job/cron"
)

func TestTheFireTimeIsMovedAndFormatted(t *testing.T) {
	f := func(fire, zone, text, want string) {
		t.Helper()
		at, err := time.Parse(time.RFC3339Nano, fire)
		if err != nil {
			t.Fatal(err)
		}
		in, err := cron.LoadZone(zone)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Expand(text, at, in.Location()); got != want || err != nil {
			t.Errorf("%s of %s in %s is %q, %v; want %q", text, fire, zone, got, err, want)
		}
	}
	const monday = "2026-01-05T03:00:00.5Z"
	f(monday, "UTC", "at ${fire_time}!", "at 2026-01-05T03:00:00.500Z!")
	f(monday, "Asia/Shanghai", "${fire_time}", "2026-01-05T11:00:00.500+08:00")
	f(monday, "UTC", "${fire_time|-1d|yyyyMMdd}", "20260104")
	f(monday, "UTC", "${fire_time | -1d | yyyy-MM-dd}", "${fire_time | -1d | yyyy-MM-dd}") // the name ends at the first |
	f(monday, "UTC", "${fire_time|-1d| yyyy-MM-dd}", "2026-01-04")
	f(monday, "UTC", "${fire_time|yyyy年M月d日 HH:mm:ss.SSS}", "2026年1月5日 03:00:00.500")
	f(monday, "UTC", "${fire_time|yyyy-MM-dd'T'HH:mm:ssXXX}", "2026-01-05T03:00:00Z")
	f(monday, "UTC", "${fire_time|epoch} ${fire_time|epoch_ms}", "1767582000 1767582000500")
	f(monday, "UTC", "${fire_time|week|-1w|yyMMdd}..${fire_time|week|-1s|yyMMdd}", "251229..260104")
	f(monday, "UTC", "${HOME} $${fire_time|-1d} ${fire_timer}", "${HOME} ${fire_time|-1d} ${fire_timer}")
	f(monday, "UTC", "${fire_time|Asia/Shanghai|hour|HH:mm}", "11:00")
	f("2026-01-01T00:30:00Z", "UTC", "${fire_time|year|-1d|yyyy-MM-dd}", "2025-12-31")
	f("2026-01-04T17:00:00Z", "Asia/Shanghai", "${fire_time|yyyyMMdd} ${fire_time|UTC|yyyyMMdd}", "20260105 20260104")

	// A month that is shorter.
	f("2026-03-31T12:00:00Z", "UTC", "${fire_time|-1M|yyyy-MM-dd}", "2026-02-28")
	f("2024-03-31T12:00:00Z", "UTC", "${fire_time|-1M|yyyy-MM-dd}", "2024-02-29")
	f("2024-02-29T12:00:00Z", "UTC", "${fire_time|+1y|yyyy-MM-dd}", "2025-02-28")
	f("2026-01-31T12:00:00Z", "UTC", "${fire_time|+1M|yyyy-MM-dd}", "2026-02-28")
	f("2026-03-15T12:00:00Z", "UTC", "${fire_time|month|-1d|yyyy-MM-dd}", "2026-02-28")
	f("2026-03-31T12:00:00Z", "UTC", "${fire_time|month|-1M|yyyyMM}", "202602")

	// Clocks that change: a day is a day of the calendar, 24 hours are not.
	f("2026-03-29T12:00:00Z", "Europe/Berlin", "${fire_time|-1d|yyyy-MM-dd HH:mm}", "2026-03-28 14:00")
	f("2026-03-29T12:00:00Z", "Europe/Berlin", "${fire_time|-24h|yyyy-MM-dd HH:mm}", "2026-03-28 13:00")
	f("2026-10-25T12:00:00Z", "Europe/Berlin", "${fire_time|day|yyyy-MM-dd HH:mm XXX}", "2026-10-25 00:00 +02:00")
	f("2026-03-28T01:30:00Z", "Europe/Berlin", "${fire_time|+1d|yyyy-MM-dd HH:mm XXX}", "2026-03-29 03:30 +02:00") // 02:30 is not there
	f("2018-11-04T12:00:00Z", "America/Sao_Paulo", "${fire_time|day|HH:mm XXX}", "01:00 -02:00")                   // nor is midnight
}
