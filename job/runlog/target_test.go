package runlog

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

func TestRunsAreComparedWithATarget(t *testing.T) {
	f := func(target *job.Target, scheduled, succeeded int, p95 time.Duration, want *Verdict) {
		t.Helper()
		row := ReportRow{Scheduled: scheduled, ScheduledSucceeded: succeeded, Started: Spread{Count: scheduled, P95: p95}}
		if diff := cmp.Diff(want, row.Against(target)); diff != "" {
			t.Errorf("%d of %d runs, %s late, against %+v (-want +got):\n%s", succeeded, scheduled, p95, target, diff)
		}
	}
	rate, delay, both := &job.Target{SuccessRate: 99}, &job.Target{StartDelay: job.Duration(time.Minute)}, &job.Target{SuccessRate: 99, StartDelay: job.Duration(time.Minute)}
	f(nil, 100, 100, 0, nil)
	f(rate, 0, 0, 0, nil)
	f(rate, 200, 200, time.Hour, &Verdict{Met: true, SuccessRate: 99, Budget: 2})
	f(rate, 200, 198, 0, &Verdict{Met: true, SuccessRate: 99})
	f(rate, 200, 195, 0, &Verdict{SuccessRate: 99, Budget: -3})
	f(delay, 200, 0, time.Minute, &Verdict{Met: true, StartDelay: delay.StartDelay})
	f(delay, 200, 200, time.Minute+time.Millisecond, &Verdict{StartDelay: delay.StartDelay})
	f(both, 100, 100, time.Hour, &Verdict{SuccessRate: 99, StartDelay: delay.StartDelay, Budget: 1})
}
