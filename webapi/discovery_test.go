package webapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// announce makes a handler known, as its executor would.
func (w *world) announce(group, handler, schema string) {
	w.Helper()
	h := &bus.Handler{Group: group, Handler: handler, Description: "does " + handler, Params: json.RawMessage(schema), Instance: "i", At: noon}
	data, err := json.Marshal(h)
	w.check(err)
	_, err = w.conn.JS.Publish(w.Context(), h.Subject(), data)
	w.check(err)
}

func handlerJob(name job.Name, handler string, params any) map[string]any {
	j := map[string]any{"job": name, "task": map[string]any{"handler": handler}}
	if params != nil {
		j["params"] = params
	}
	return j
}

const reportSchema = `{"type":"object","additionalProperties":false,"properties":{"region":{"type":"string"},"limits":{"type":"array","items":{"type":"integer"}}}}`

func TestHandlersAreListedWithWhoHasThem(t *testing.T) {
	w := newWorld(t)
	w.announce("billing", "report", reportSchema)
	w.announce("other", "report", "true")
	i := fleet.Instance{Group: "billing", Instance: "one", State: fleet.InstanceOnline, Kinds: []string{"handler"}, Handlers: []string{"report", "plain"}, StartedAt: noon, At: noon}
	data, err := json.Marshal(bus.Heartbeat{ControlSecret: bus.NewControlSecret(), Instance: i})
	w.check(err)
	_, err = w.conn.JS.Publish(t.Context(), "$KV.INST.billing.one", data)
	w.check(err)
	list, _ := want[HandlerList](w, http.StatusOK, "GET", "/api/v1/groups/billing/handlers", nil)
	if diff := cmp.Diff(HandlerList{Items: []HandlerItem{
		{Handler: "plain", Instances: []string{"one"}},
		{Handler: "report", Description: "does report", ParamsSchema: json.RawMessage(reportSchema), AnnouncedAt: noon, Instances: []string{"one"}},
	}}, list); diff != "" {
		t.Errorf("handlers (-want +got):\n%s", diff)
	}
	w.problem(http.StatusBadRequest, "invalid", "GET", "/api/v1/groups/Billing/handlers", nil, "group")
}

func TestAJobForAnUnknownHandlerIsSavedWithAWarning(t *testing.T) {
	w := newWorld(t)
	w.announce("billing", "report", "")
	w.heartbeat("billing", "i1", fleet.InstanceOnline)
	put := func(status int, handler string) PutJobResult {
		t.Helper()
		r, _ := want[PutJobResult](w, status, "PUT", "/api/v1/jobs/billing/a", handlerJob("billing/a", handler, nil))
		return r
	}
	if r := put(http.StatusCreated, "reprot"); len(r.Warnings) != 1 || r.Warnings[0].Field != "task.handler" ||
		!strings.Contains(string(r.Warnings[0].Reason), `"reprot" is not a handler of any executor of group billing`) || !strings.Contains(string(r.Warnings[0].Reason), "known: report") {
		t.Errorf("warnings %+v", r.Warnings)
	}
	if r := put(http.StatusOK, "report"); len(r.Warnings) != 0 {
		t.Errorf("warnings %+v", r.Warnings)
	}
}

func TestParametersAreCheckedAgainstTheirHandlersSchema(t *testing.T) {
	w := newWorld(t)
	w.announce("billing", "report", reportSchema)
	w.announce("billing", "broken", `{"$ref": "https://example.com/schema.json"}`)
	path := "/api/v1/jobs/billing/a"
	refused := func(params any, parts ...string) {
		t.Helper()
		w.problem(http.StatusBadRequest, "invalid", "PUT", path, handlerJob("billing/a", "report", params), parts...)
	}
	refused(map[string]any{"region": 5}, `"field":"params.region"`, "does not fit handler report: got number, want string")
	refused(map[string]any{"limits": []any{1, "x"}, "regoin": "north"}, `"field":"params.limits[1]"`, "it must not have regoin")
	refused("north", `"field":"params"`, "got string, want object")
	want[PutJobResult](w, http.StatusCreated, "PUT", path, handlerJob("billing/a", "report", map[string]any{"region": "north"}))
	want[PutJobResult](w, http.StatusOK, "PUT", path, handlerJob("billing/a", "report", nil))
	w.problem(http.StatusBadRequest, "invalid", "POST", path+"/run", map[string]any{"params": map[string]any{"region": 5}}, "params.region")
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/b", handlerJob("billing/b", "broken", 5)) // its executor's mistake
}

