package clickhouse_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// Until parts are merged, the row of a failure that was none after all is there, and one
// that takes it back.
func TestAFailureThatWasNoneLeavesNoTraceAmongThoseLikeIt(t *testing.T) {
	address := chtest.Database(t)
	s := open(t, address)
	exec(t, sql(t, address), "SYSTEM STOP MERGES runs")
	failed := func(name job.Name, at time.Time, message string) logstore.Update {
		u := end(0)
		u.Job, u.RunID = name, job.FireRunID(name, at.UnixMilli(), job.CauseSchedule)
		u.CommittedAt, u.StartedAt, u.FinishedAt, u.At = at, at, at.Add(time.Second), at.Add(time.Second)
		u.Status, u.Message = job.StatusFailed, message
		return u
	}
	jam, off := failed("paper/jam", fire, "paper jam in tray 2"), failed("paper/called-off", fire.Add(time.Hour), "paper jam in tray 3")
	called := logstore.Update{Kind: runlog.KindRecorded, RunID: off.RunID, Job: off.Job, Version: off.Version, Attempt: off.Attempt, Cause: off.Cause, At: off.At.Add(time.Second), Status: job.StatusCancelled, Reason: "called off"}
	for token, u := range map[string]logstore.Update{"EVT:1-1": jam, "EVT:2-2": off} {
		if err := s.WriteRuns(t.Context(), token, []logstore.Update{u}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.WriteRuns(t.Context(), "TRIG:1-1", []logstore.Update{called}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Failures(t.Context(), logstore.FailureFilter{From: fire.Add(-time.Hour), To: fire.Add(24 * time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	want := []runlog.Failure{{Fingerprint: "paper jam in tray #", Message: reason.Text(jam.Message), Attempts: 1, Jobs: []job.Name{jam.Job}, JobCount: 1, Versions: []int{jam.Version}, First: fire, Last: fire, LastRun: jam.RunID}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("failures differ (-want +got):\n%s", diff)
	}
}
