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

// tasks are one of each kind, each with all that can be secret about it.
var tasks = []string{
	`{"shell":"echo SECRETSCRIPT","stdin":"SECRETSCRIPT","env":{"A":"SECRETENV"}}`,
	`{"command":["prog","SECRETSCRIPT"],"env":{"A":"SECRETENV"}}`,
	`{"http":{"url":"https://example.org/SECRETSCRIPT","headers":{"x":"SECRETSCRIPT"},"auth":{"user":"a","password":"SECRETENV"}}}`,
	`{"script":{"language":"shell","source":"SECRETSCRIPT"},"env":{"A":"SECRETENV"}}`,
	`{"handler":"report"}`,
}

func secretJob(task string) string {
	return `{"job":"billing/x","schedule":{"cron":"@daily"},"task":` + task + `,"params":{"a":"SECRETPARAM"}}`
}

func TestWhatOneHasNoGrantForIsNowhere(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	blind := ann.person("blind", rights.Access{Role: rights.Admin, Group: "billing", Grants: []rights.Grant{}})
	reader := ann.person("reader", rights.Access{Role: rights.Editor, Group: "billing", Grants: []rights.Grant{rights.Params, rights.Scripts}})
	run := finished(started(begun("billing/x", noon), "w"), job.StatusSucceeded, 0, noon)
	run.Result = json.RawMessage(`"SECRETRESULT"`)
	g.history(begun("billing/x", noon), run)
	for i, task := range tasks {
		want[PutJobResult](g.world, []int{http.StatusCreated, http.StatusOK}[min(i, 1)], "PUT", "/api/v1/jobs/billing/x", secretJob(task), ann.headers()...)
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
		item.Definition.Description = "edited " + itoa(int64(i))
		a := g.send("PUT", "/api/v1/jobs/billing/x", item.Definition.Job, blind.headers()...)
		if a.status != http.StatusOK || strings.Contains(a.text, "SECRET") {
			t.Errorf("%s: %d %s", task, a.status, a.text)
		}
		whole, _ := want[JobItem](g.world, http.StatusOK, "GET", "/api/v1/jobs/billing/x", nil, ann.headers()...)
		var was job.Job
		g.check(json.Unmarshal([]byte(secretJob(task)), &was))
		if text, _ := json.Marshal(whole.Definition.Task); !sameJSON(text, mustJSON(was.Task)) || whole.Definition.Description != item.Definition.Description {
			t.Errorf("%s became %s", task, text)
		}
		item, _ = want[JobItem](g.world, http.StatusOK, "GET", "/api/v1/jobs/billing/x", nil, reader.headers()...)
		item.Definition.Description = "read"
		want[PutJobResult](g.world, http.StatusOK, "PUT", "/api/v1/jobs/billing/x", item.Definition.Job, reader.headers()...)
		whole, _ = want[JobItem](g.world, http.StatusOK, "GET", "/api/v1/jobs/billing/x", nil, ann.headers()...)
		if text, _ := json.Marshal(whole.Definition.Task); !sameJSON(text, mustJSON(was.Task)) {
			t.Errorf("%s became %s", task, text)
		}
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
	want[PutJobResult](g.world, http.StatusCreated, "PUT", x, secretJob(tasks[0]), ann.headers()...)
	put := func(b *browser, grant, body string) {
		t.Helper()
		for _, query := range []string{"", "?dry_run=true"} {
			g.problemWith(b.headers(), 403, "forbidden", "PUT", x+query, body, "grant "+grant)
		}
	}
	put(blind, "scripts", `{"job":"billing/x","task":{"shell":"env"}}`)
	put(blind, "scripts", `{"job":"billing/x","task":{"shell":"(hidden)","stdin":"x"}}`)
	put(blind, "scripts", `{"job":"billing/x","task":{"command":["(hidden)"]}}`)
	put(blind, "params", `{"job":"billing/x","task":{"handler":"h"},"params":1}`)
	put(blind, "secrets", `{"job":"billing/x","task":{"shell":"(hidden)","stdin":"(hidden)","env":{"A":"new"}}}`)
	put(blind, "secrets", `{"job":"billing/x","task":{"shell":"(hidden)","stdin":"(hidden)","env":{"B":"(hidden)"}}}`)
	put(reader, "secrets", `{"job":"billing/x","task":{"shell":"env","env":{"A":"new"}}}`)
	put(reader, "secrets", `{"job":"billing/x","task":{"http":{"url":"https://example.org","auth":{"bearer":"(hidden)"}}}}`)
	g.problemWith(blind.headers(), 403, "forbidden", "PUT", "/api/v1/jobs/billing/new", `{"job":"billing/new","task":{"shell":"env"}}`, "grant scripts")
	g.problemWith(blind.headers(), 403, "forbidden", "POST", x+"/run", `{"params":1}`, "grant params")
	want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/billing/new", `{"job":"billing/new","task":{"handler":"h"}}`, blind.headers()...)
	want[PutJobResult](g.world, http.StatusOK, "PUT", x, `{"job":"billing/x","task":{"shell":"env","env":{"A":"(hidden)"}}}`, reader.headers()...)
	item, _ := want[JobItem](g.world, http.StatusOK, "GET", x, nil, ann.headers()...)
	if item.Definition.Task.Env["A"] != "SECRETENV" {
		t.Errorf("%+v", item.Definition.Task)
	}
}
