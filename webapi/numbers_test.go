package webapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// numbers are those that a float64 would change.
const numbers = `{"big":1234567890123456789,"decimals":0.1000,"huge":1e400,"in":[{"x":7234567890123456701}],"odd":9007199254740993,"zero":-0}`

func TestNumbersInParamsStayAsTheyWereWritten(t *testing.T) {
	w := newWorld(t)
	const x = "/api/v1/jobs/billing/x"
	doc := func(params string) map[string]any {
		d := document("billing/x", "0 3 * * *")
		d["params"] = json.RawMessage(params)
		return d
	}
	has := func(body []byte, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(string(body), part) {
				t.Errorf("no %s in %s", part, body)
			}
		}
	}
	created, _ := want[PutJobResult](w, http.StatusCreated, "PUT", x, doc(numbers))
	if string(created.Definition.Params) != numbers {
		t.Errorf("saved %s", created.Definition.Params)
	}
	next := strings.Replace(numbers, "456789,", "456788,", 1)
	for _, query := range []string{"?dry_run=true", ""} { // which must not disagree
		changed, _ := want[json.RawMessage](w, http.StatusOK, "PUT", x+query, doc(next))
		has(changed, `"result":"changed"`, `"field":"params"`, `"from":`+numbers, `"to":`+next)
	}
	inOtherOrder := `{"odd":9007199254740993,` + strings.TrimPrefix(strings.Replace(next, `"odd":9007199254740993,`, "", 1), "{")
	for _, query := range []string{"?dry_run=true", ""} {
		same, _ := want[PutJobResult](w, http.StatusOK, "PUT", x+query, doc(inOtherOrder))
		if same.Result != PutJobResultResultUnchanged || string(same.Definition.Params) != next {
			t.Errorf("%s: %s with %s", query, same.Result, same.Definition.Params)
		}
	}
	diff, _ := want[json.RawMessage](w, http.StatusOK, "GET", x+"/diff?from=1&to=2", nil)
	has(diff, `"from":`+numbers, `"to":`+next)
	log, _ := want[json.RawMessage](w, http.StatusOK, "GET", "/api/v1/audit-log", nil)
	has(log, `"from":`+numbers, `"to":`+next)
}
