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
	days := func(text, values, every string) cron.Pitfall {
		return cron.Pitfall{Kind: cron.UnevenDays, Text: text, Values: values, Every: every}
	}
	f("0 */7 * * *", step("*/7", "0,7,14,21", "7h"))
	f("0 0 */10 * *", days("*/10", "1,11,21,31", "days: 10"))
	f("0 0 */100 * *", days("*/100", "1", "days: 100"))
	f("0 0 1 */5 *", days("*/5", "1,6,11", "months: 5"))
	f("0 0 * * */2", days("*/2", "SUN,TUE,THU,SAT", "days: 2"))
	f("0 0 0 1/14 * ?", days("1/14", "1,15,29", "days: 14"))

	missing := func(day, months string) cron.Pitfall {
		return cron.Pitfall{Kind: cron.MissingDay, Text: day, Values: months}
	}
	f("0 0 31 * *", missing("31", "FEB,APR,JUN,SEP,NOV"))
	f("0 0 1,15,30 * *", missing("30", "FEB"))
	f("0 0 0 31 1-6 ?", missing("31", "FEB,APR,JUN"))
	f("0 0 29 * *", cron.Pitfall{Kind: cron.LeapDay})
	f("0 0 29 2 *", cron.Pitfall{Kind: cron.LeapDay})
	f("0 0 13 * 5", cron.Pitfall{Kind: cron.EitherDay})
	f("0 0 1-7 * mon", cron.Pitfall{Kind: cron.EitherDay})
	f("* 3 * * *", cron.Pitfall{Kind: cron.StarBefore, Text: "3"})
	f("* 3,15 * * *", cron.Pitfall{Kind: cron.StarBefore, Text: "3,15"})
	f("* 0 3 * * ?", cron.Pitfall{Kind: cron.StarBefore, Text: "0"})
	f("0 * 3 * * ?", cron.Pitfall{Kind: cron.StarBefore, Text: "3"})

	for _, even := range []string{
		"*/15 * * * *", "*/60 * * * *", "0 */6 * * *", "0 */24 * * *", "8-18/3 * * * *", "5,*/45 * * * *", "H/45 * * * *",
		"0 5/20 * * * ?", "0 0 0 1/40 * ?", "0 0 0 1/31 * ?", "0 0 */1 * *",
		"0 0 1 */6 *", "0 0 1 */12 *", "0 0 1-28/9 * *", "0 0 25-31 * *", "0 0 31 12 *", "0 0 31 1,3 *", "0 0 30 4 *",
		"* 9-17 * * *", "* * * * *", "* * 3 * *", "0 0 0 29 1 ?", "0 0 0 L * ?", "0 0 0 29W 3 ?", "0 9 * * */7", "0 9 */31 * *", "@hourly", "@every 90s", "bad", "0 9 * * 1-5",
	} {
		f(even)
	}

	numbered := func(text, values string) cron.Pitfall {
		return cron.Pitfall{Kind: cron.NumberedDays, Text: text, Values: values}
	}
	f("0 30 18 ? * 1-5", numbered("1-5", "SUN-THU"))
	f("0 30 18 ? * 2-6", numbered("2-6", "MON-FRI"))
	f("0 30 18 ? * 2,4,6 2030", numbered("2,4,6", "MON,WED,FRI"))
	f("0 30 18 ? * 6-2", numbered("6-2", "SUN,MON,FRI,SAT"))
	f("0 30 18 ? * 2#1", numbered("2#1", "MON#1"))
	f("0 30 18 ? * 6l", numbered("6l", "FRIL"))
	f("0 30 18 ? * 2/2", numbered("2/2", "MON,WED,FRI"))
	f("0 30 18 ? * 7", numbered("7", "SAT"))
	f("0 30 18 ? * thu,6", numbered("thu,6", "THU,FRI"))
	f("0 30 18 ? * MON,7", numbered("MON,7", "MON,SAT"))
	for _, plain := range []string{"0 30 18 ? * MON-FRI", "0 30 18 ? * 1-7", "0 30 18 ? * L", "0 30 18 ? * FRI#2", "0 30 18 1 * ?", "0 30 18 ? * H", "0 30 18 ? * H(2-6)"} {
		f(plain)
	}
}
