package webapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// flow returns the document of job billing/flow whose steps have these fields.
func flow(steps ...map[string]any) map[string]any {
	return map[string]any{"job": "billing/flow", "steps": steps}
}

func TestTheTasksOfStepsAreCheckedAsThatOfAJob(t *testing.T) {
	w := newWorld(t)
	w.announce("billing", "report", reportSchema)
	w.heartbeat("billing", "i1", fleet.InstanceOnline) // which does shell tasks
	const path = "/api/v1/jobs/billing/flow"
	task := func(handler string) map[string]any { return map[string]any{"handler": handler} }
	command := map[string]any{"command": []string{"ls"}}
	r, _ := want[PutJobResult](w, http.StatusCreated, "PUT", path, flow(
		map[string]any{"step": "a", "task": task("report"), "params": map[string]any{"region": "north"}},
		map[string]any{"step": "b", "after": "a", "task": task("reprot")},
		map[string]any{"step": "c", "task": task("reprot")},
		map[string]any{"step": "d", "task": command},
		map[string]any{"step": "e", "after": "a", "task": task("report"), "params": map[string]any{"region": "${results.a}", "limits": "x"}}))
	var fields []string
	for _, warning := range r.Warnings {
		fields = append(fields, warning.Field)
	}
	if !slices.Equal(fields, []string{"steps[1].task.handler", "steps[3].task"}) {
		t.Errorf("warnings %+v", r.Warnings)
	}
	item, _ := want[JobItem](w, http.StatusOK, "GET", path, nil)
	if len(item.Definition.Steps) != 5 || item.Definition.Format != 2 || item.Definition.Task.Kind() != "" {
		t.Errorf("%+v", item.Definition)
	}
	bad := func(params, given any) map[string]any {
		d := flow(map[string]any{"step": "a", "task": task("report")}, map[string]any{"step": "b", "task": task("report")})
		if given != nil {
			d["params"] = given
		}
		if params != nil {
			d["steps"].([]map[string]any)[1]["params"] = params
		}
		return d
	}
	five := map[string]any{"region": 5}
	w.problem(http.StatusBadRequest, "invalid", "PUT", path, bad(five, nil), `"field":"steps[1].params.region"`, "does not fit handler report")
	if text := w.send("PUT", path, bad(nil, five)).text; strings.Count(text, `"field":"params.region"`) != 1 {
		t.Errorf("parameters that two steps get: %s", text)
	}
	want[PutJobResult](w, http.StatusOK, "PUT", path, bad(nil, nil))
	w.problem(http.StatusBadRequest, "invalid", "POST", path+"/run", map[string]any{"params": five}, "params.region")
}

func TestAWorkflowIsFoundByWhatItsStepsHave(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *world) { c.MasterKey = seal.NewMaster().Text() })
	const jobs = "/api/v1/jobs/billing/"
	secrets := func(name string) map[string]any { return map[string]any{"X": name} }
	want[PutJobResult](w, http.StatusCreated, "PUT", jobs+"flow", flow(
		map[string]any{"step": "extract", "title": "Read the Ledger", "task": map[string]any{"handler": "reader", "secrets": secrets("db")}},
		map[string]any{"step": "load", "task": map[string]any{"shell": "true", "secrets": secrets("mail")}}))
	want[PutJobResult](w, http.StatusCreated, "PUT", jobs+"plain", handlerJob("billing/plain", "writer", nil))
	for terms, expected := range map[string]string{
		where("type:workflow"): "billing/flow", where("type:shell"): "billing/flow", where("type:handler"): "billing/flow billing/plain", where("-type:workflow"): "billing/plain",
		where("handler:reader"): "billing/flow", where("handler:none"): "", "q=reader": "billing/flow", "q=ledger": "billing/flow", "q=extract": "billing/flow",
	} {
		page, _ := want[JobPage](w, http.StatusOK, "GET", "/api/v1/jobs?"+terms, nil)
		var names []string
		for _, item := range page.Items {
			names = append(names, string(item.Definition.Job.Job))
		}
		if strings.Join(names, " ") != expected {
			t.Errorf("%s: %q, want %s", terms, names, expected)
		}
	}
	for _, secret := range []string{"db", "mail"} {
		want[Secret](w, http.StatusOK, "PUT", "/api/v1/groups/billing/secrets/"+secret, map[string]any{"value": "x"})
	}
	list, _ := want[SecretList](w, http.StatusOK, "GET", "/api/v1/groups/billing/secrets", nil)
	for _, s := range list.Items {
		if !slices.Equal(s.UsedBy, []string{"billing/flow"}) {
			t.Errorf("%+v", s)
		}
	}
	if len(list.Items) != 2 {
		t.Errorf("%+v", list)
	}
}

func TestAReferenceToAFieldThatNoResultHasIsWorthAWarning(t *testing.T) {
	w := newWorld(t)
	w.heartbeat("billing", "i1", fleet.InstanceOnline)
	for handler, schema := range map[string]string{
		"check": `{"type":"object","properties":{"rows":{"type":"integer"},"day":{"type":"string"}}}`,
		"open":  `{"type":"object","properties":{"rows":{"type":"integer"}},"additionalProperties":true}`,
	} {
		h := &bus.Handler{Group: "billing", Handler: handler, Result: json.RawMessage(schema), Instance: "i", At: noon}
		data, err := json.Marshal(h)
		w.check(err)
		_, err = w.conn.JS.Publish(w.Context(), h.Subject(), data)
		w.check(err)
	}
	warnings := func(params string, more ...map[string]any) (texts []string) {
		t.Helper()
		task := func(handler string) map[string]any { return map[string]any{"handler": handler} }
		r, _ := want[PutJobResult](w, http.StatusOK, "PUT", "/api/v1/jobs/billing/flow?dry_run=true", flow(append([]map[string]any{
			{"step": "check", "task": task("check")},
			{"step": "open", "task": task("open")},
			{"step": "load", "after": []string{"check", "open"}, "task": task("check"), "params": params},
		}, more...)...))
		for _, warning := range r.Warnings {
			texts = append(texts, warning.Field+" "+string(warning.Reason))
		}
		return texts
	}
	if got := warnings("${results.check.row}"); !slices.Equal(got, []string{"steps[2].params results.check has no field row; it has day, rows"}) {
		t.Errorf("%q", got)
	}
	each := map[string]any{"step": "each", "after": "check", "task": map[string]any{"handler": "check"}, "map": map[string]any{"over": "${results.check.row}"}}
	sum := map[string]any{"step": "sum", "after": "each", "task": map[string]any{"handler": "check"}, "params": []string{"${results.each}", "${results.each[0].x}", "${results.each.rows}"}}
	if got := warnings("", each, sum); !slices.Equal(got, []string{
		"steps[3].map.over results.check has no field row; it has day, rows",
		"steps[4].params results.each is the list of what its pieces return; write results.each[0] for that of the first",
	}) {
		t.Errorf("%q", got)
	}
	for _, fine := range []string{"${results.check.rows}", "${results.check.row?}", "${results.check}", "${results.open.row}"} {
		if got := warnings(fine); len(got) != 0 {
			t.Errorf("%s: %q", fine, got)
		}
	}
}
