package logstoretest

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// told is what pings from a host say of a run that is done elsewhere: it has no trigger, so it was
// never committed, and no delivery.
func (r run) told(kind runlog.Kind, status job.Status, host string, after time.Duration) logstore.Update {
	u := r.update(kind, after)
	u.CommittedAt, u.Status, u.Instance = time.Time{}, status, runlog.HostInstance(host)
	if kind == runlog.KindStarted {
		u.StartedAt = u.At
	} else {
		u.FinishedAt = u.At
	}
	return u
}

// reportedRun has a run that pings report go from the decision that one is expected to its end, in
// any order.
func reportedRun(t *testing.T, s logstore.Store) {
	code := 7
	expected := func(r run) logstore.Update {
		u := r.recorded(job.StatusQueued)
		u.Reason = "expects_ping"
		return u
	}
	inAnyOrder(t, s, func(r run) []logstore.Update {
		r = r.of("billing/elsewhere")
		end := r.told(runlog.KindFinished, job.StatusFailed, "web1", time.Minute)
		end.ExitCode, end.Message, end.LogLines = &code, "disk full", 3
		return []logstore.Update{expected(r), r.told(runlog.KindStarted, "", "web1", ms(400)), end}
	}, func(t *testing.T, r run) {
		t.Helper()
		r = r.of("billing/elsewhere")
		want := r.row(job.StatusFailed)
		want.CommittedAt, want.QueuedAt = time.Time{}, r.fire.Add(ms(5))
		want.StartedAt, want.FinishedAt = r.fire.Add(ms(400)), r.fire.Add(time.Minute)
		want.Instance, want.Reported, want.ExitCode, want.Message, want.LogLines = "host:web1", true, &code, "disk full", 3
		wantRun(t, s, want)
		wantTimeline(t, s, r,
			"1: +5ms recorded queued: expects_ping",
			"1: +400ms started running host:web1/0",
			"1: +1m0s finished failed host:web1/0: disk full",
		)
	})

	// An end alone does not tell when the run began, and a late one leaves it missed.
	inAnyOrder(t, s, func(r run) []logstore.Update {
		r = r.of("billing/late")
		return []logstore.Update{expected(r), r.record(job.StatusMissed, time.Minute, "no_ping"), r.told(runlog.KindFinished, job.StatusSucceeded, "", 2*time.Minute)}
	}, func(t *testing.T, r run) {
		t.Helper()
		r = r.of("billing/late")
		want := r.row(job.StatusMissed)
		want.CommittedAt, want.QueuedAt, want.Reason = r.fire.Add(time.Minute), r.fire.Add(ms(5)), "no_ping"
		want.FinishedAt, want.Instance, want.Reported = r.fire.Add(time.Minute), "host:", true
		wantRun(t, s, want)
		wantTimeline(t, s, r,
			"1: +5ms recorded queued: expects_ping",
			"1: +1m0s recorded missed: no_ping",
			"1: +2m0s late succeeded host:/0",
		)
	})
}

// reportedRuns has one run be done by an executor for a minute, and another be done elsewhere.
func reportedRuns(t *testing.T, s logstore.Store) {
	ran, elsewhere := newRun().of("billing/here"), newRun().of("billing/elsewhere")
	write(t, s, took(ran, epoch, epoch, epoch.Add(time.Minute))...)
	write(t, s, elsewhere.told(runlog.KindStarted, "", "web1", 0), elsewhere.told(runlog.KindFinished, job.StatusSucceeded, "web1", time.Minute))
	if got := list(t, s, logstore.RunFilter{Instance: runlog.AnyHost}).Runs; len(got) != 1 || got[0].Job != elsewhere.job || !got[0].Reported {
		t.Errorf("reported are %+v; want the run of %s", got, elsewhere.job)
	}
	if counts, err := s.Counts(t.Context(), logstore.RunFilter{Instance: runlog.AnyHost, Group: report.Group()}); err != nil || counts[job.StatusSucceeded] != 1 {
		t.Errorf("reported are %v, %v; want one", counts, err)
	}
	f := minutes(0, 1)
	if got := usageOf(t, s, f); got[0] != "0 waited, 0s at most; +1 -0, 1 ran" {
		t.Errorf("the group's usage is %s; want that of one run", got)
	}
	f.Job = elsewhere.job
	if got := usageOf(t, s, f); got[0] != "0 waited, 0s at most; +1 -0, 1 ran" {
		t.Errorf("the job's usage is %s; want that of one run", got)
	}
}
