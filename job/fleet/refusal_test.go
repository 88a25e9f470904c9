package fleet

import "testing"

func TestARefusalIsExplainedByItsField(t *testing.T) {
	f := func(text, field, why string) {
		t.Helper()
		if got := (&Refusal{Reason: text}).Explain(); got.Field != field || string(got.Why) != why {
			t.Errorf("%s: got %+v", text, got)
		}
	}
	f("result has 70000 bytes; at most 65536 are passed on", "result", "has 70000 bytes; at most 65536 are passed on")
	f("disk full", "", "disk full")
}
