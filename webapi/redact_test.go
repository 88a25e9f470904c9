package webapi

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// secretTask has all that can be secret about a task. Package access tries every kind.
const secretTask = `{"shell":"echo SECRETSCRIPT","stdin":"SECRETSCRIPT","env":{"A":"SECRETENV"}}`

const secretJob = `{"job":"billing/x","schedule":{"cron":"@daily"},"task":` + secretTask + `,"params":{"a":"SECRETPARAM"}}`

func TestWhatOneHasNoGrantForIsNowhere(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	blind := ann.person("blind", rights.Access{Role: rights.Admin, Group: "billing", Grants: []rights.Grant{}})
	reader := ann.person("reader", rights.Access{Role: rights.Editor, Group: "billing", Grants: []rights.Grant{rights.Params, rights.Scripts}})
	run := finished(started(begun("billing/x", noon), "w"), job.StatusSucceeded, 0, noon)
	run.Result = json.RawMessage(`"SECRETRESULT"`)
	g.history(begun("billing/x", noon), run)
	want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/billing/x", secretJob, ann.headers()...)
	for _, path := range []string{"/jobs", "/jobs/billing/x", "/jobs/billing/x/versions", "/runs", "/runs/" + string(run.RunID)} {
		a := g.send("GET", "/api/v1"+path, nil, blind.headers()...)
		if a.status != http.StatusOK || strings.Contains(a.text, "SECRET") {
			t.Errorf("blind %s: %d %s", path, a.status, a.text)
		}
		a = g.send("GET", "/api/v1"+path, nil, reader.headers()...)
		if a.status != http.StatusOK || strings.Contains(a.text, "SECRETENV") || strings.Contains(a.text, "SECRETRESULT") ||
			strings.HasPrefix(path, "/jobs/") && !strings.Contains(a.text, "SECRETPARAM") {
			t.Errorf("reader %s: %d %s", path, a.status, a.text)
		}
	}
	// What comes back as it was shown keeps what is stored.
	item, _ := want[JobItem](g.world, http.StatusOK, "GET", "/api/v1/jobs/billing/x", nil, blind.headers()...)
	item.Definition.Description = "edited"
	a := g.send("PUT", "/api/v1/jobs/billing/x", item.Definition.Job, blind.headers()...)
	if a.status != http.StatusOK || strings.Contains(a.text, "SECRET") {
		t.Errorf("%s: %d %s", secretTask, a.status, a.text)
	}
	whole, _ := want[JobItem](g.world, http.StatusOK, "GET", "/api/v1/jobs/billing/x", nil, ann.headers()...)
	var was job.Job
	g.check(json.Unmarshal([]byte(secretJob), &was))
	if text, _ := json.Marshal(whole.Definition.Task); !sameJSON(text, mustJSON(was.Task)) || whole.Definition.Description != item.Definition.Description {
		t.Errorf("%s became %s", secretTask, text)
	}
	item, _ = want[JobItem](g.world, http.StatusOK, "GET", "/api/v1/jobs/billing/x", nil, reader.headers()...)
	item.Definition.Description = "read"
	want[PutJobResult](g.world, http.StatusOK, "PUT", "/api/v1/jobs/billing/x", item.Definition.Job, reader.headers()...)
	whole, _ = want[JobItem](g.world, http.StatusOK, "GET", "/api/v1/jobs/billing/x", nil, ann.headers()...)
	if text, _ := json.Marshal(whole.Definition.Task); !sameJSON(text, mustJSON(was.Task)) {
		t.Errorf("%s became %s", secretTask, text)
	}
}

// sameJSON reports whether two documents say the same.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

func TestWhatOneHasNoGrantForCannotBeChanged(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	blind := ann.person("blind", rights.Access{Role: rights.Admin, Group: "billing", Grants: []rights.Grant{}})
	reader := ann.person("reader", rights.Access{Role: rights.Editor, Group: "billing", Grants: []rights.Grant{rights.Params, rights.Scripts}})
	const x = "/api/v1/jobs/billing/x"
	want[PutJobResult](g.world, http.StatusCreated, "PUT", x, secretJob, ann.headers()...)
	put := func(b *browser, grant, body string) {
		t.Helper()
		for _, query := range []string{"", "?dry_run=true"} {
			g.problemWith(b.headers(), 403, "forbidden", "PUT", x+query, body, "grant "+grant)
		}
	}
	put(blind, "scripts", `{"job":"billing/x","task":{"shell":"env"}}`)
	put(blind, "params", `{"job":"billing/x","task":{"handler":"h"},"params":1}`)
	put(reader, "secrets", `{"job":"billing/x","task":{"shell":"env","env":{"A":"new"}}}`)
	g.problemWith(blind.headers(), 403, "forbidden", "PUT", "/api/v1/jobs/billing/new", `{"job":"billing/new","task":{"shell":"env"}}`, "grant scripts")
	g.problemWith(blind.headers(), 403, "forbidden", "POST", x+"/run", `{"params":1}`, "grant params")
	want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/billing/new", `{"job":"billing/new","task":{"handler":"h"}}`, blind.headers()...)
	want[PutJobResult](g.world, http.StatusOK, "PUT", x, `{"job":"billing/x","task":{"shell":"env","env":{"A":"(hidden)"}}}`, reader.headers()...)
	item, _ := want[JobItem](g.world, http.StatusOK, "GET", x, nil, ann.headers()...)
	if item.Definition.Task.Env["A"] != "SECRETENV" {
		t.Errorf("%+v", item.Definition.Task)
	}
}
