package node

import "testing"

func TestSizesAreReadWithTheirUnit(t *testing.T) {
	for text, want := range map[string]sizeFlag{"1MiB": 1 << 20, "16GiB": 16 << 30, "16 gib": 16 << 30, "8GB": 8e9, "8589934592": 8 << 30} {
		var got sizeFlag
		if err := got.Set(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "100", "-1GiB", "8 apples", "9e30"} {
		var got sizeFlag
		if err := got.Set(text); err == nil {
			t.Errorf("%q is taken for %d", text, got)
		}
	}
}
