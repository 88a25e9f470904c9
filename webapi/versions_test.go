package webapi

import (
	"net/http"
	"testing"

	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

func TestTwoVersionsOfAJobAreCompared(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	const x = "/api/v1/jobs/billing/x"
	g.putAs(ann, "billing/x")
	changed := document("billing/x", "@hourly")
	changed["params"] = map[string]any{"secret": 1}
	want[PutJobResult](g.world, http.StatusOK, "PUT", x, changed, ann.headers()...)
	want[JobItem](g.world, http.StatusOK, "POST", x+"/pause", nil, ann.headers()...)
	compare := func(query string, from, to int, fields ...string) JobDiff {
		t.Helper()
		d, _ := want[JobDiff](g.world, http.StatusOK, "GET", x+"/diff"+query, nil, ann.headers()...)
		var got []string
		for _, c := range d.Changes {
			got = append(got, c.Field)
		}
		g.same(query, fields, got)
		if d.From != from || d.To != to || d.Job != "billing/x" {
			t.Errorf("%s: %+v", query, d)
		}
		return d
	}
	compare("", 2, 3, "paused")
	compare("?to=2", 1, 2, "params", "schedule.cron")
	compare("?from=1&to=3", 1, 3, "params", "paused", "schedule.cron")
	if d := compare("?from=3&to=1", 3, 1, "params", "paused", "schedule.cron"); d.Changes[2].From != "@hourly" {
		t.Errorf("%+v", d.Changes)
	}
	compare("?from=2&to=2", 2, 2)
	g.problemWith(ann.headers(), 404, "not_found", "GET", x+"/diff?to=9", nil, "version 9")
	g.problemWith(ann.headers(), 404, "not_found", "GET", "/api/v1/jobs/billing/none/diff", nil)

	// Who may not see a job's parameters does not see what they were either.
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "billing", Grants: []rights.Grant{}})
	d, _ := want[JobDiff](g.world, http.StatusOK, "GET", x+"/diff?from=1", nil, bob.headers()...)
	if c := d.Changes[0]; c.Field != "params" || c.To != access.Hidden {
		t.Errorf("%+v", d.Changes)
	}
	want[struct{}](g.world, http.StatusNoContent, "DELETE", x, nil, ann.headers()...)
	if d, _ := want[JobDiff](g.world, http.StatusOK, "GET", x+"/diff", nil, ann.headers()...); d.To != 4 || len(d.Changes) == 0 || d.Changes[0].To != nil {
		t.Errorf("of a deleted job: %+v", d)
	}
}
