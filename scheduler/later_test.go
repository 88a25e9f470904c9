package scheduler_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// later asks for a run of g/a at an instant of the day, in UTC.
func (w *world) later(at time.Time) job.RunID {
	w.t.Helper()
	r := bus.TriggerRequest{RunID: job.NewRunID(time.Now()), Job: "g/a", Cause: job.CauseAPI, Due: at}
	var reply bus.TriggerReply
	for range 2 { // the answer may be lost
		if err := w.conn.Shards().AskOwner(w.t.Context(), "g/a", "trigger", 0, r, &reply, 5*time.Second); err != nil {
			w.t.Fatal(err)
		}
		if id := job.LaterRunID(r.RunID, at.UnixMilli()); reply.RunID != id || reply.Status != job.StatusQueued {
			w.t.Errorf("asked for run %s, answered %+v", id, reply)
		}
	}
	if !reply.Existed {
		w.t.Error("the second request says nothing of the first")
	}
	return reply.RunID
}

func TestARunAtAnInstantIsMadeOnceUnderANewOwner(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{})
		time.Sleep(time.Second)
		day := start.Truncate(24 * time.Hour)
		w.later(day.Add(3 * time.Minute))
		cancelled := w.later(day.Add(6 * time.Minute))
		away := w.later(day.Add(9 * time.Minute))
		time.Sleep(time.Minute)
		w.killNode("a")
		w.startNode("b")
		time.Sleep(3 * time.Minute)
		if reply, err := w.cancel(cancelled); err != nil || reply.Found != job.StatusQueued {
			w.t.Errorf("reply %+v, %v", reply, err)
		}
		w.stopNode("b") // nobody is there when the last one is due
		time.Sleep(6 * time.Minute)
		w.startNode("c")
		time.Sleep(2 * time.Minute)
		w.wantDecided(
			"g/a 00:03:00 queued api", "g/a 00:06:00 queued api", "g/a 00:09:00 queued api",
			"g/a 00:03:00 pending api", "g/a 00:06:00 cancelled api", "g/a 00:09:00 pending api",
		)
		if away.Time() != day.Add(9*time.Minute) {
			w.t.Errorf("run %s is not of its instant", away)
		}
	})
}
