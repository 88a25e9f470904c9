package job_test

import (
	"testing"

	"github.com/carillon-scheduler/carillon/job"
)

func TestASlugIsMadeOfWhatATextHasOfOne(t *testing.T) {
	want := func(text, want string) {
		t.Helper()
		got := job.Slug(text, 12)
		if got != want {
			t.Errorf("slug of %q is %q, want %q", text, got, want)
		}
		if err := job.CheckSlug("name", got); got != "" && err != nil {
			t.Error(err)
		}
	}
	want("report", "report")
	want("Nightly  Report.sh", "nightly-repo")
	want("-_a_b--c_-", "a_b-c")
	want("eleven-char-s", "eleven-char")
	want("日报 daily", "daily")
	want("日报", "")
	want("", "")
}
