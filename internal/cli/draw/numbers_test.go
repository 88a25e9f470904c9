package draw

import "testing"

func TestNumbersAndSizesAreShownShort(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d is shown as %s; want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1500: "1.5 kB", 2_340_000_000: "2.3 GB", 5e15: "5000.0 TB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d bytes are shown as %s; want %s", n, got, want)
		}
	}
}
