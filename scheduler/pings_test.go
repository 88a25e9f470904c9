package scheduler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// watched makes a job one whose runs are done elsewhere.
func watched(grace time.Duration) func(*job.Job) {
	return func(j *job.Job) {
		j.Task = job.Task{Watch: &job.Watch{Grace: job.Duration(grace), From: job.WatchFromNow}}
	}
}

// ping tells that a run of a job has ended.
func (w *world) ping(name job.Name, id int) {
	w.t.Helper()
	p := &bus.Ping{ID: fmt.Sprintf("%016x", id), Job: name, Kind: bus.PingEnd}
	if err := cluster.PingsOf(w.conn).Put(w.t.Context(), p, p.ID); err != nil {
		w.t.Fatal(err)
	}
}

// wantReasons checks what the records say of the runs of job g/backup, oldest first.
func (w *world) wantReasons(want ...string) {
	w.t.Helper()
	var got []string
	w.records(func(_ *journal.Record, d journal.Decided) {
		if d.Job == "g/backup" {
			line := d.FireTime.Format(time.TimeOnly) + " " + string(d.Status)
			if d.Reason != "" {
				line += ": " + d.Reason
			}
			got = append(got, line)
		}
	})
	if !slices.Equal(got, want) {
		w.t.Errorf("recorded:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestAPingTellsOfTheRunOfAFire(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/backup", cron("*/10 * * * *"), watched(time.Minute))
		time.Sleep(10 * time.Minute)
		w.ping("g/backup", 1)
		time.Sleep(10 * time.Minute)
		w.wantReasons(
			"00:10:00 queued: it waits until 2026-01-05T00:11:00Z for a ping",
			"00:10:00 succeeded",
			"00:20:00 queued: it waits until 2026-01-05T00:21:00Z for a ping",
		)
		time.Sleep(2 * time.Minute)
		w.wantReasons(
			"00:10:00 queued: it waits until 2026-01-05T00:11:00Z for a ping",
			"00:10:00 succeeded",
			"00:20:00 queued: it waits until 2026-01-05T00:21:00Z for a ping",
			"00:20:00 missed: no ping came within 1m of it",
		)
		if n := len(w.pending()); n > 0 {
			t.Errorf("%d triggers of runs that are done elsewhere", n)
		}
	})
}

func TestAPingThatIsStoredWhileNoNodeIsThereCounts(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/backup", cron("*/10 * * * *"), watched(time.Minute))
		time.Sleep(10*time.Minute + 5*time.Second)
		w.killNode("a")
		w.ping("g/backup", 1)
		time.Sleep(5 * time.Minute)
		w.startNode("b")
		time.Sleep(time.Minute)
		w.wantReasons(
			"00:10:00 queued: it waits until 2026-01-05T00:11:00Z for a ping",
			"00:10:00 succeeded",
		)
	})
}

func TestAPingRightAfterItsJobWasSavedCounts(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		time.Sleep(3 * time.Minute) // the node's shards need no events
		w.put("g/backup", job.Schedule{}, watched(time.Minute))
		w.ping("g/backup", 1)
		time.Sleep(3 * time.Minute)
		w.wantReasons("00:03:30 succeeded: no fire asked for it")
	})
}

func TestAPingIsReadAtOnceThoughNoRunOfItsShardIsAwaited(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		time.Sleep(3 * time.Minute)
		w.put("g/backup", job.Schedule{}, watched(time.Minute))
		time.Sleep(time.Second)
		w.ping("g/backup", 1)
		time.Sleep(time.Second)
		w.wantReasons("00:03:31 succeeded: no fire asked for it")
	})
}

func TestEachPingIsToldOnceThoughOwnersDie(t *testing.T) {
	run(t, func(w *world) {
		w.put("g/minutely", cron("* * * * *"), watched(30*time.Second))
		pings := 0
		for i := range 20 {
			name := fmt.Sprint("n", i)
			w.startNode(name)
			for range 3 {
				time.Sleep(20 * time.Second)
				w.ping("g/minutely", pings)
				pings++
			}
			w.killNode(name)
			time.Sleep(time.Duration(i) * time.Second)
			w.ping("g/minutely", pings)
			pings++
		}
		w.startNode("last")
		time.Sleep(time.Minute)
		told := map[string]int{}
		w.records(func(_ *journal.Record, d journal.Decided) {
			if d.Ping != nil {
				told[d.Ping.ID]++
			}
		})
		for i := range pings {
			if n := told[fmt.Sprintf("%016x", i)]; n != 1 {
				t.Errorf("%d lines tell of ping %d", n, i)
			}
		}
	})
}
