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
	is(false, "", doc("title", "U", "paused", false), PutJobResultResultChanged)
	is(true, "", doc("title", "U", "paused", true), PutJobResultResultChanged)
	is(true, "", doc("title", "U"), PutJobResultResultUnchanged)
	is(false, "", doc("title", "U", "paused", false), PutJobResultResultChanged)
	is(false, "2126-01-06", doc("title", "U", "paused_until", "2126-01-06T00:00:00Z"), PutJobResultResultChanged)
	is(false, "2126-01-06", doc("title", "V"), PutJobResultResultChanged)
}
