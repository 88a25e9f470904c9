package webapi

import (
	"net/http"
	"testing"
)

func TestADocumentWithoutAPauseLeavesTheJobAsItIs(t *testing.T) {
	w := newWorld(t)
	const x = "/api/v1/jobs/billing/x"
	doc := func(more ...any) map[string]any {
		d := document("billing/x", "0 3 * * *")
		for i := 0; i < len(more); i += 2 {
			d[more[i].(string)] = more[i+1]
		}
		return d
	}
	is := func(paused bool, until string, body map[string]any, result PutJobResultResult) {
		t.Helper()
		for _, query := range []string{"?dry_run=true", ""} {
			put, _ := want[PutJobResult](w, http.StatusOK, "PUT", x+query, body)
			got := ""
			if put.Definition.PausedUntil != nil {
				got = put.Definition.PausedUntil.Format("2006-01-02")
			}
			if put.Definition.Paused != paused || got != until || put.Result != result {
				t.Errorf("%s: paused %v until %q, %s; want %v, %q, %s", query, put.Definition.Paused, got, put.Result, paused, until, result)
			}
		}
	}
	want[PutJobResult](w, http.StatusCreated, "PUT", x, doc())
	want[JobItem](w, http.StatusOK, "POST", x+"/pause", map[string]any{"note": "broken disk"})
	is(true, "", doc(), PutJobResultResultUnchanged)
	is(true, "", doc("title", "T"), PutJobResultResultChanged)
	is(false, "", doc("title", "T", "paused", false), PutJobResultResultChanged)
	is(false, "", doc("title", "T"), PutJobResultResultUnchanged)

	want[JobItem](w, http.StatusOK, "POST", x+"/pause", map[string]any{"until": "2126-01-05T00:00:00Z"})
	is(false, "2126-01-05", doc("title", "T"), PutJobResultResultUnchanged)
	is(false, "2126-01-05", doc("title", "U"), PutJobResultResultChanged)
	is(false, "2126-01-05", doc("title", "U", "paused", true), PutJobResultResultUnchanged)
	is(false, "", doc("title", "U", "paused", false), PutJobResultResultChanged)
	is(true, "", doc("title", "U", "paused", true), PutJobResultResultChanged)
	is(true, "", doc("title", "U"), PutJobResultResultUnchanged)
	is(false, "", doc("title", "U", "paused", false), PutJobResultResultChanged)
	is(false, "2126-01-06", doc("title", "U", "paused_until", "2126-01-06T00:00:00Z"), PutJobResultResultChanged)
	is(false, "2126-01-06", doc("title", "V"), PutJobResultResultChanged)
}

func TestAPauseWithAnotherEndKeepsItsNote(t *testing.T) {
	w := newWorld(t)
	set := func(body, note string) {
		t.Helper()
		if p, _ := want[Pause](w, http.StatusOK, "PUT", "/api/v1/pause", body); p.Note != note {
			t.Errorf("%s: note %q, want %q", body, p.Note, note)
		}
	}
	set(`{"paused":true,"until":"2126-01-05T00:00:00Z","note":"the disk is full"}`, "the disk is full")
	set(`{"paused":true,"until":"2126-01-06T00:00:00Z"}`, "the disk is full")
	set(`{"paused":true}`, "the disk is full")
	set(`{"paused":true,"until":"2126-01-06T00:00:00Z","note":"a new disk"}`, "a new disk")
	set(`{"paused":false}`, "")
	set(`{"paused":true}`, "")
}

func TestFieldsInAnotherCaseOrTwiceAreRefused(t *testing.T) {
	w := newWorld(t)
	const x = "/api/v1/jobs/billing/x"
	f := func(method, path, body, field, why string) {
		t.Helper()
		w.problem(400, "invalid", method, path, body, `"field":"`+field+`"`, why)
	}
	f("PUT", x, `{"job":"billing/x","task":{"shell":"true"},"schedule":{"cron":"0 0 * * *","CRON":"0 1 * * *"}}`, "schedule.CRON", "write cron")
	f("PUT", x, `{"job":"billing/x","Task":{"shell":"true"}}`, "Task", "write task")
	f("PUT", x, `{"job":"billing/x","task":{"Shell":"true"}}`, "task.Shell", "write shell")
	f("PUT", x, `{"job":"billing/x","task":{"shell":"true"},"schedule":{"cron":"0 0 * * *","timezone":"UTC"}}`, "schedule.timezone", "write zone")
	f("PUT", x, `{"job":"billing/x","task":{"shell":"true"},"overlap":{"Policy":"skip"}}`, "overlap.Policy", "write policy")
	f("PUT", x, `{"job":"billing/x","task":{"shell":"true"},"params":{"a":1,"a":2}}`, "params.a", "given twice")
	f("PUT", x, `{"job":"billing/x","task":{"shell":"true"},"task":{"shell":"false"}}`, "task", "given twice")
	f("POST", x+"/run", `{"params":1,"params":2}`, "params", "given twice")
	f("POST", x+"/run", `{"Params":1}`, "Params", "not a known field")
	f("PUT", "/api/v1/calendars/c", `{"calendar":"c","Dates":["12-25"]}`, "Dates", "write dates")
	f("PUT", "/api/v1/alerts/rules/r", `{"alert":"r","When":{}}`, "When", "write when")
}
