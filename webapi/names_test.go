package webapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// warned checks which fields an answer warns of, each with a code.
func warned(t *testing.T, warnings []FieldError, want ...string) {
	t.Helper()
	var got []string
	for _, w := range warnings {
		if code := reason.Read(string(w.Reason)).Code; code != "group_waits" {
			got = append(got, w.Field+" "+code)
		}
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("warnings %q, want %q", got, want)
	}
}

func TestNamesThatStandForNothingAreSavedWithAWarning(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	rule, _ := want[AlertItem](w, http.StatusOK, "PUT", "/api/v1/alerts/rules/r", `{"alert":"r","channels":[],"match":{"groups":["billing","biling"],"jobs":["billing/x","billing/y"]}}`)
	warned(t, rule.Warnings, "match.groups[1] group_unknown", "match.jobs[1] job_unknown")

	rule, _ = want[AlertItem](w, http.StatusOK, "PUT", "/api/v1/alerts/rules/s?dry_run=true&channels=soon", `{"alert":"s","channels":["soon"],"match":{"groups":["biling"]}}`)
	warned(t, rule.Warnings, "match.groups[0] group_unknown")
	w.problem(http.StatusNotFound, "not_found", "GET", "/api/v1/alerts/rules/s", nil)
	w.problem(http.StatusBadRequest, "invalid", "PUT", "/api/v1/alerts/rules/s?dry_run=true", `{"alert":"s","channels":["soon"]}`, "channels[0]")
	w.problem(http.StatusBadRequest, "invalid", "PUT", "/api/v1/alerts/rules/s?channels=soon", `{"alert":"s","channels":["soon"]}`, "channels")

	silence, _ := want[NewSilence](w, http.StatusCreated, "POST", "/api/v1/alerts/silences", `{"alert":"r","executor_group":"billing","job":"billing/x","for":"1h"}`)
	warned(t, silence.Warnings)
	silence, _ = want[NewSilence](w, http.StatusCreated, "POST", "/api/v1/alerts/silences", `{"alert":"s","executor_group":"biling","job":"billing/y","for":"1h"}`)
	warned(t, silence.Warnings, "alert rule_unknown", "executor_group group_unknown", "job job_unknown")

	kept, _ := want[RetentionItem](w, http.StatusOK, "GET", "/api/v1/retention", nil)
	keep := kept.Retention.Default
	kept, _ = want[RetentionItem](w, http.StatusOK, "PUT", "/api/v1/retention", map[string]any{"retention": map[string]any{
		"default": keep, "groups": map[string]any{"billing": keep, "biling": keep}, "jobs": map[string]any{"billing/x": keep, "billing/y": keep},
	}})
	warned(t, kept.Warnings, "retention.groups.biling group_unknown", "retention.jobs.billing/y job_unknown")

	user, _ := want[UserItem](w, http.StatusCreated, "PUT", "/api/v1/users/bob", `{"access":[{"role":"viewer","group":"*"},{"role":"viewer","group":"biling"}]}`)
	warned(t, user.Warnings, "access[1].group group_unknown")

	doc := document("billing/z", "@daily")
	doc["children"] = []string{"billing/x", "billing/y"}
	job, _ := want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/z", doc)
	warned(t, job.Warnings, "children[1].job child_unknown")
}

func TestAWarningDoesNotTellWhetherAHiddenJobExists(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	bob := ann.person("bob", rights.Access{Role: rights.Editor, Group: "billing"})
	want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/ops/there", document("ops/there", "@daily"), ann.headers()...)
	want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/billing/z", document("billing/z", "@daily"), ann.headers()...)
	token, _ := want[NewToken](g.world, http.StatusCreated, "POST", "/api/v1/tokens", map[string]any{
		"name": "t", "access": rights.List{{Role: rights.Viewer, Group: "billing"}, {Role: rights.Viewer, Group: "ops"}, {Role: rights.Viewer, Group: "gone"}},
	}, bob.headers()...)
	warned(t, token.Warnings, "access[1].group group_unknown", "access[2].group group_unknown")
}
