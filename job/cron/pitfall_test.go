package cron_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job/cron"
)

func TestPitfallsAreStepsThatAreNoIntervalsAndNumberedDaysOfQuartz(t *testing.T) {
	f := func(expr string, want ...cron.Pitfall) {
		t.Helper()
		if diff := cmp.Diff(want, cron.Pitfalls(expr, 7)); diff != "" {
			t.Errorf("%s: %s", expr, diff)
		}
	}
	step := func(text, values, every string) cron.Pitfall {
		return cron.Pitfall{Kind: cron.UnevenStep, Text: text, Values: values, Every: every}
	}
	f("*/90 * * * *", step("*/90", "0", "90m"))
	f("*/45 * * * *", step("*/45", "0,45", "45m"))
	f("0 */5 * * *", step("*/5", "0,5,10,15,20", "5h"))
	f("*/120 */36 * * *", step("*/120", "0", "120m"), step("*/36", "0", "36h"))
	f("0-10/20 * * * *", step("0-10/20", "0", "20m"))
	f("0 0/45 * * * ?", step("0/45", "0,45", "45m"))
	f("40/30 0 0 * * ?", step("40/30", "40", "30s"))
	f("0 /7 8 * * ?", step("/7", "0,7,14,21,28,35,42,49,56", "7m"))
	for _, even := range []string{
		"*/15 * * * *", "*/60 * * * *", "0 */6 * * *", "0 */24 * * *", "8-18/3 * * * *", "5,*/45 * * * *", "H/45 * * * *",
		"0 5/20 * * * ?", "0 0 0 */2 * ?", "0 0 0 1/40 * ?", "@hourly", "@every 90s", "bad", "0 9 * * 1-5",
	} {
		f(even)
	}

	days := func(text, values string) cron.Pitfall {
		return cron.Pitfall{Kind: cron.NumberedDays, Text: text, Values: values}
	}
	f("0 30 18 ? * 1-5", days("1-5", "SUN-THU"))
	f("0 30 18 ? * 2-6", days("2-6", "MON-FRI"))
	f("0 30 18 ? * 2,4,6 2030", days("2,4,6", "MON,WED,FRI"))
	f("0 30 18 ? * 6-2", days("6-2", "SUN,MON,FRI,SAT"))
	f("0 30 18 ? * 2#1", days("2#1", "MON#1"))
	f("0 30 18 ? * 6l", days("6l", "FRIL"))
	f("0 30 18 ? * 2/2", days("2/2", "MON,WED,FRI"))
	f("0 30 18 ? * 7", days("7", "SAT"))
	f("0 30 18 ? * thu,6", days("thu,6", "THU,FRI"))
	f("0 30 18 ? * MON,7", days("MON,7", "MON,SAT"))
	for _, plain := range []string{"0 30 18 ? * MON-FRI", "0 30 18 ? * 1-7", "0 30 18 ? * L", "0 30 18 ? * FRI#2", "0 30 18 ? * */2", "0 30 18 1 * ?", "0 30 18 ? * H", "0 30 18 ? * H(2-6)"} {
		f(plain)
	}
}
