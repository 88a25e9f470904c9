package cli

import (
	"slices"
	"testing"

	"github.com/carillon-scheduler/carillon/job"
)

func TestEveryStatusHasAnExitCodeOrIsNoEnd(t *testing.T) {
	var codes []int
	for _, s := range job.Statuses {
		code := exitCodeOf(RunOutcome(s))
		if s.Final() != (code != ExitError) {
			t.Errorf("%s: exit code %d", s, code)
		}
		codes = append(codes, code)
	}
	slices.Sort(codes)
	if got := len(slices.Compact(codes)); got != 7 { // 0, 1 for no end, and five; two statuses share one
		t.Errorf("%d different exit codes", got)
	}
}
