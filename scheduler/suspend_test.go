package scheduler_test

import (
	"errors"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

// skip calls off the fire of g/a at an instant of the day, in UTC.
func (w *world) skip(clock string, run job.RunID) (revision uint64) {
	w.t.Helper()
	at, err := time.Parse("15:04:05", clock)
	if err != nil {
		w.t.Fatal(err)
	}
	s := job.Skip{FireTime: start.Truncate(24 * time.Hour).Add(at.Sub(at.Truncate(24 * time.Hour))), By: "ada", At: time.Now().UTC(), RunID: run}
	entry, err := w.conn.Jobs().Edit(w.t.Context(), "g/a", cluster.Edit{At: time.Now()}, func(v *job.Version) { v.Skip(s) })
	if err != nil {
		w.t.Fatal(err)
	}
	return entry.Revision
}

func TestACalledOffFireIsSkippedOnceThoughItsOwnerDiesAndTheJobIsEdited(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", cron("* * * * *"))
		w.skip("00:02:00", "")
		w.skip("00:05:00", "")
		time.Sleep(time.Minute) // 00:01:30
		w.killNode("a")
		w.put("g/a", cron("* * * * *"), func(j *job.Job) { j.Description = "a document knows of no skips" })
		w.startNode("b")
		time.Sleep(2 * time.Minute) // 00:03:30
		w.stopNode("b")
		w.startNode("c")
		time.Sleep(2 * time.Minute)
		w.wantDecided(
			"g/a 00:01:00 pending schedule",
			"g/a 00:02:00 skipped schedule",
			"g/a 00:03:00 pending schedule",
			"g/a 00:04:00 pending schedule",
			"g/a 00:05:00 skipped schedule",
		)
		entry, err := w.conn.Jobs().Get(w.t.Context(), "g/a")
		if err != nil || len(entry.Skips) != 2 {
			w.t.Errorf("skips of the newest version: %v, %v", entry.Skips, err)
		}
		w.put("g/a", cron("* * * * *"))
		if entry, err = w.conn.Jobs().Get(w.t.Context(), "g/a"); err != nil || len(entry.Skips) != 0 {
			w.t.Errorf("skips of the past: %v, %v", entry.Skips, err)
		}
	})
}

func TestAJobThatIsPausedUntilAnInstantResumesByItselfUnderANewOwner(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		until := time.Date(2026, time.January, 5, 0, 3, 0, 0, time.UTC)
		w.put("g/a", cron("* * * * *"), func(j *job.Job) { j.PausedUntil = &until })
		time.Sleep(time.Minute)
		w.killNode("a")
		time.Sleep(3 * time.Minute) // 00:04:30: nobody was there when it ended
		w.startNode("b")
		time.Sleep(time.Minute)
		w.wantDecided(
			"g/a 00:01:00 skipped schedule",
			"g/a 00:02:00 skipped schedule",
			"g/a 00:03:00 missed schedule",
			"g/a 00:04:00 pending misfire",
			"g/a 00:05:00 pending schedule",
		)
	})
}

func TestThePauseOfEverythingEndsByItself(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", cron("* * * * *"))
		until := time.Date(2026, time.January, 5, 0, 3, 0, 0, time.UTC)
		if _, _, err := w.conn.Pauses().Set(w.t.Context(), "", true, until, cluster.Edit{At: time.Now()}); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(3 * time.Minute)
		w.wantDecided("g/a 00:01:00 skipped schedule", "g/a 00:02:00 skipped schedule", "g/a 00:03:00 pending schedule")
		hold, err := w.conn.Pauses().Get(w.t.Context(), "")
		if err != nil || !hold.Paused || hold.At(time.Now()).Paused {
			w.t.Errorf("the switch is %+v, %v", hold, err)
		}
		if _, hold, err = w.conn.Pauses().Set(w.t.Context(), "", true, time.Time{}, cluster.Edit{At: time.Now()}); err != nil || !hold.At(time.Now()).Paused {
			w.t.Errorf("paused again, the switch is %+v, %v", hold, err)
		}
	})
}

func TestThePauseOfAGroupHoldsUnderANewOwner(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", cron("* * * * *"))
		w.put("h/a", cron("* * * * *"))
		until := time.Date(2026, time.January, 5, 0, 4, 0, 0, time.UTC)
		if _, _, err := w.conn.Pauses().Set(w.t.Context(), "g", true, until, cluster.Edit{At: time.Now()}); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.killNode("a")
		w.startNode("b")
		time.Sleep(3 * time.Minute)
		w.wantDecided(
			"g/a 00:01:00 skipped schedule", "h/a 00:01:00 pending schedule",
			"g/a 00:02:00 skipped schedule", "h/a 00:02:00 pending schedule",
			"g/a 00:03:00 skipped schedule", "h/a 00:03:00 pending schedule",
			"g/a 00:04:00 pending schedule", "h/a 00:04:00 pending schedule",
		)
		all, err := w.conn.Pauses().OfGroups(w.t.Context())
		if err != nil || len(all) != 1 || !all["g"].Until.Equal(until) {
			w.t.Errorf("the pauses of groups are %+v, %v", all, err)
		}
	})
}

func TestARunInThePlaceOfAFireIsMadeByWhoeverReadsThatItIsWanted(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", cron("*/2 * * * *"))
		time.Sleep(10 * time.Second) // its owner serves requests now: 00:00:40
		id := job.NewRunID(time.Now())
		request := bus.TriggerRequest{RunID: id, Job: "g/a", Cause: job.CauseManual, InsteadOf: start.Truncate(time.Hour).Add(2 * time.Minute)}
		var reply bus.TriggerReply
		if err := w.conn.Shards().AskOwner(w.t.Context(), "g/a", "trigger", 0, request, &reply, 5*time.Second); !errors.Is(err, job.ErrConflict) {
			w.t.Errorf("a fire that is to run: %v", err)
		}
		revision := w.skip("00:02:00", id)
		for range 2 {
			if err := w.conn.Shards().AskOwner(w.t.Context(), "g/a", "trigger", revision, request, &reply, 5*time.Second); err != nil || reply.Status != job.StatusPending {
				w.t.Fatal(reply, err)
			}
		}
		// Nobody is there to hear of the next, and its asker does not come back.
		w.killNode("a")
		w.skip("00:04:00", job.NewRunID(time.Now()))
		time.Sleep(10 * time.Second)
		w.startNode("b")
		time.Sleep(30 * time.Second)
		w.killNode("b")
		w.startNode("c")
		time.Sleep(6 * time.Minute)
		w.wantDecided(
			"g/a 00:00:40 pending manual", "g/a 00:00:40 pending manual",
			"g/a 00:02:00 skipped schedule", "g/a 00:04:00 skipped schedule", "g/a 00:06:00 pending schedule",
		)
	})
}
