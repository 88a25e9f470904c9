package webapi

import (
	"net/http"
	"testing"
)

func TestACalendarThatJobsNameIsNotDeletedAndOneThatIsNotThereNotNamed(t *testing.T) {
	w := newWorld(t)
	const x, calendar = "/api/v1/jobs/billing/x", "/api/v1/calendars/hol"
	doc := func(field string) map[string]any {
		d := document("billing/x", "0 3 * * *")
		d["schedule"].(map[string]any)[field] = []string{"hol"}
		return d
	}
	for _, field := range []string{"only", "except"} {
		for _, query := range []string{"", "?dry_run=true", "?dry_run=true&calendars=other"} {
			w.problem(400, "invalid", "PUT", x+query, doc(field), "schedule."+field, "calendar hol, which does not exist")
		}
		w.problem(400, "invalid", "POST", "/api/v1/preview", map[string]any{"schedule": doc(field)["schedule"]}, "schedule."+field)
		want[PutJobResult](w, http.StatusOK, "PUT", x+"?dry_run=true&calendars=hol", doc(field))
	}
	w.problem(400, "invalid", "PUT", x+"?calendars=hol", doc("except"), "calendars", "dry run")
	want[CalendarItem](w, http.StatusOK, "PUT", calendar, `{"calendar":"hol","dates":["12-25"]}`)
	want[PutJobResult](w, http.StatusCreated, "PUT", x, doc("except"))
	want[JobItem](w, http.StatusOK, "POST", x+"/pause", nil)
	w.problem(409, "conflict", "DELETE", calendar, nil, "calendar hol", "billing/x")
	w.problem(404, "not_found", "DELETE", "/api/v1/calendars/other", nil)
	want[PutJobResult](w, http.StatusOK, "PUT", x, document("billing/x", "0 3 * * *"))
	want[struct{}](w, http.StatusNoContent, "DELETE", calendar, nil)
	want[CalendarItem](w, http.StatusOK, "PUT", calendar, `{"calendar":"hol","dates":["12-25"]}`)
	want[PutJobResult](w, http.StatusOK, "PUT", x, doc("only"))
	want[struct{}](w, http.StatusNoContent, "DELETE", x, nil)
	want[struct{}](w, http.StatusNoContent, "DELETE", calendar, nil)
}
