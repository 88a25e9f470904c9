package contract

import "testing"

func TestAnyNumberMayBeARunsParameter(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	schema := c.Doc.Components.Schemas["RunRequest"].Value
	for _, n := range []string{"1234567890123456789", "9007199254740993", "1e400", "-1e400", "1e99999999", "0.1000", "-0"} {
		if err := checkSchema([]byte(`{"params":{"in":[`+n+`]}}`), schema); err != nil {
			t.Errorf("%s: %v", n, err)
		}
	}
	if err := checkSchema([]byte(`{"capacity":1e400}`), c.Doc.Components.Schemas["RunRequest"].Value); err == nil {
		t.Error("a field that there is not is accepted")
	}
}

// Fields in another case are refused by package job where it reads the body; everywhere else the schema
// must, for encoding/json would take them.
func TestNoBodyHasOtherFieldsThanTheContract(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range c.Doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody == nil || decoders[op.OperationID] != nil || op.Extensions[otherParameters] == true {
				continue // what somebody else makes up is read field by field
			}
			body := op.RequestBody.Value.Content["application/json"]
			if body == nil {
				continue
			}
			if s := body.Schema.Value; s.Type.Is("object") && (s.AdditionalProperties.Has == nil || *s.AdditionalProperties.Has) && s.AdditionalProperties.Schema == nil {
				t.Errorf("%s %s accepts any field", method, path)
			}
		}
	}
}
