package webapi

import (
	"net/http"
	"testing"
)

func TestASaveThatALiveServerCannotReadIsAConflictThatSaysWhatToDo(t *testing.T) {
	w := newWorld(t)
	const x = "/api/v1/jobs/billing/x"
	w.put("billing/x", "@daily")
	item, h := want[JobItem](w, http.StatusOK, "GET", x, nil)
	old, err := w.conn.AcquireLease(t.Context(), "server.old", "old", map[string]int{"format": 0})
	w.check(err)
	refused := func(method, path string, body any, headers ...header) {
		t.Helper()
		w.problemWith(headers, http.StatusConflict, "conflict", method, path, body, "job billing/x needs format 1 of job definitions, which server old cannot read: upgrade all servers first")
	}
	refused("PUT", x, document("billing/x", "@hourly"))
	refused("PUT", x, document("billing/x", "@hourly"), header{"If-Match", h.Get("ETag")})
	refused("POST", x+"/pause", nil)
	refused("DELETE", x, nil)
	if now, _ := want[JobItem](w, http.StatusOK, "GET", x, nil); now.Revision != item.Revision {
		t.Errorf("%+v", now)
	}
	w.check(old.Release(t.Context()))
	before, err := w.conn.AcquireLease(t.Context(), "server.before", "before", map[string]int{"format": 1})
	w.check(err)
	steps := map[string]any{"job": "billing/y", "steps": []any{map[string]any{"step": "a", "task": map[string]any{"shell": "true"}}}}
	w.problem(http.StatusConflict, "conflict", "PUT", "/api/v1/jobs/billing/y", steps, "job billing/y needs format 2 of job definitions, which server before cannot read")
	w.put("billing/z", "@daily") // it can read this one
	w.check(before.Release(t.Context()))
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/y", steps)
	want[PutJobResult](w, http.StatusOK, "PUT", x, document("billing/x", "@hourly"))
}
