package job_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
)

const day = job.Duration(24 * time.Hour)

func retention() job.Retention {
	return job.Retention{
		Default: job.Keep{Runs: 30 * day, Logs: 7 * day},
		Groups:  map[string]job.Keep{"billing": {Runs: 365 * day}, "noise": {Logs: day / 2}},
		Jobs:    map[job.Name]job.Keep{"billing/report": {Logs: 90 * day}, "noise/audit": {Runs: 60 * day, Logs: 20 * day}},
	}
}

func TestTheNarrowestRuleOfAJobHolds(t *testing.T) {
	r := retention()
	want := func(name job.Name, runs, logs job.Duration, class int) {
		t.Helper()
		if diff := cmp.Diff(job.Keep{Runs: runs, Logs: logs}, r.Of(name)); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", name, diff)
		}
		if got := r.LogClass(name); got != class {
			t.Errorf("%s has class %d; want %d", name, got, class)
		}
	}
	want("other/job", 30*day, 7*day, 7)
	want("billing/other", 365*day, 7*day, 7)
	want("billing/report", 365*day, 90*day, 90)
	want("noise/any", 30*day, day/2, 1)
	want("noise/audit", 60*day, 20*day, 30)

	shortest, longest := r.Bounds()
	if diff := cmp.Diff([]job.Keep{{Runs: 30 * day, Logs: day / 2}, {Runs: 365 * day, Logs: 90 * day}}, []job.Keep{shortest, longest}); diff != "" {
		t.Errorf("bounds differ (-want +got):\n%s", diff)
	}
}

func TestARetentionThatCannotBeKeptNamesItsRules(t *testing.T) {
	good := retention()
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	bad := job.Retention{
		Default: job.Keep{Runs: 3000 * day},
		Groups:  map[string]job.Keep{"A B": {}, "c": {Runs: job.Duration(time.Minute)}},
		Jobs:    map[job.Name]job.Keep{"nogroup": {Logs: -day}},
	}
	var fields []string
	for _, e := range job.Problems(bad.Validate()) {
		fields = append(fields, e.Field)
	}
	if diff := cmp.Diff([]string{"default.runs", "default.logs", "groups.A B", "groups.c.runs", "jobs.nogroup", "jobs.nogroup.logs"}, fields); diff != "" {
		t.Errorf("fields differ (-want +got):\n%s", diff)
	}
}
