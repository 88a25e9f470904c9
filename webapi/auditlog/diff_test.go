package auditlog

import (
	"encoding/json"
	"testing"
)

func TestNumbersDifferByEachOfTheirDigits(t *testing.T) {
	document := func(params string) any {
		return map[string]any{"job": "a/b", "params": json.RawMessage(params)}
	}
	f := func(from, to string, differ bool) {
		t.Helper()
		changes, err := Diff(document(from), document(to))
		if err != nil || len(changes) > 0 != differ {
			t.Errorf("%s to %s: %v %v", from, to, changes, err)
		}
		if !differ {
			return
		}
		text, err := json.Marshal(changes[0])
		if want := `{"field":"params","from":` + from + `,"to":` + to + `}`; err != nil || string(text) != want {
			t.Errorf("got %s, want %s", text, want)
		}
	}
	f(`{"id":1234567890123456789}`, `{"id":1234567890123456788}`, true)
	f(`[9007199254740993]`, `[9007199254740992]`, true)
	f(`7234567890123456701`, `7234567890123456702`, true)
	f(`1e400`, `1e401`, true)
	f(`0.1000`, `0.1`, true)
	f(`-0`, `0`, true)
	f(`{"a":1234567890123456789,"b":1}`, `{"b":1,"a":1234567890123456789}`, false)
}
