package webapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/rights"
)

const whyX = "/api/v1/jobs/billing/x/why?at="

func TestWhyAJobRanOrNotIsAnsweredFromWhatIsStored(t *testing.T) {
	w, d := newWorld(t), newDaily()
	saved := w.put("billing/x", d.String()).Definition
	ask := func(at string, verdict outcome.Verdict, parts ...string) outcome.Answer {
		t.Helper()
		a, _ := want[outcome.Answer](w, http.StatusOK, "GET", whyX+at, nil)
		for _, part := range parts {
			if !strings.Contains(string(a.Reason), part) {
				t.Errorf("%s: %q has no %q", at, a.Reason, part)
			}
		}
		if a.Verdict != verdict {
			t.Errorf("%s: %s: %s; want %s", at, a.Verdict, a.Reason, verdict)
		}
		return a
	}
	const local = "2006-01-02T15:04"
	if a := ask(d.fire(1).Format(local), outcome.WillRun, "the job will fire at "); !a.FireTime.Equal(d.fire(1)) || !a.Before.Equal(d.fire(0)) || !a.After.Equal(d.fire(2)) {
		t.Errorf("%+v", a)
	}
	ask(d.fire(1).Add(time.Minute).Format(local), outcome.NoFire, "its minute is")
	ask(saved.EffectiveFrom.AddDate(0, 0, -2).Format(local), outcome.NoJob, "did not exist before")

	want[JobItem](w, http.StatusOK, "POST", "/api/v1/jobs/billing/x/skip", fireBody(d.fire(1), "stocktaking"))
	if a := ask(d.fire(1).Format(time.RFC3339), outcome.WillSkip, "stocktaking"); !slices.Contains(a.Remedies, outcome.TakeBackSkip) {
		t.Errorf("%q", a.Remedies)
	}
	want[JobItem](w, http.StatusOK, "POST", "/api/v1/jobs/billing/x/pause", map[string]any{"note": "disk is full"}, header{"Carillon-User", "ann"})
	if a := ask(d.fire(2).Format(local), outcome.WillSkip, "the job is paused; paused by ann at ", "; with the note: disk is full"); a.Remedies[0] != outcome.ResumeJob {
		t.Errorf("%q", a.Remedies)
	}

	w.put("billing/y", "* * * * *")
	fire := saved.EffectiveFrom.Truncate(time.Minute).Add(time.Minute)
	w.history(begun("billing/y", fire))
	w.decide(fire.Add(2 * time.Minute))
	for at, verdict := range map[time.Time]outcome.Verdict{fire: outcome.Waits, fire.Add(time.Minute): outcome.Contradicted} {
		a, _ := want[outcome.Answer](w, http.StatusOK, "GET", "/api/v1/jobs/billing/y/why?at="+at.Format(local), nil)
		if a.Verdict != verdict || a.Fire == nil || !a.Fire.FireTime.Equal(at) {
			t.Errorf("at %s: %+v", at, a)
		}
	}

	want[none](w, http.StatusNoContent, "DELETE", "/api/v1/jobs/billing/x", nil)
	ask(d.fire(1).Format(local), outcome.NoJob, "the job was deleted ")
}

func TestWhyRefusesTimesThatCannotBe(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@hourly")
	for _, at := range []string{"9999-01-01T00:00", "0001-01-01T00:00:00Z", "yesterday", "2026-02-30T09:00", "%20"} {
		w.problem(400, "invalid", "GET", whyX+at, nil, `"field":"at"`)
	}
	w.problem(400, "invalid", "GET", strings.TrimSuffix(whyX, "?at="), nil, "at")
	w.problem(404, "not_found", "GET", "/api/v1/jobs/billing/none/why?at=2026-03-01T09:00", nil)
}

func TestWhyOffersOnlyWhatTheReaderMay(t *testing.T) {
	g, d := newGuardedWorld(t), newDaily()
	ann := g.administrator()
	g.putAs(ann, "billing/x")
	eve := ann.person("eve", rights.Access{Role: rights.Viewer, Group: "billing"})
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "orders"})
	path := whyX + d.fire(1).Add(7*time.Second).Format(time.RFC3339)
	all, _ := want[outcome.Answer](g.world, http.StatusOK, "GET", path, nil, ann.headers()...)
	few, _ := want[outcome.Answer](g.world, http.StatusOK, "GET", path, nil, eve.headers()...)
	if !slices.Contains(all.Remedies, outcome.RunNow) || slices.Contains(few.Remedies, outcome.RunNow) || slices.Contains(few.Remedies, outcome.EditSchedule) {
		t.Errorf("an administrator is offered %q, a viewer %q", all.Remedies, few.Remedies)
	}
	g.problemWith(bob.headers(), 403, "forbidden", "GET", path, nil)
}
