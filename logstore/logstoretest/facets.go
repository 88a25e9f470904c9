package logstoretest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// world of facets: two groups, three jobs, two instances; one run has two attempts.
func writeMixed(t *testing.T, s logstore.Store) {
	t.Helper()
	day, week := newRun().of("billing/day"), newRun().of("billing/week").ofVersion(4)
	failed := day.at(epoch.Add(time.Minute)).finished(job.StatusFailed, "worker-2", time.Second)
	again := day.at(epoch.Add(time.Minute)).try(2).finished(job.StatusSucceeded, "worker-1", time.Minute)
	missed := newRun().of("bill/day").at(epoch.Add(30 * time.Minute)).recorded(job.StatusMissed)
	missed.Count, missed.Until, missed.Cause = 12, epoch.Add(41*time.Minute), job.CauseMisfire
	asked := week.at(epoch.Add(10*time.Minute)).finished(job.StatusFailed, "worker-2", time.Second)
	asked.Cause = job.CauseManual
	writeInTwo(t, s,
		day.recorded(job.StatusPending), day.started("worker-1", 1, ms(10)), day.finished(job.StatusSucceeded, "worker-1", time.Second), failed, again,
		asked, missed,
		week.at(epoch.Add(59*time.Minute+59*time.Second+ms(999))).recorded(job.StatusPending),
		ofPiece(week.finished(job.StatusFailed, "worker-9", time.Second), 0, 2))
}

func facets(t *testing.T, s logstore.Store) {
	writeMixed(t, s)
	want := func(f logstore.FacetFilter, want runlog.Facets) {
		t.Helper()
		got, err := s.Facets(t.Context(), f)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("facets of %+v differ, with %v (-want +got):\n%s", f, err, diff)
		}
	}
	want(logstore.FacetFilter{}, runlog.Facets{
		runlog.ByStatus:   {{Value: "missed", Count: 12}, {Value: "succeeded", Count: 2}, {Value: "failed", Count: 1}, {Value: "pending", Count: 1}},
		runlog.ByCause:    {{Value: "misfire", Count: 12}, {Value: "schedule", Count: 3}, {Value: "manual", Count: 1}},
		runlog.ByGroup:    {{Value: "bill", Count: 12}, {Value: "billing", Count: 4}},
		runlog.ByJob:      {{Value: "bill/day", Count: 12}, {Value: "billing/day", Count: 2}, {Value: "billing/week", Count: 2}},
		runlog.ByVersion:  {{Value: "3", Count: 14}, {Value: "4", Count: 2}},
		runlog.ByInstance: {{Value: "worker-1", Count: 2}, {Value: "worker-2", Count: 1}},
	})
	// What a filter says of a dimension does not hide its other values.
	two := []runlog.Dimension{runlog.ByStatus, runlog.ByJob}
	want(logstore.FacetFilter{RunFilter: logstore.RunFilter{Statuses: []job.Status{job.StatusFailed}, Group: "billing"}, By: two}, runlog.Facets{
		runlog.ByStatus: {{Value: "succeeded", Count: 2}, {Value: "failed", Count: 1}, {Value: "pending", Count: 1}},
		runlog.ByJob:    {{Value: "billing/week", Count: 1}},
	})
	want(logstore.FacetFilter{RunFilter: logstore.RunFilter{Group: "bill", Groups: []string{"billing"}}, By: []runlog.Dimension{runlog.ByGroup, runlog.ByJob}}, runlog.Facets{
		runlog.ByGroup: {{Value: "billing", Count: 4}},
		runlog.ByJob:   {},
	})
	want(logstore.FacetFilter{RunFilter: logstore.RunFilter{AllAttempts: true}, By: []runlog.Dimension{runlog.ByInstance}, Values: 1}, runlog.Facets{
		runlog.ByInstance: {{Value: "worker-1", Count: 2}},
	})
	// Reasons are counted by fires, that of the end before that of the record.
	late := newRun().of("billing/late").at(epoch.Add(50 * time.Minute)).recorded(job.StatusMissed)
	late.Cause, late.Reason, late.Count, late.Until = job.CauseMisfire, "too late", 3, epoch.Add(52*time.Minute)
	off := newRun().of("billing/off").at(epoch.Add(51 * time.Minute)).recorded(job.StatusSkipped)
	off.Reason = "the calendar excludes it"
	write(t, s, late, off)
	reasons := logstore.FacetFilter{RunFilter: logstore.RunFilter{Statuses: []job.Status{job.StatusSkipped, job.StatusMissed}}, By: []runlog.Dimension{runlog.ByReason}}
	want(reasons, runlog.Facets{runlog.ByReason: {{Value: "too late", Count: 3}, {Value: "the calendar excludes it", Count: 1}}})
	reasons.Jobs = []job.Name{"billing/off"}
	want(reasons, runlog.Facets{runlog.ByReason: {{Value: "the calendar excludes it", Count: 1}}})
	_, err := s.Facets(t.Context(), logstore.FacetFilter{By: []runlog.Dimension{"colour"}})
	wantInvalid(t, err, "by")
	_, err = s.Facets(t.Context(), logstore.FacetFilter{Values: logstore.MaxFacetValues + 1})
	wantInvalid(t, err, "values")
	_, err = s.Facets(t.Context(), logstore.FacetFilter{RunFilter: logstore.RunFilter{Group: "A B"}})
	wantInvalid(t, err, "group")
}

