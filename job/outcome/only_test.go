package outcome_test

import (
	"testing"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
)

func TestAFireThatWasMovedIsNotRunAgainWhereItWasExcluded(t *testing.T) {
	skipped := func(why ...string) *outcome.Entry {
		return &outcome.Entry{Outcome: outcome.Skipped, Status: job.StatusSkipped, Reason: reason.Text(reason.Join(why...))}
	}
	for _, o := range []outcome.Only{outcome.OnlySkipped, outcome.All} {
		if !o.Selects(skipped(reason.CalendarExcludes.With("weekend"))) {
			t.Errorf("%s leaves out a fire that a calendar skipped", o)
		}
		if o.Selects(skipped(reason.CalendarExcludes.With("weekend"), reason.ShiftsPrevious.String())) {
			t.Errorf("%s selects a fire that ran on another day", o)
		}
	}
}
