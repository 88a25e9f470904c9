package shard

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite"
)

// history writes what the world's records say into a log store, but for what they say
// of the run that is to be forgotten.
func (w *world) history(t *testing.T, without job.RunID) logstore.Store {
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
	var updates []logstore.Update
	for _, r := range w.records {
		if err := r.Each(func(d journal.Decided) {
			if d.RunID == without || d.Retry {
				return
			}
			updates = append(updates, logstore.Update{
				Kind: runlog.KindRecorded, RunID: d.RunID, Job: d.Job, Version: d.Version, Attempt: d.Attempt, Total: d.Total, Cause: d.Cause, At: r.At,
				Status: d.Status, Reason: d.Reason, By: d.By, Parent: d.Parent, Until: d.Until, Count: d.Count,
			})
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.WriteRuns(t.Context(), "all", updates); err != nil {
		t.Fatal(err)
	}
	return store
}

// evidence returns what a job of the world is judged by.
func (w *world) evidence(name job.Name, store logstore.Store) ledger.Evidence {
	e := ledger.Evidence{Job: name, Cursor: w.trig.cursor, Store: store, Since: instant(w.start - 1), Ingested: true}
	e.Waits = func(_ context.Context, id job.RunID) (bool, error) {
		for _, d := range w.trig.deferred {
			if d.Kind == journal.DeferredWaiting && d.RunID == id {
				return true, nil
			}
		}
		return false, nil
	}
	for i, change := range w.changes {
		switch c := change.(type) {
		case *job.Version:
			if c.Job.Job == name {
				e.Versions = append(e.Versions, &bus.JobEntry{Version: *c, Revision: revision(i)})
			}
		case forgotten:
			if job.Name(c) == name {
				e.Versions = nil
			}
		}
	}
	return e
}

// judge returns the job's discrepancies, and how many fires were judged.
func judge(ctx context.Context, t *testing.T, e ledger.Evidence, w *world) (bad []string, tally outcome.Tally) {
	t.Helper()
	to := instant(w.clock).Add(time.Second)
	if _, err := e.Judge(ctx, instant(w.start-1), to, func(entry *outcome.Entry) bool {
		tally.Add(entry)
		if entry.Outcome == outcome.Discrepancy {
			bad = append(bad, entry.FireTime.Format("02 15:04:05.000 ")+string(entry.Reason))
		}
		return tally.Fires < 200_000
	}); err != nil {
		t.Fatal(err)
	}
	return bad, tally
}

// delayEdited reports whether one of the versions follows a fixed-delay one and is not
// one itself: if it was heard of late, nobody can say any more from when on it held.
func delayEdited(versions []*bus.JobEntry) bool {
	for i := 1; i < len(versions); i++ {
		if versions[i-1].Schedule.Kind() == job.KindFixedDelay && versions[i].Schedule.Kind() != job.KindFixedDelay {
			return true
		}
	}
	return false
}

func TestTheLedgerFindsRandomHistoriesClean(t *testing.T) {
	var all outcome.Tally
	moved := 0
	for seed, w := range playedWorlds(t) {
		store := w.history(t, "")
		moved += w.moved(t)
		for _, name := range w.names {
			e := w.evidence(name, store)
			if !w.punctual && delayEdited(e.Versions) {
				continue
			}
			bad, tally := judge(t.Context(), t, e, w)
			all.Merge(tally)
			if len(bad) > 0 {
				t.Fatalf("seed %d, %s, punctual %v: %d discrepancies of %d:\n%s", seed, name, w.punctual, len(bad), tally.Fires, strings.Join(bad[:min(len(bad), 5)], "\n"))
			}
		}
	}
	if all.Unjudged > all.Fires/20 || all.Skipped == 0 || all.Missed == 0 || all.Pending == 0 {
		t.Errorf("of %d fires too few were judged: %+v", all.Fires, all)
	}
	if moved == 0 {
		t.Error("no fire was moved to another day")
	}
}

// moved returns how many fires ran on another day than that of their schedule.
func (w *world) moved(t *testing.T) (n int) {
	t.Helper()
	for _, r := range w.records {
		if err := r.Each(func(d journal.Decided) {
			if d.Attempt <= 1 && strings.Contains(d.Reason, "moved from") {
				n++
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func TestTheLedgerNoticesTheLossOfAnyRecord(t *testing.T) {
	noticed, n := uint64(0), histories(20)
	for seed, w := range playedWorlds(t)[:n] {
		lost := w.someFire(t)
		if lost.RunID == "" {
			continue
		}
		bad, _ := judge(t.Context(), t, w.evidence(lost.Job, w.history(t, lost.RunID)), w)
		want := lost.FireTime.Format("02 15:04:05.000 ") + "nothing is known of it"
		if !slices.ContainsFunc(bad, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("seed %d: without run %s of %s at %s: %v", seed, lost.RunID, lost.Job, lost.FireTime, bad)
		}
		noticed++
	}
	if noticed < n/4 {
		t.Errorf("only %d histories had a fire to lose", noticed)
	}
}

// someFire returns what the records say of the newest fire of a job that never was a
// fixed-delay one: nothing of that can be read from later fires. Nor is it one of a job that moves
// fires, since the ledger does not know to where.
func (w *world) someFire(t *testing.T) (found journal.Decided) {
	t.Helper()
	computable := map[job.Name]bool{}
	for _, name := range w.names {
		e := w.evidence(name, nil)
		computable[name] = w.punctual && len(e.Versions) > 0 && e.Versions[0].Version.Version == 1 && !slices.ContainsFunc(e.Versions, func(v *bus.JobEntry) bool { return v.Schedule.Kind() == job.KindFixedDelay || v.Schedule.Shift != "" })
	}
	for _, r := range w.records {
		if err := r.Each(func(d journal.Decided) {
			if computable[d.Job] && (d.Cause == job.CauseSchedule || d.Cause == job.CauseMisfire) && d.FireTime.After(found.FireTime) {
				found = d
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	return found
}
