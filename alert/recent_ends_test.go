package alert

import (
	"strconv"
	"testing"

	"github.com/carillon-scheduler/carillon/job"
)

func TestOnlySoManyEndsAreKnownAgain(t *testing.T) {
	var r recentEnds
	end := func(n int) *outcome {
		return &outcome{RunID: job.RunID(strconv.Itoa(n)), Attempt: 1, Status: job.StatusFailed}
	}
	for n := range maxRecentEnds + 10 {
		r.note(end(n))
		r.note(end(n))
	}
	if r.has(end(9)) || !r.has(end(10)) || !r.has(end(maxRecentEnds+9)) || len(r.known) != maxRecentEnds || len(r.ring) != maxRecentEnds {
		t.Errorf("%d ends are known", len(r.known))
	}
	begun := &outcome{RunID: "1", Attempt: 1, Status: job.StatusRunning}
	if r.note(begun); r.has(begun) {
		t.Error("a start is an end")
	}
}
