package nodes

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Editors of jobs and executors write schemas, and servers judge by them.
func TestASchemaThatTakesLongToJudgeByIsRefused(t *testing.T) {
	refused := func(schema, params, why string) {
		t.Helper()
		if err := fitOwn(json.RawMessage(schema), json.RawMessage(params)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.60s: %.300v; want %q", schema, err, why)
		}
	}
	var twice strings.Builder // each part leads twice to the next one
	twice.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
	for i := range 40 {
		fmt.Fprintf(&twice, `"a%d":{"anyOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	twice.WriteString(`"a40":{"type":"string"}}}`)
	refused(twice.String(), "1", "may be 500000")

	refused(`{"$defs":{"a":{"anyOf":[{"properties":{"x":{"$ref":"#/$defs/a"}}}]}},"$ref":"#/$defs/a"}`, "{}", "must not lead back to itself")
	refused(`{"properties":{"x":{"$ref":"#"}}}`, "{}", "must begin with #/")
	refused(`{"$defs":{"a":{"$anchor":"b"}},"$ref":"#b"}`, "{}", "must begin with #/")
	refused(`{"$dynamicRef":"#b"}`, "{}", "use $ref")
	refused(`{"$defs":{"a":{}},"properties":{"x":{"$id":"http://x/y","$ref":"#/$defs/a"}}}`, "{}", "below its root")
	refused(`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"x":{"id":"http://x/y"}}}`, "{}", "below its root")
	refused(`{"$ref":"#/$defs/none"}`, "{}", "leads to no object")

	many := "[" + strings.Repeat("1,", 20_000) + "1]"
	refused(`{"items":{"anyOf":[`+strings.Repeat(`{"type":"string"},`, 50)+`{"type":"null"}]}}`, many, "has 20002 values")
	long := `"` + strings.Repeat("x", 60_000) + `"`
	refused(`{"pattern":"(.?){900}y"}`, long, "takes too long to match")
	refused(`{"allOf":[`+strings.Repeat(`{"pattern":"(.?){900}y"},`, 99)+`{}]}`, `""`, "patterns are too large")
	if _, err := compile(json.RawMessage(`[{"$id":"x"}]`), newEffort()); err == nil { // as an executor may say
		t.Error("a list is a schema")
	}
}

// Of parameters that are wrong in many places, some are enough.
func TestARefusalNamesFewPlaces(t *testing.T) {
	err := fitOwn(json.RawMessage(`{"items":{"type":"string"}}`), json.RawMessage("["+strings.Repeat("1,", 999)+"1]"))
	if n := strings.Count(err.Error(), "\n") + 1; n != maxPlaces {
		t.Errorf("%d places", n)
	}
}

func TestASchemaMayReferToItsParts(t *testing.T) {
	const schema = `{"$id":"http://x/y","$defs":{"a/b":{"type":"string","pattern":"^[a-z]{1,63}$"}},"type":"object","properties":{
		"x":{"$ref":"#/$defs/a~1b"},"y":{"items":{"$ref":"#/$defs/a%7E1b"}},"$ref":{"type":"number"},"id":{"type":"string"}}}`
	if err := fitOwn(json.RawMessage(schema), json.RawMessage(`{"x":"a","y":["b","c"],"$ref":1,"id":"d"}`)); err != nil {
		t.Error(err)
	}
	if err := fitOwn(json.RawMessage(schema), json.RawMessage(`{"x":"A"}`)); err == nil {
		t.Error("a text fits that does not match")
	}
}
