package orphans_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// owner is asked to end runs, and returns what it was asked.
func (w *world) owner() <-chan bus.CancelRequest {
	w.Helper()
	asked := make(chan bus.CancelRequest, 64)
	_, err := w.conn.NC.Subscribe(bus.SubjectCommand(name.Shard(4), "cancel"), func(m *nats.Msg) {
		var r bus.CancelRequest
		if err := json.Unmarshal(m.Data, &r); err != nil {
			w.Error(err)
		}
		asked <- r
		_ = bus.Respond(m, bus.CancelReply{RunID: r.RunID}, nil)
	})
	w.check(err)
	return asked
}

func (w *world) wantAsked(asked <-chan bus.CancelRequest, want *bus.CancelRequest) {
	w.Helper()
	synctest.Wait()
	select {
	case got := <-asked:
		if want == nil || got != *want {
			w.Errorf("the owner was asked %+v, want %+v", got, want)
		}
	default:
		if want != nil {
			w.Errorf("the owner was asked nothing, want %+v", want)
		}
	}
}

func TestARunIsEndedThatNobodyEndsInTime(t *testing.T) {
	run(t, func(w *world) {
		defer w.ingest()()
		asked := w.owner()
		pending := w.triggerWith(func(t *bus.Trigger) { t.EndBy = t.CommittedAt.Add(5 * time.Minute) })
		w.rounds(6)
		w.wantAsked(asked, nil)
		w.rounds(1)
		w.wantAsked(asked, &bus.CancelRequest{
			RunID: pending.RunID, Job: name, Attempt: 1, Status: job.StatusTimedOut,
			Reason: "the run had to end by 2026-01-05T03:05:00Z, with all its attempts",
		})
	})
	run(t, func(w *world) {
		defer w.ingest()()
		asked := w.owner()
		endless := w.triggerWith(func(t *bus.Trigger) { t.Timeout, t.KillGrace = job.Duration(5*time.Minute), job.Duration(time.Minute) })
		w.rounds(10) // before it begins
		started := bus.EventOf(endless, bus.EventStarted, time.Now())
		started.Instance, started.Delivery, started.StartedAt = "x", 1, started.At.Add(-9*time.Minute) // by a wrong clock
		m, err := w.conn.Events().Message(started)
		w.check(err)
		w.publish(m)
		w.rounds(8)
		w.wantAsked(asked, nil)
		w.rounds(1)
		w.wantAsked(asked, &bus.CancelRequest{
			RunID: endless.RunID, Job: name, Attempt: 1, Status: job.StatusTimedOut,
			Reason: "took longer than its timeout of 5m; its executor did not end it",
		})
	})
}
