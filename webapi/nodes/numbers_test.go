package nodes

import (
	"encoding/json"
	"testing"
)

func TestASchemaJudgesNumbersByEachOfTheirDigits(t *testing.T) {
	f := func(schema, n string, fits bool) {
		t.Helper()
		compiled, err := compile(json.RawMessage(`{"type":"object","properties":{"id":`+schema+`}}`), newEffort())
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.fit("params", "handler h", json.RawMessage(`{"id":`+n+`}`)); err == nil != fits {
			t.Errorf("%s for %s: %v", n, schema, err)
		}
	}
	f(`{"const":1234567890123456789}`, "1234567890123456789", true)
	f(`{"const":1234567890123456789}`, "1234567890123456788", false)
	f(`{"enum":[9007199254740993]}`, "9007199254740992", false)
	f(`{"type":"integer","maximum":9007199254740992}`, "9007199254740993", false)
	for _, n := range []string{"1234567890123456789", "9007199254740993", "-0"} {
		f(`{"type":"integer"}`, n, true)
	}
	for _, n := range []string{"1e400", "0.1000", "-0", "1e-400"} {
		f(`{"type":"number"}`, n, true)
	}
	f(`{"type":"number","maximum":5}`, "1e400", false)
	for _, n := range []string{"1e9999999", "-1E+9999999", "1e-99999"} { // a crash of the library, or long work
		f(`{"type":"number","maximum":5}`, n, false)
	}
	f(`{"type":"string"}`, `"1e9999999"`, true)
}
