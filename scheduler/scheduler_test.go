package scheduler_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

func TestANodeFiresWhatIsDue(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/minutely", cron("* * * * *"))
		time.Sleep(3 * time.Minute)
		w.wantDecided(
			"g/minutely 00:01:00 pending schedule",
			"g/minutely 00:02:00 pending schedule",
			"g/minutely 00:03:00 pending schedule",
		)
	})
}

func TestFiresMissedInAnOutageRunOnce(t *testing.T) {
	runAt(t, start.Add(39*time.Minute), 8, func(w *world) {
		w.startNode("a")
		w.put("g/report", cron("0 * * * *"))
		time.Sleep(time.Minute)
		w.stopNode("a")
		time.Sleep(5 * time.Hour)
		w.startNode("a")
		time.Sleep(time.Minute)
		w.wantDecided(
			"g/report 01:00:00 missed schedule x4",
			"g/report 05:00:00 pending misfire",
		)
	})
}

func TestAFixedDelayFiresAfterTheEndOfTheRunBefore(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/poll", job.Schedule{FixedDelay: job.Duration(10 * time.Second)})
		time.Sleep(15 * time.Second)
		w.wantDecided("g/poll 00:00:40 pending schedule")
	})
}
