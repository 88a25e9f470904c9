package ledger_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/chserver/chtest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse"
)

func TestMain(m *testing.M) { chtest.Main(m) }

const day = 24 * 60 // in minutes

// TestWhatIsKeptNoLongerIsNoDiscrepancy has a history that was trimmed, of which runs are
// left that are older than what went: such as several fires that were missed together, a
// run of a backfill, and those of a job that is kept for longer.
func TestWhatIsKeptNoLongerIsNoDiscrepancy(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { judgeTrimmed(t, newWorld(t)) })
	t.Run("ClickHouse", func(t *testing.T) {
		store, err := clickhouse.Open(chtest.Database(t), clickhouse.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
		if err := store.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := newWorld(t)
		w.Store = store
		judgeTrimmed(t, w)
	})
}

func judgeTrimmed(t *testing.T, w *world) {
	t.Helper()
	const audits job.Name = "billing/audits"
	first, now := -20*day, at(0)
	w.Cursor.Done = now
	w.Versions = []*bus.JobEntry{{Revision: 1, Version: job.Version{
		Job:     job.Job{Job: report, Schedule: job.Schedule{Cron: "0 12 * * *"}, Task: job.Task{Shell: "true"}}.WithDefaults(),
		Version: 1, EffectiveFrom: at(first).Add(-time.Millisecond),
	}}}
	// Down for eight days, noticed twelve days ago; then it ran every day.
	w.wrote(first, job.StatusMissed, func(u *logstore.Update) { u.Until, u.Count, u.At = at(-13*day), 8, at(-12*day-60) })
	for d := -12; d < 0; d++ {
		w.wrote(d*day, job.StatusSucceeded)
	}
	w.wrote(first+day, job.StatusSucceeded, func(u *logstore.Update) { // done again yesterday
		u.RunID, u.Cause, u.At = job.BackfillRunID(report, at(first+day).UnixMilli(), "b"), job.CauseBackfill, at(-day)
	})
	w.wrote(first, job.StatusSucceeded, func(u *logstore.Update) {
		u.RunID, u.Job = job.FireRunID(audits, at(first).UnixMilli(), job.CauseSchedule), audits
	})
	days := func(n int) job.Keep {
		return job.Keep{Runs: job.Duration(time.Duration(n*day) * time.Minute), Logs: job.Duration(time.Hour)}
	}
	kept := cluster.Retentions{
		{Retention: job.Retention{Default: days(30)}},
		{Retention: job.Retention{Default: days(5), Jobs: map[job.Name]job.Keep{audits: days(30)}}, ChangedAt: at(-2 * day)},
		{Retention: job.Retention{Default: days(30)}, ChangedAt: at(-day)}, // what is gone does not come back
	}
	if _, err := w.Store.Trim(t.Context(), at(-day), kept[1].Retention); err != nil {
		t.Fatal(err)
	}
	stats, err := w.Store.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !stats.OldestRun.Equal(at(first)) {
		t.Fatalf("the oldest run that is left is of %s; the test wants one of %s", stats.OldestRun, at(first))
	}
	if got := kept.Since(audits, now); !got.Before(at(first)) {
		t.Errorf("the history of %s begins at %s; it is kept for longer", audits, got)
	}
	w.Since = kept.Since(report, now)
	var tally outcome.Tally
	if _, err := w.Judge(t.Context(), at(first), now, func(e *outcome.Entry) bool {
		tally.Add(e)
		if e.Outcome == outcome.Discrepancy {
			t.Errorf("%s: %s", e.FireTime, e.Reason)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	// Of the six days before yesterday all is there; a store may have kept one more.
	if tally.Fires != 20 || tally.Ran < 5 || tally.Ran > 7 || tally.Unjudged+tally.Ran != tally.Fires {
		t.Errorf("%+v", tally)
	}
	// The oldest run that is left would have the ledger expect what is gone.
	w.Since = stats.OldestRun
	w.says(first, first+2*day, "12:00 discrepancy", "12:00 discrepancy")
}

func TestAPatrolKnowsWhatIsKeptNoLonger(t *testing.T) {
	onPatrol(t, func(b *beat) {
		const name job.Name = "g/short"
		b.put(name, 0)
		b.ran("g/other", 0)
		time.Sleep(3 * time.Hour)
		_, err := b.conn.Retention().Put(b.Context(), job.Retention{
			Default: logstore.DefaultRetention().Default, Jobs: map[job.Name]job.Keep{name: {Runs: job.Duration(time.Hour)}},
		}, cluster.Edit{At: time.Now()})
		b.check(err)
		b.decided(180)
		b.round("g/short 14:10", "g/short 14:20", "g/short 14:30", "g/short 14:40", "g/short 14:50", "g/short 15:00")
	})
}