func histogram(t *testing.T, s logstore.Store) {
	writeMixed(t, s)
	hour := logstore.RunFilter{From: epoch, To: epoch.Add(time.Hour)}
	want := func(f logstore.RunFilter, parts int, want ...map[job.Status]int) {
		t.Helper()
		got, err := s.Histogram(t.Context(), f, parts)
		if diff := cmp.Diff(want, got.All); diff != "" || err != nil {
			t.Errorf("the histogram of %+v differs, with %v (-want +got):\n%s", f, err, diff)
		}
		f.Causes = job.ScheduledCauses
		scheduled, err := s.Histogram(t.Context(), f, parts)
		if diff := cmp.Diff(scheduled.All, got.Scheduled); diff != "" || err != nil {
			t.Errorf("the histogram of %+v has other scheduled runs, with %v (-want +got):\n%s", f, err, diff)
		}
	}
	type counts = map[job.Status]int
	want(hour, 3, counts{job.StatusSucceeded: 2, job.StatusFailed: 1}, counts{job.StatusMissed: 12}, counts{job.StatusPending: 1})
	want(hour, 1, counts{job.StatusSucceeded: 2, job.StatusFailed: 1, job.StatusMissed: 12, job.StatusPending: 1})
	day := hour
	day.Jobs, day.AllAttempts = []job.Name{"billing/day", "billing/unknown"}, true
	want(day, 2, counts{job.StatusSucceeded: 2, job.StatusFailed: 1}, counts{})
	failed := hour
	failed.Statuses, failed.To = []job.Status{job.StatusFailed, job.StatusMissed}, epoch.Add(30*time.Minute)
	want(failed, 7, counts{}, counts{}, counts{job.StatusFailed: 1}, counts{}, counts{}, counts{}, counts{})
	sixth := logstore.RunFilter{From: epoch, To: epoch.Add(time.Minute + ms(1))}
	want(sixth, 2, counts{job.StatusSucceeded: 1}, counts{job.StatusSucceeded: 1})
	want(logstore.RunFilter{From: epoch, To: epoch.Add(time.Hour), Groups: []string{}}, 1, counts{})

	refuse := func(field string, f logstore.RunFilter, parts int) {
		t.Helper()
		_, err := s.Histogram(t.Context(), f, parts)
		wantInvalid(t, err, field)
	}
	refuse("from", logstore.RunFilter{To: epoch}, 1)
	refuse("to", logstore.RunFilter{From: epoch}, 1)
	refuse("to", logstore.RunFilter{From: epoch, To: epoch.Add(ms(9))}, 10)
	refuse("parts", hour, 0)
	refuse("parts", hour, logstore.MaxParts+1)
}