func TestParametersAreCheckedAgainstTheSchemaOfTheirJob(t *testing.T) {
	w := newWorld(t)
	path := "/api/v1/jobs/billing/a"
	with := func(schema, params any) map[string]any {
		return map[string]any{"job": "billing/a", "task": map[string]any{"shell": "true"}, "params_schema": schema, "params": params}
	}
	schema := map[string]any{
		"type": "object", "required": []string{"day"},
		"properties": map[string]any{"day": map[string]any{"type": "string"}, "limits": map[string]any{"type": "array", "items": map[string]any{"type": "integer"}}},
	}
	refused := func(schema, params any, parts ...string) {
		t.Helper()
		w.problem(http.StatusBadRequest, "invalid", "PUT", path, with(schema, params), parts...)
	}
	refused(schema, map[string]any{"day": 5, "limits": []any{1, "x"}}, `"field":"params.day"`, "does not fit params_schema: got number, want string", `"field":"params.limits[1]"`)
	refused(map[string]any{"type": "objekt"}, map[string]any{}, `"field":"params_schema.type"`, "does not fit JSON Schema: enum is")
	refused(map[string]any{"properties": map[string]any{"a": map[string]any{"minimum": json.Number("1e99999")}}}, map[string]any{}, `"field":"params_schema"`, "exponents")
	refused(map[string]any{"$ref": "https://example.com/schema.json"}, map[string]any{}, `"field":"params_schema"`, "$ref")
	refused("day", map[string]any{}, `"field":"params_schema"`)

	document := with(schema, nil)
	delete(document, "params") // each run is given its own
	made, _ := want[PutJobResult](w, http.StatusCreated, "PUT", path, document)
	if got := string(made.Definition.ParamsSchema); !strings.Contains(got, `"required":["day"]`) {
		t.Errorf("the schema of the saved job is %s", got)
	}
	w.problem(http.StatusBadRequest, "invalid", "POST", path+"/run", nil, `"field":"params"`, "it lacks day")
	w.problem(http.StatusBadRequest, "invalid", "POST", path+"/run", map[string]any{"params": map[string]any{"day": 5}}, `"field":"params.day"`)
}

