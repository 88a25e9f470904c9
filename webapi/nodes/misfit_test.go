package nodes

import (
	"encoding/json"
	"testing"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Readers of other languages see the sentence of their language.
func TestParametersThatDoNotFitAreRefusedByASentenceOfTheTable(t *testing.T) {
	for _, c := range []struct{ schema, value, code string }{
		{`{"type": ["integer", "null"]}`, `"x"`, "schema_type"},
		{`{"required": ["a", "b"]}`, `{}`, "schema_lacks"},
		{`{"additionalProperties": false}`, `{"c; d": 1}`, "schema_unknown"},
		{`{"enum": ["a", 1]}`, `2`, "schema_limit"},
		{`{"minimum": 2.5}`, `1`, "schema_limit"},
		{`{"maximum": 2}`, `3`, "schema_limit"},
		{`{"pattern": "^a;b"}`, `"x"`, "schema_limit"},
		{`{"maxLength": 1}`, `"xy"`, "schema_limit"},
		{`{"minLength": 1}`, `""`, "schema_limit"},
		{`{"minItems": 1}`, `[]`, "schema_limit"},
		{`{"maxItems": 1}`, `[1, 2]`, "schema_limit"},
		{`{"uniqueItems": true}`, `[1, 1]`, "schema_other"},
	} {
		schema, err := compile(json.RawMessage(c.schema), newEffort())
		if err != nil {
			t.Fatal(err)
		}
		wrong := job.Problems(schema.fit("params", "params_schema", json.RawMessage(c.value)))
		if len(wrong) != 1 {
			t.Fatalf("%s: %v", c.schema, wrong)
		}
		if said := reason.Read(wrong[0].Reason); said.Code != c.code || said.Params["of"] != "params_schema" || said.And != nil {
			t.Errorf("%q has code %q and parameters %v, want %s", said.Text, said.Code, said.Params, c.code)
		}
	}
}
