package ledger_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/logstore"
)

// heard is an update by a ping from a host so long after the fire.
func heard(kind runlog.Kind, after time.Duration) func(*logstore.Update) {
	return func(u *logstore.Update) {
		u.Kind, u.At, u.Instance = kind, u.RunID.Time().Add(after), runlog.HostInstance("web1")
		if kind == runlog.KindFinished {
			u.FinishedAt = u.At
		} else {
			u.StartedAt, u.Status = u.At, ""
		}
	}
}

// expected is the record of a fire whose run is done elsewhere.
func expected(u *logstore.Update) {
	u.Reason = reason.ExpectsPing.With(u.RunID.Time().Add(time.Minute))
}

// elsewhere makes the job of a world one that is done elsewhere. Its shard waits for the runs of some minutes.
func (w *world) elsewhere(minutes ...int) {
	for _, v := range w.Versions {
		v.Task = job.Task{Watch: &job.Watch{}}
	}
	waits := map[job.RunID]bool{}
	for _, m := range minutes {
		waits[job.FireRunID(report, at(m).UnixMilli(), job.CauseSchedule)] = true
	}
	w.Waits = func(_ context.Context, id job.RunID) (bool, error) { return waits[id], nil }
}

func TestTheRecordDecidesWhatBecameOfARunElsewhere(t *testing.T) {
	w := newWorld(t, every10)
	w.elsewhere(40, 50)
	for m := 0; m <= 60; m += 10 {
		w.wrote(m, job.StatusQueued, expected)
	}
	w.wrote(0, job.StatusSucceeded, heard(runlog.KindFinished, time.Minute))
	w.wrote(10, job.StatusFailed, heard(runlog.KindFinished, time.Minute), func(u *logstore.Update) { u.Message = "disk full" })
	w.wrote(20, job.StatusMissed, func(u *logstore.Update) { u.Reason = "no ping came" })
	w.wrote(30, "", heard(runlog.KindStarted, time.Minute))
	w.wrote(30, job.StatusTimedOut, func(u *logstore.Update) { u.Reason = "no end came" })
	w.wrote(50, "", heard(runlog.KindStarted, time.Minute))
	w.says(0, 70, "12:00 reported", "12:10 reported disk full", "12:20 missed no ping came", "12:30 reported no end came",
		"12:40 pending it waits until 2026-01-05T12:41:00Z for a ping", "12:50 pending", "13:00 discrepancy "+finding.NoPingAwaited.String())
	var tally outcome.Tally
	_, err := w.Judge(w.Context(), at(0), at(60), func(e *outcome.Entry) bool {
		tally.Add(e)
		if want := map[outcome.Outcome]string{outcome.Reported: "web1"}[e.Outcome]; e.Host != want && e.Outcome != outcome.Pending {
			t.Errorf("the fire of %s was %s from %q, want %q", e.FireTime, e.Outcome, e.Host, want)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(outcome.Tally{Fires: 6, Reported: 3, Missed: 1, Pending: 2, Failed: 2}, tally); d != "" {
		t.Error(d)
	}
	w.Waits = nil
	w.says(60, 70, "13:00 pending")
}

func TestALateEndLeavesAFireMissed(t *testing.T) {
	w := newWorld(t, every10)
	w.elsewhere()
	w.wrote(0, job.StatusQueued, expected)
	w.wrote(0, job.StatusMissed, func(u *logstore.Update) { u.Reason, u.At = "no ping came", at(1) })
	w.wrote(0, job.StatusSucceeded, heard(runlog.KindFinished, 41*time.Minute))
	w.says(0, 5, "12:00 missed no ping came")
}

func TestARunThatNoFireAskedForIsListedAndNotOwed(t *testing.T) {
	w := newWorld(t, every10)
	w.elsewhere()
	w.wrote(0, job.StatusQueued, expected)
	w.wrote(0, job.StatusSucceeded, heard(runlog.KindFinished, time.Minute))
	w.wrote(3, job.StatusFailed, heard(runlog.KindFinished, 0), func(u *logstore.Update) {
		u.Cause, u.RunID = job.CausePing, job.PingRunID(report, "01", at(3).UnixMilli())
	})
	var tally outcome.Tally
	var causes []job.Cause
	if _, err := w.Judge(w.Context(), at(0), at(10), func(e *outcome.Entry) bool {
		tally.Add(e)
		causes = append(causes, e.Cause)
		if outcome.All.Selects(e) != (e.Cause == "") {
			t.Errorf("all fires have %s: %t", e.FireTime, outcome.All.Selects(e))
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]job.Cause{"", job.CausePing}, causes); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(outcome.Tally{Fires: 1, Reported: 1}, tally); d != "" {
		t.Error(d)
	}
	w.says(0, 10, "12:00 reported", "12:03 reported")
	owed := 0
	if _, err := w.Owed(w.Context(), at(0), at(10), func(*outcome.Entry) bool { owed++; return true }); err != nil || owed != 1 {
		t.Errorf("%d fires are owed, %v; want one", owed, err)
	}
}

// backup is a job that is done elsewhere and fires every ten minutes.
const backup job.Name = "ops/backup"

func (b *beat) watch() {
	b.Helper()
	j := job.Job{Job: backup, Schedule: job.Schedule{Cron: "*/10 * * * *"}, Task: job.Task{Watch: &job.Watch{From: job.WatchFromNow}}}.WithDefaults()
	_, _, err := b.conn.Jobs().Put(b.Context(), j, cluster.Edit{At: time.Now().Add(-time.Millisecond)})
	b.check(err)
}

// item leaves a deferred item for the fire of the backup at a minute, as its owner does while it waits.
func (b *beat) item(minute int) (remove func()) {
	b.Helper()
	shard, id := backup.Shard(b.conn.Cluster().Shards), job.FireRunID(backup, at(minute).UnixMilli(), job.CauseSchedule)
	d := journal.Deferred{Kind: journal.DeferredEnd, Job: backup, RunID: id}
	m, err := d.Msg(shard)
	b.check(err)
	_, err = b.conn.JS.PublishMsg(b.Context(), m)
	b.check(err)
	return func() {
		b.Helper()
		b.remove(b.conn.TrigOf(shard), bus.SubjectDeferred(shard), func(m *jet.Stored) bool {
			d, err := journal.DecodeDeferred(m.Header, m.Data)
			b.check(err)
			return d.RunID == id
		})
	}
}

// told has the history say of the fire of the backup at a minute what a record said.
func (b *beat) told(minute int, s job.Status, change func(*logstore.Update)) {
	b.Helper()
	u := logstore.Update{
		Kind: runlog.KindRecorded, RunID: job.FireRunID(backup, at(minute).UnixMilli(), job.CauseSchedule), Job: backup, Version: 1, Attempt: 1,
		Cause: job.CauseSchedule, At: at(minute), Status: s,
	}
	change(&u)
	b.check(b.store.WriteRuns(b.Context(), "", []logstore.Update{u}))
}

// TestTheLedgerNamesRunsElsewhereWhoseRecordIsDeleted deletes the record of the decision of one run, and that of the
// end of another: their owner no longer waits for either.
func TestTheLedgerNamesRunsElsewhereWhoseRecordIsDeleted(t *testing.T) {
	onPatrol(t, func(b *beat) {
		b.watch()
		end := heard(runlog.KindFinished, time.Minute)
		for _, m := range []int{0, 10, 20, 30} {
			b.told(m, job.StatusQueued, expected)
		}
		b.told(0, job.StatusSucceeded, end)
		b.told(10, job.StatusSucceeded, end)
		third, fourth := b.item(20), b.item(30)
		b.decided(45) // of the fire at 40 there is nothing
		b.round("ops/backup 12:40")
		third() // with its end, whose record is gone
		b.decided(46)
		b.round("ops/backup 12:40", "ops/backup 12:20")
		b.told(30, job.StatusFailed, end)
		fourth()
		b.decided(47)
		b.round("ops/backup 12:40", "ops/backup 12:20")

		l := ledger.New(b.conn, b.store, logstore.DefaultRetention())
		page, err := l.Job(b.Context(), backup, ledger.JobRequest{From: at(0), To: at(45)})
		b.check(err)
		var got []string
		for _, e := range page.Items {
			got = append(got, fmt.Sprintf("%s %s %s", e.FireTime.Format("15:04"), e.Outcome, e.Reason))
		}
		if d := cmp.Diff([]string{
			"12:40 discrepancy " + finding.NothingKnown.With(at(47).Format(time.RFC3339Nano)), "12:30 reported ", "12:20 discrepancy " + finding.NoPingAwaited.String(), "12:10 reported ", "12:00 reported ",
		}, got); d != "" {
			b.Error(d)
		}
	})
}
