package webapi

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSavingAScheduleThatIsProbablyNotMeantWarnsOnce(t *testing.T) {
	w := newWorld(t)
	for name, body := range map[string]map[string]any{
		"christmas": {"dates": []string{"12-25"}}, "never": {}, "always": {"windows": []any{map[string]any{"from": "00:00", "to": "24:00"}}},
		"soon": {"windows": []any{map[string]any{"days": "sat", "from": "09:00", "to": "10:00"}}},
	} {
		body["calendar"] = name
		want[CalendarItem](w, http.StatusOK, "PUT", "/api/v1/calendars/"+name, body)
	}
	const x = "/api/v1/jobs/billing/x"
	f := func(schedule map[string]any, warnings ...string) {
		t.Helper()
		d := map[string]any{"job": "billing/x", "task": map[string]any{"shell": "true"}, "schedule": schedule}
		for _, status := range []int{http.StatusCreated, http.StatusOK} { // the second time it is no news
			put, _ := want[PutJobResult](w, status, "PUT", x, d)
			var got []string
			for _, warning := range put.Warnings {
				if warning.Field != "job" { // of the group without an executor
					got = append(got, warning.Field+" "+string(warning.Reason))
				}
			}
			if diff := cmp.Diff(warnings, got); diff != "" {
				t.Errorf("%v: %s", schedule, diff)
			}
			warnings = nil
		}
		w.send("DELETE", x, nil)
	}
	const past = "schedule.until 2023-01-01T00:00:00Z is in the past: the job never fires"
	f(map[string]any{"cron": "0 9 * * *", "from": "1970-01-01T00:00:00Z", "until": "2023-01-01T00:00:00Z"}, past)
	f(map[string]any{"fixed_delay": "1m", "until": "2023-01-01T00:00:00Z"}, past)
	f(map[string]any{"cron": "0 30 18 ? * 1-5"}, `schedule.cron has "1-5", which is SUN-THU, because 1 is Sunday with six fields; write names, such as MON-FRI`)

	const all = "excludes every fire: the job never runs"
	f(map[string]any{"cron": "0 9 25 12 *", "except": []string{"christmas"}}, "schedule.except "+all)
	f(map[string]any{"cron": "0 9 24,25 12 *", "except": []string{"christmas"}})
	f(map[string]any{"once": "2126-12-25T09:00:00Z", "except": []string{"christmas"}}, "schedule.except "+all)
	f(map[string]any{"cron": "0 9 25 12 *", "except": []string{"christmas"}, "shift": "next"})
	f(map[string]any{"fixed_rate": "5m", "only": []string{"never"}, "spread": "3m", "from": "2126-01-05T00:00:00Z"}, "schedule.only excludes every fire until 2127-01-05T00:03:00Z")
	f(map[string]any{"cron": "* * * * * ?", "except": []string{"always"}, "from": "2124-01-05T00:00:00Z"}, "schedule.except excludes every fire until 2125-01-04T00:00:00Z")
	f(map[string]any{"cron": "* * * * * ?", "only": []string{"soon"}})
}