func TestSecretsAreSealedAndNeverGivenBack(t *testing.T) {
	master := seal.NewMaster()
	w := newWorld(t, func(c *Config, _ *world) { c.MasterKey = master.Text() + "\n" })
	path := "/api/v1/groups/billing/secrets"
	s, _ := want[Secret](w, http.StatusOK, "PUT", path+"/DB_PASSWORD", map[string]any{"value": "pa55", "description": "of the ledger"}, header{"Carillon-User", "ann"})
	if s.Secret != "DB_PASSWORD" || s.Author != "ann" || s.KeyID != master.Group("billing").ID() || time.Since(s.UpdatedAt) > time.Minute {
		t.Errorf("%+v", s)
	}
	stored, err := w.conn.Secret(t.Context(), "billing", "DB_PASSWORD")
	w.check(err)
	if got, err := master.Group("billing").Open("DB_PASSWORD", stored.Sealed); err != nil || got != "pa55" {
		t.Errorf("opened %q, %v", got, err)
	}
	a := w.send("GET", path, nil)
	if strings.Contains(a.text, "pa55") || strings.Contains(a.text, "sealed") || !strings.Contains(a.text, "of the ledger") {
		t.Errorf("the list says %s", a.text)
	}
	w.problem(http.StatusBadRequest, "invalid", "PUT", path+"/a.b", map[string]any{"value": "x"}, "must name a secret")
	w.problem(http.StatusBadRequest, "invalid", "PUT", path+"/a", map[string]any{"value": ""}, "value", "is empty")
	w.problem(http.StatusBadRequest, "invalid", "PUT", path+"/a", map[string]any{"value": strings.Repeat("x", job.MaxSecret+1)}, "value", "at most 16384")
	if a := w.send("DELETE", path+"/DB_PASSWORD", nil); a.status != http.StatusNoContent {
		t.Errorf("delete: %d %s", a.status, a.text)
	}
	w.problem(http.StatusNotFound, "not_found", "DELETE", path+"/DB_PASSWORD", nil)
	if list, _ := want[SecretList](w, http.StatusOK, "GET", path, nil); len(list.Items) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestTheListOfSecretsSaysWhichJobsAskForThem(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *world) { c.MasterKey = seal.NewMaster().Text() })
	for _, name := range []string{"billing/b", "billing/a", "other/c"} {
		want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/"+name, map[string]any{
			"job": name, "schedule": map[string]any{},
			"task": map[string]any{"shell": "true", "secrets": map[string]any{"ONE": "db", "TWO": "db"}},
		})
	}
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/none", handlerJob("billing/none", "secrets", nil))
	for _, secret := range []string{"db", "unused"} {
		want[Secret](w, http.StatusOK, "PUT", "/api/v1/groups/billing/secrets/"+secret, map[string]any{"value": "x"})
	}
	list, _ := want[SecretList](w, http.StatusOK, "GET", "/api/v1/groups/billing/secrets", nil)
	got := map[string][]string{}
	for _, s := range list.Items {
		got[s.Secret] = s.UsedBy
	}
	if diff := cmp.Diff(map[string][]string{"db": {"billing/a", "billing/b"}, "unused": nil}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAGroupHasNoMoreSecretsAndJobsThanItMay(t *testing.T) {
	w := newWorld(t, func(c *Config, _ *world) {
		c.MasterKey = seal.NewMaster().Text()
		c.GroupJobs = GroupJobs{Jobs: 1}
	})
	for i := range maxSecrets {
		w.check(w.conn.Secrets().Put(w.Context(), &bus.Secret{Group: "billing", Secret: "s" + strconv.Itoa(i)}))
	}
	w.problem(http.StatusBadRequest, "invalid", "PUT", "/api/v1/groups/billing/secrets/more", map[string]any{"value": "x"}, "group billing has 1000 secrets")
	want[Secret](w, http.StatusOK, "PUT", "/api/v1/groups/billing/secrets/s7", map[string]any{"value": "x"})
	want[Secret](w, http.StatusOK, "PUT", "/api/v1/groups/ops/secrets/more", map[string]any{"value": "x"})

	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/a", handlerJob("billing/a", "h", nil))
	for _, path := range []string{"/api/v1/jobs/billing/b", "/api/v1/jobs/billing/b?dry_run=true"} {
		w.problem(http.StatusBadRequest, "invalid", "PUT", path, handlerJob("billing/b", "h", nil), "group billing has 1 job, and may")
	}
}

func TestAServerWithoutAKeySaysHowToGetOne(t *testing.T) {
	w := newWorld(t)
	w.problem(http.StatusConflict, "conflict", "PUT", "/api/v1/groups/billing/secrets/a", map[string]any{"value": "x"}, "start the server with --master-key FILE")
	if _, err := New(w.conn, w.store, Config{MasterKey: "x", Addr: "127.0.0.1:0"}); err == nil || !strings.Contains(err.Error(), "master_key is not a master key") {
		t.Error(err)
	}
}

func TestAJobOfAGroupThatNobodyServesIsSavedWithAWarningAndItsRunsSaySo(t *testing.T) {
	w := newWorld(t)
	saved := w.put("nosuch/y", "@daily")
	if len(saved.Warnings) != 1 || saved.Warnings[0].Field != "job" || saved.Warnings[0].Reason != "is in group nosuch, which has no executor; its runs wait until one is started" {
		t.Errorf("warnings %+v", saved.Warnings)
	}
	w.heartbeat("other", "i1", fleet.InstanceOnline)
	w.heartbeat("nosuch", "gone", fleet.InstanceLost)
	y, other := begun("nosuch/y", noon), begun("other/z", noon)
	w.history(y, other)
	page, _ := want[RunPage](w, http.StatusOK, "GET", "/api/v1/runs", nil)
	for _, r := range page.Items {
		if expected := map[job.Name]reason.Text{"nosuch/y": "group nosuch has no executor"}[r.Job]; r.Reason != expected {
			t.Errorf("a pending run of %s has the reason %q, want %q", r.Job, r.Reason, expected)
		}
	}
	both, _ := want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/nosuch/h", handlerJob("nosuch/h", "typo", nil))
	if len(both.Warnings) != 2 || both.Warnings[1].Field != "task.handler" {
		t.Errorf("of a handler that nobody ever announced: %+v", both.Warnings)
	}
}

func TestAPendingRunSaysWhatItWaitsFor(t *testing.T) {
	w := newWorld(t)
	w.beats("full", "i1", fleet.InstanceOnline, 4)
	w.beats("full", "i2", fleet.InstanceDraining, 0)
	w.beats("leaving", "i1", fleet.InstanceDraining, 0)
	w.beats("free", "i1", fleet.InstanceOnline, 3)
	full, leaving, free, held := begun("full/a", noon), begun("leaving/a", noon), begun("free/a", noon), begun("free/held", noon)
	nobody := held
	nobody.Kind, nobody.Status, nobody.At, nobody.Reason = runlog.KindHeld, "", noon.Add(time.Second), "no instance with labels gpu=a100 is free"
	w.history(full, leaving, free, held, nobody)
	expected := map[job.Name]reason.Text{
		"full/a": "waits for a free slot: all 4 of group full are busy", "leaving/a": "group leaving has no instance that takes work", "free/a": "", "free/held": reason.Text(nobody.Reason),
	}
	page, _ := want[RunPage](w, http.StatusOK, "GET", "/api/v1/runs", nil)
	got := map[job.Name]reason.Text{}
	for _, r := range page.Items {
		got[r.Job] = r.Reason
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("the list's reasons differ (-want +got):\n%s", diff)
	}
	if detail, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(held.RunID), nil); detail.Attempts[0].Reason != reason.Text(nobody.Reason) {
		t.Errorf("a run that no instance took has the reason %q, want %q", detail.Attempts[0].Reason, nobody.Reason)
	}
	w.put("full/a", "@daily")
	item, _ := want[JobItem](w, http.StatusOK, "GET", "/api/v1/jobs/full/a", nil)
	if len(item.LastRuns) != 1 || item.LastRuns[0].Reason != expected["full/a"] {
		t.Errorf("the job's last runs are %+v; want one that says what it waits for", item.LastRuns)
	}
	w.put("free/held", "@daily")
	item, _ = want[JobItem](w, http.StatusOK, "GET", "/api/v1/jobs/free/held", nil)
	if len(item.LastRuns) != 1 || item.LastRuns[0].Reason != reason.Text(nobody.Reason) {
		t.Errorf("the job's last runs are %+v; want one that says why no instance took it", item.LastRuns)
	}
}

