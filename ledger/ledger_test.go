package ledger_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
)

const report job.Name = "billing/report"

var noon = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)

func at(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }

// world is the evidence about one job, which is decided up to two in the afternoon.
type world struct {
	*testing.T
	ledger.Evidence
}

func newWorld(t *testing.T, schedules ...job.Schedule) *world {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{T: t, Evidence: ledger.Evidence{
		Job: report, Store: store, Since: at(-600), Ingested: true, Cursor: &journal.Cursor{Done: at(120), JobsSeq: 1000},
	}}
	for i, s := range schedules {
		v := job.Version{Job: job.Job{Job: report, Schedule: s, Task: job.Task{Shell: "true"}}.WithDefaults(), Version: i + 1, EffectiveFrom: at(i * 60).Add(-time.Millisecond)}
		w.Versions = append(w.Versions, &bus.JobEntry{Version: v, Revision: uint64(i + 1)})
	}
	return w
}

// wrote has the history say what became of the fire at a minute.
func (w *world) wrote(minute int, s job.Status, change ...func(*logstore.Update)) {
	w.Helper()
	u := logstore.Update{
		Kind: runlog.KindRecorded, RunID: job.FireRunID(report, at(minute).UnixMilli(), job.CauseSchedule), Job: report, Version: 1, Attempt: 1,
		Cause: job.CauseSchedule, At: at(minute).Add(20 * time.Millisecond), Status: s,
	}
	for _, f := range change {
		f(&u)
	}
	if err := w.Store.WriteRuns(w.Context(), "", []logstore.Update{u}); err != nil {
		w.Fatal(err)
	}
}

// says checks the ledger of the minutes in [from, to): each entry as its time, its
// outcome and the beginning of its reason.
func (w *world) says(from, to int, want ...string) {
	w.Helper()
	var got []string
	if _, err := w.Judge(w.Context(), at(from), at(to), func(e *outcome.Entry) bool {
		text := strings.TrimSpace(fmt.Sprintf("%s %s %s", e.FireTime.Format("15:04"), e.Outcome, e.Reason))
		if n := len(got); n < len(want) && len(text) > len(want[n]) && want[n] != "" {
			text = text[:len(want[n])]
		}
		got = append(got, text)
		return true
	}); err != nil {
		w.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		w.Error(d)
	}
}

var every10 = job.Schedule{Cron: "*/10 * * * *"}

func misfire(u *logstore.Update) { u.Cause, u.Reason = job.CauseMisfire, "noticed 9m late" }

func TestEachFireHasWhatBecameOfIt(t *testing.T) {
	w := newWorld(t, every10)
	w.wrote(0, job.StatusSucceeded)
	w.wrote(10, job.StatusFailed, misfire)
	w.wrote(20, job.StatusPending)
	w.wrote(30, job.StatusSkipped, func(u *logstore.Update) { u.Reason = "the job is paused" })
	w.wrote(40, job.StatusQueued)
	w.wrote(50, job.StatusMissed, func(u *logstore.Update) { u.Reason = "noticed too late" })
	w.says(0, 60, "12:00 ran", "12:10 caught_up noticed 9m late", "12:20 pending", "12:30 skipped the job is paused", "12:40 pending", "12:50 missed noticed too late")
	w.says(10, 10)
}

