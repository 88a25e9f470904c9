package clip_test

import (
	"testing"

	"github.com/carillon-scheduler/carillon/job/clip"
)

func TestTextIsCutBetweenCharacters(t *testing.T) {
	same := func(s string, most int, want string) {
		t.Helper()
		if got := clip.Text(s, most); got != want {
			t.Errorf("%q in %d bytes is %q, want %q", s, most, got, want)
		}
	}
	same("report", 6, "report")
	same("reports", 6, "report…")
	same("日报任务", 12, "日报任务")
	same("日报任务", 11, "日报任…")
	same("日报任务", 2, "…")
	same("", 0, "")
}