func TestAJobThatPausedItselfSaysWhyWithTheRun(t *testing.T) {
	w := newWorld(t)
	saved := w.put("billing/x", "@daily")
	run := begun("billing/x", noon).RunID
	paused := saved.Definition.Job
	paused.Paused = true
	for author, expected := range map[string]reason.Text{"ann": "", cluster.AuthorSelf: reason.Text(reason.FailuresInARow.With(5, run))} {
		paused.Owner = author // makes it another version
		_, _, err := w.conn.Jobs().Put(t.Context(), paused, cluster.Edit{At: time.Now(), Author: author, Note: reason.FailuresInARow.With(5, run)})
		w.check(err)
		if item, _ := want[JobItem](w, http.StatusOK, "GET", "/api/v1/jobs/billing/x", nil); item.PauseReason != expected {
			t.Errorf("paused by %s, it has the reason %q, want %q", author, item.PauseReason, expected)
		}
	}
}

func TestATaskThatNoExecutorDoesIsWorthAWarning(t *testing.T) {
	w := newWorld(t)
	task := func(name, kind string) map[string]any {
		return map[string]any{"job": "billing/" + name, "task": map[string]any{kind: []string{"ls"}}}
	}
	quiet, _ := want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/early", task("early", "command"))
	w.heartbeat("billing", "i1", fleet.InstanceOnline) // which does shell tasks
	loud, _ := want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/x", task("x", "command"))
	if len(quiet.Warnings) != 1 || quiet.Warnings[0].Field != "job" || len(loud.Warnings) != 1 || loud.Warnings[0].Field != "task" {
		t.Errorf("warnings: %+v without an executor, %+v with one", quiet.Warnings, loud.Warnings)
	}
	item, _ := want[JobItem](w, http.StatusOK, "GET", "/api/v1/jobs/billing/early", nil)
	if len(item.Warnings) != 1 || item.Warnings[0].Reason != "no live executor of group billing runs command tasks, and runs wait until one does; kinds run there: shell" {
		t.Errorf("the job is shown with %+v", item.Warnings)
	}
	w.put("billing/fine", "@daily")
	if item, _ := want[JobItem](w, http.StatusOK, "GET", "/api/v1/jobs/billing/fine", nil); len(item.Warnings) != 0 {
		t.Errorf("a shell job is shown with %+v", item.Warnings)
	}
}