// A fire is as late as its first attempt, and its reason is that of the end.
func TestAFireWhoseRunWasRetriedIsAsLateAsItsFirstAttempt(t *testing.T) {
	w := newWorld(t, every10)
	w.wrote(0, job.StatusPending)
	for attempt := 1; attempt <= 2; attempt++ {
		began := at(0).Add(time.Duration(attempt) * 7 * time.Second)
		w.wrote(0, job.StatusQueued, func(u *logstore.Update) {
			u.Attempt, u.At, u.Reason = attempt+1, began, reason.NextAttempt.With(attempt, job.StatusFailed, job.Duration(5*time.Second))
		})
		w.wrote(0, job.StatusPending, func(u *logstore.Update) { u.Attempt, u.At = attempt+1, began.Add(5*time.Second) })
	}
	for attempt := 1; attempt <= 3; attempt++ {
		w.wrote(0, job.StatusFailed, func(u *logstore.Update) {
			began := at(0).Add(time.Duration(attempt-1) * 12 * time.Second)
			u.Kind, u.Attempt, u.StartedAt, u.Instance, u.Delivery = runlog.KindFinished, attempt, began.Add(time.Second), "i", 1
			u.At, u.CommittedAt, u.Message, u.Retry = began.Add(3*time.Second), began.Add(20*time.Millisecond), "disk full", attempt < 3
		})
	}
	var got *outcome.Entry
	if _, err := w.Judge(w.Context(), at(0), at(5), func(e *outcome.Entry) bool { got = e; return true }); err != nil {
		t.Fatal(err)
	}
	want := &outcome.Entry{
		FireTime: at(0), Due: at(0), Version: 1, Outcome: outcome.Ran, Reason: "disk full", RunID: got.RunID, Status: job.StatusFailed, Attempt: 3,
		DecidedAt: at(0).Add(20 * time.Millisecond), StartedAt: at(0).Add(time.Second), FinishedAt: at(0).Add(27 * time.Second), Late: job.Duration(20 * time.Millisecond),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	w.wrote(0, job.StatusSucceeded, func(u *logstore.Update) { u.Attempt, u.At = 4, at(1) })
	w.wrote(0, job.StatusQueued, func(u *logstore.Update) {
		u.Attempt, u.Reason = 4, reason.NextAttempt.With(3, job.StatusFailed, job.Duration(5*time.Second))
	})
	w.says(0, 5, "12:00 ran")
}

func TestAFireWhoseRunWasQueuedIsAsLateAsItsDecision(t *testing.T) {
	w := newWorld(t, every10)
	decided := func(minute int) func(*logstore.Update) {
		return func(u *logstore.Update) { u.At = at(minute).Add(20 * time.Millisecond) }
	}
	for minute := 0; minute <= 20; minute += 10 {
		w.wrote(minute, job.StatusQueued, decided(minute))
	}
	w.wrote(0, job.StatusPending, func(u *logstore.Update) { u.At = at(5) })
	w.wrote(10, job.StatusSkipped, func(u *logstore.Update) { u.At = at(15) })
	var got []*outcome.Entry
	if _, err := w.Judge(w.Context(), at(0), at(25), func(e *outcome.Entry) bool { got = append(got, e); return true }); err != nil || len(got) != 3 {
		t.Fatalf("there are %d entries, with %v; want 3", len(got), err)
	}
	for _, e := range got {
		if e.Late != job.Duration(20*time.Millisecond) || !e.DecidedAt.Equal(e.Due.Add(20*time.Millisecond)) {
			t.Errorf("the fire of %s, %s, is %s late, decided at %s; want 20ms", e.FireTime, e.Status, e.Late, e.DecidedAt)
		}
	}
}

func TestAFireOfWhichNothingIsKnownIsADiscrepancy(t *testing.T) {
	w := newWorld(t, every10)
	w.wrote(0, job.StatusSucceeded)
	w.wrote(20, job.StatusSucceeded)
	w.says(0, 25, "12:00 ran", "12:10 discrepancy nothing is known of it", "12:20 ran")
}

func TestWhatCannotBeJudgedIsNoDiscrepancy(t *testing.T) {
	w := newWorld(t, every10)
	w.Cursor.Done = at(15)
	w.says(10, 25, "12:10 discrepancy", "12:20 undecided its shard has come up to 2026-01-05T12:15:00Z")
	w.Ingested = false
	w.says(10, 25, "12:10 unjudged there are records that are not in the history yet", "12:20 undecided")
	w.Since = at(11)
	w.says(10, 20, "12:10 unjudged it is older than the history")
	w.Since = time.Time{}
	w.says(10, 20, "12:10 unjudged it is older than the history")
	w.Cursor.Done, w.Cursor.JobsSeq = at(120), 0
	w.says(10, 20, "12:10 undecided its shard does not know version 1 yet")
}

func TestFiresBeforeTheFirstVersionAreNotOwed(t *testing.T) {
	w := newWorld(t, every10)
	w.wrote(-10, job.StatusSucceeded) // by a job of the name that was there before
	w.wrote(0, job.StatusSucceeded)
	w.says(-60, 5, "11:50 ran", "12:00 ran")
}

func TestARunThatNoVersionAskedForIsADiscrepancy(t *testing.T) {
	w := newWorld(t, every10)
	w.wrote(0, job.StatusSucceeded)
	w.wrote(3, job.StatusSucceeded)
	w.says(0, 10, "12:00 ran", "12:03 discrepancy no version of the job fires at that instant")
}

func TestTheOldestVersionThatIsKeptMayHaveBeenHeardOfLate(t *testing.T) {
	w := newWorld(t, every10, job.Schedule{Cron: "*/7 * * * *"})
	w.Versions = w.Versions[1:] // the bucket has forgotten the first
	w.wrote(60, job.StatusSucceeded)
	w.wrote(70, job.StatusSucceeded) // by version 1, ten minutes after version 2
	second := func(u *logstore.Update) { u.Version = 2 }
	w.wrote(74, job.StatusSucceeded, second)
	w.wrote(81, job.StatusSucceeded, second)
	w.says(55, 85, "13:00 ran", "13:10 ran", "13:14 ran", "13:21 ran")
}

func TestTwoRunsForOneFireAreADiscrepancy(t *testing.T) {
	w := newWorld(t, every10)
	w.wrote(0, job.StatusSucceeded)
	w.wrote(0, job.StatusSucceeded, func(u *logstore.Update) { u.RunID = job.FireRunID(report, at(0).UnixMilli(), "other") })
	w.says(0, 5, "12:00 ran", "12:00 discrepancy it is a second run for the fire of run "+string(job.FireRunID(report, at(0).UnixMilli(), job.CauseSchedule)))
}

func TestOneRowSpeaksForSeveralFires(t *testing.T) {
	w := newWorld(t, every10)
	several := func(u *logstore.Update) { u.Until, u.Count, u.Reason = at(30), 4, "noticed too late" }
	w.wrote(0, job.StatusMissed, several)
	w.wrote(40, job.StatusSucceeded, misfire)
	w.says(0, 55, "12:00 missed", "12:10 missed", "12:20 missed", "12:30 missed noticed too late", "12:40 caught_up", "12:50 discrepancy")
	w.says(15, 35, "12:20 missed", "12:30 missed")
	w.wrote(20, job.StatusSucceeded)
	w.says(5, 35, "12:10 missed", "12:20 discrepancy it has two outcomes", "12:30 missed")
}

func TestAnEditHeardLateBeginsAfterTheLastFireOfTheVersionBefore(t *testing.T) {
	w := newWorld(t, job.Schedule{Cron: "0 * * * *"}, job.Schedule{Cron: "*/15 * * * *"}) // from 13:00 on
	second := func(u *logstore.Update) { u.Version = 2 }
	w.wrote(0, job.StatusSucceeded)
	w.wrote(75, job.StatusSucceeded, second)
	w.says(0, 80, "12:00 ran", "13:00 discrepancy", "13:15 ran")
	w.wrote(60, job.StatusSucceeded) // by version 1
	w.says(0, 80, "12:00 ran", "13:00 ran", "13:15 ran")
}

func TestAFixedDelayJobThatFallsSilentIsNoticed(t *testing.T) {
	w := newWorld(t, job.Schedule{FixedDelay: job.Duration(10 * time.Minute)})
	w.wrote(10, job.StatusPending)
	w.says(0, 60, "12:10 pending")
	w.wrote(10, job.StatusSucceeded, func(u *logstore.Update) {
		u.Kind, u.FinishedAt, u.StartedAt, u.Instance, u.Delivery = runlog.KindFinished, at(11), at(10), "i", 1
	})
	w.Cursor.Done = at(22).Add(-time.Millisecond) // its fire was due at 12:21, and a minute is allowed
	w.says(0, 60, "12:10 ran")
	w.Cursor.Done = at(22)
	w.says(0, 60, "12:10 ran", "12:21 discrepancy the job has not fired since")
	w.wrote(21, job.StatusPending)
	w.says(0, 60, "12:10 ran", "12:21 pending")
}

func TestAFixedDelayJobWaitsFromTheLastOfTheFiresThatWereMissed(t *testing.T) {
	w := newWorld(t, job.Schedule{FixedDelay: job.Duration(10 * time.Minute)})
	w.wrote(10, job.StatusMissed, func(u *logstore.Update) { u.Until, u.Count = at(30), 3 })
	w.Cursor.Done = at(41).Add(-time.Millisecond)
	w.says(0, 60, "12:10 missed")
	w.Cursor.Done = at(41)
	w.says(0, 60, "12:10 missed", "12:40 discrepancy the job has not fired since")
}

func TestAnIntervalOfTheCalendarOwesTheFiresOfItsDays(t *testing.T) {
	every := func(from string) job.Schedule {
		return job.Schedule{Every: &job.Every{Days: 2, At: job.OneOrMore{"13:10", "13:20"}, From: from}, Zone: "Europe/Berlin"}
	}
	w := newWorld(t, every("2026-01-03")) // the fifth of January is the third day
	w.wrote(10, job.StatusPending)
	w.wrote(15, job.StatusPending)
	w.says(0, 60, "12:10 pending", "12:15 discrepancy no version of the job fires at that inst", "12:20 discrepancy nothing is known of it, though its shard has come up to 202")
	w = newWorld(t, every("2026-01-04"))
	w.says(0, 60)
}

func TestLongRangesAreJudgedInWindows(t *testing.T) {
	w := newWorld(t, job.Schedule{FixedRate: job.Duration(time.Second)})
	missing := map[int]bool{7: true, 1000: true, 1001: true, 2999: true}
	var updates []logstore.Update
	for i := range 3600 {
		fire := noon.Add(time.Duration(i) * time.Second)
		u := logstore.Update{
			Kind: runlog.KindRecorded, RunID: job.FireRunID(report, fire.UnixMilli(), job.CauseSchedule), Job: report, Version: 1, Attempt: 1,
			Cause: job.CauseSchedule, At: fire, Status: job.StatusPending,
		}
		if i == 900 { // one row for the fires over the end of a window
			u.Status, u.Until, u.Count, u.Reason = job.StatusSkipped, fire.Add(99*time.Second), 100, "the job is paused"
		}
		if !missing[i] && (i <= 900 || i > 999) {
			updates = append(updates, u)
		}
	}
	if err := w.Store.WriteRuns(t.Context(), "", updates); err != nil {
		t.Fatal(err)
	}
	var tally outcome.Tally
	found := map[int]bool{}
	if _, err := w.Judge(t.Context(), at(0), at(60), func(e *outcome.Entry) bool {
		tally.Add(e)
		if e.Outcome == outcome.Discrepancy {
			found[int(e.FireTime.Sub(noon).Seconds())] = true
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(missing, found); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(outcome.Tally{Fires: 3600, Pending: 3496, Skipped: 100, Discrepancies: 4}, tally); d != "" {
		t.Error(d)
	}
}
