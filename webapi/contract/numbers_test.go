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
