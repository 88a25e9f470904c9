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

func TestStepsAreComparedByTheirNames(t *testing.T) {
	document := func(steps, rest string) any {
		return json.RawMessage(`{"job":"a/b","steps":[` + steps + `]` + rest + `}`)
	}
	f := func(from, to any, want string) {
		t.Helper()
		changes, err := Diff(from, to)
		text, _ := json.Marshal(changes)
		if err != nil || string(text) != want {
			t.Errorf("%s, %v, want %s", text, err, want)
		}
	}
	const a, b = `{"step":"a","task":{"handler":"h"},"params":{"x":1}}`, `{"step":"b","after":["a"],"task":{"handler":"h"}}`
	const slow = `{"step":"b","after":["a"],"task":{"handler":"h"},"timeout":"5m"}`
	f(document(a+","+b, ""), document(a+","+slow, ""), `[{"field":"steps.b.timeout","to":"5m"}]`)
	f(document(a+","+b, ""), document(b+","+a, ""), `[{"field":"steps","from":["a","b"],"to":["b","a"]}]`)
	f(document(a, ""), document(a+","+b, ""), `[{"field":"steps","from":["a"],"to":["a","b"]},{"field":"steps.b.after","to":["a"]},{"field":"steps.b.task.handler","to":"h"}]`)
	f(document(a, ""), document(`{"step":"a","task":{"handler":"h"},"params":{"x":2}}`, `,"result":{"r":1}`),
		`[{"field":"result","to":{"r":1}},{"field":"steps.a.params","from":{"x":1},"to":{"x":2}}]`)
	f(json.RawMessage(`{"job":"a/b","task":{"handler":"h"}}`), document(a, ""),
		`[{"field":"steps","to":["a"]},{"field":"steps.a.params","to":{"x":1}},{"field":"steps.a.task.handler","to":"h"},{"field":"task.handler","from":"h"}]`)
}
