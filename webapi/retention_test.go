package webapi

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

func TestRetentionIsSaidOnConditionAndRecorded(t *testing.T) {
	w := newWorld(t)
	const path = "/api/v1/retention"
	item, head := want[RetentionItem](w, http.StatusOK, "GET", path, nil)
	if diff := cmp.Diff(logstore.DefaultRetention(), item.Retention); diff != "" || item.Revision != 0 || head.Get("ETag") != "" {
		t.Errorf("at first there is %+v (-want +got):\n%s", item, diff)
	}
	rules := map[string]any{"default": map[string]any{"runs": "60d", "logs": "7d"}, "groups": map[string]any{"billing": map[string]any{"logs": "90d"}}}
	body := map[string]any{"retention": rules, "note": "auditors"}
	item, head = want[RetentionItem](w, http.StatusOK, "PUT", path, body, header{"If-None-Match", "*"})
	tag := head.Get("ETag")
	if item.Retention.OfGroup("billing") != (job.Keep{Runs: 60 * 24 * job.Duration(3600e9), Logs: 90 * 24 * job.Duration(3600e9)}) || tag == "" || item.Note != "auditors" || item.ChangedAt.IsZero() {
		t.Errorf("what was saved is %+v, at %s", item, tag)
	}
	w.problemWith([]header{{"If-None-Match", "*"}}, http.StatusPreconditionFailed, "precondition_failed", "PUT", path, body)
	want[RetentionItem](w, http.StatusOK, "PUT", path, body, header{"If-Match", tag})
	w.problemWith([]header{{"If-Match", tag}}, http.StatusPreconditionFailed, "precondition_failed", "PUT", path, body)
	rules["groups"] = map[string]any{"billing": map[string]any{"logs": "1m"}}
	w.problem(http.StatusBadRequest, "invalid", "PUT", path, body, "groups.billing.logs", "1h")
	w.problem(http.StatusBadRequest, "invalid", "POST", path+"/preview", rules, "groups.billing.logs", "1h")

	entries, _ := want[AuditLogPage](w, http.StatusOK, "GET", "/api/v1/audit-log?operation=putRetention", nil)
	if len(entries.Items) != 2 || entries.Items[1].Object != "retention" || entries.Items[1].Note != "auditors" || len(entries.Items[1].Changes) == 0 {
		t.Errorf("the audit log has %+v", entries.Items)
	}
}

func TestAPreviewOfARetentionChangesNothing(t *testing.T) {
	w := newWorld(t)
	x := begun("billing/x", noon)
	w.history(x)
	w.printed(x, 1, 12)
	rules := map[string]any{"default": map[string]any{"runs": "1h", "logs": "7d"}}
	effect, _ := want[RetentionEffect](w, http.StatusOK, "POST", "/api/v1/retention/preview", rules)
	if effect.Now.Lines != 12 || effect.Now.Runs != 1 || effect.Frees.Runs != 1 || effect.Frees.Lines != 0 {
		t.Errorf("the effect is %+v; want a run of long ago that goes, and lines of today that stay", effect)
	}
	want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(x.RunID), nil)
}
