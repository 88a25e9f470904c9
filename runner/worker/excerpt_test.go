package worker

import (
	"strings"
	"testing"
)

func TestWhatALogQuotesIsNotCutInTheMiddleOfACharacter(t *testing.T) {
	start := strings.Repeat("a", tailText-1)
	if got, want := excerpt(start+"失败"), start+"…"; got != want {
		t.Errorf("%q ends in %q", got[len(start):], want[len(start):])
	}
	if got, want := excerpt("a\xff"), "a\uFFFD"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
