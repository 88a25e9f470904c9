package alert

import "testing"

func TestJobsThatAreNotListedAreCounted(t *testing.T) {
	for n, want := range map[int]string{1: "1 other job", 2: "2 other jobs"} {
		if got := english.others(n); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
