package scheduler

import "testing"

func TestNumbersThatFollowEachOtherAreWrittenAsARange(t *testing.T) {
	f := func(want string, numbers ...int) {
		t.Helper()
		if got := ranges(numbers); got != want {
			t.Errorf("%v: %q, want %q", numbers, got, want)
		}
	}
	f("")
	f("7", 7)
	f("0-1", 1, 0)
	f("0-3 7 9-11", 9, 3, 1, 2, 0, 7, 11, 10, 3)
}
