package webapi

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
)

// pendingOwner answers for the owners of all shards that runs are pending, and returns what it was asked.
func pendingOwner(w *world) *[]bus.TriggerRequest {
	asked := &[]bus.TriggerRequest{}
	owner(w, "trigger", func(q bus.TriggerRequest) (bus.TriggerReply, error) {
		*asked = append(*asked, q)
		return bus.TriggerReply{RunID: q.RunID, Version: 1, Status: job.StatusPending}, nil
	})
	return asked
}

func TestARunThatWasJustAcceptedCanBeRead(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	pendingOwner(w)
	accepted, _ := want[RunAccepted](w, http.StatusAccepted, "POST", "/api/v1/jobs/billing/x/run", map[string]any{"cause": "manual"})
	run, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(accepted.RunID), nil)
	if a := run.Attempts; len(a) != 1 || a[0].Status != job.StatusPending || a[0].Job != "billing/x" || a[0].Version != 1 || a[0].Cause != job.CauseManual || a[0].CommittedAt.IsZero() {
		t.Errorf("%+v", run)
	}
	w.problem(404, "not_found", "GET", "/api/v1/runs/"+string(job.NewRunID(time.Now())), nil, "")
}

// lateHistory gets a run only after somebody has asked for it.
type lateHistory struct {
	logstore.Store
	asked func(job.RunID)
}

func (h *lateHistory) Run(ctx context.Context, id job.RunID) ([]runlog.Run, error) {
	attempts, err := h.Store.Run(ctx, id)
	if errors.Is(err, job.ErrNotFound) {
		h.asked(id)
	}
	return attempts, err
}

func TestARunThatAnotherServerAcceptedCanBeRead(t *testing.T) {
	asked := make(chan job.RunID, 100)
	w := newWorld(t, func(_ *Config, w *world) { w.store = &lateHistory{w.store, func(id job.RunID) { asked <- id }} })
	w.put("billing/x", "@daily")
	run := begun("billing/x", time.Now().Truncate(time.Millisecond)) // whoever accepted it, its owner stores the record
	shard := run.Job.Shard(w.conn.Cluster().Shards)
	record := journal.Record{Shard: shard, At: run.At, Outcomes: []journal.Outcome{{Status: run.Status, Cause: run.Cause, FireTime: run.At, Jobs: []string{journal.JobVersion(run.Job, 1)}}}}
	m, err := record.Msg()
	w.check(err)
	stored, err := w.conn.JS.PublishMsg(t.Context(), m)
	w.check(err)
	ingested := make(chan error, 1)
	go func() {
		<-asked
		err := w.store.WriteRuns(t.Context(), "", []logstore.Update{run})
		stream, found := w.conn.JS.Stream(t.Context(), w.conn.TrigOf(shard))
		if err = errors.Join(err, found); err == nil {
			err = stream.DeleteMsg(t.Context(), stored.Sequence)
		}
		ingested <- err
	}()
	detail, _ := want[RunDetail](w, http.StatusOK, "GET", "/api/v1/runs/"+string(run.RunID), nil)
	w.check(<-ingested)
	if detail.Job != "billing/x" || detail.Status != job.StatusPending {
		t.Errorf("%+v", detail)
	}

	_, err = w.conn.JS.PublishMsg(t.Context(), m) // for which nobody comes
	w.check(err)
	w.problem(503, "unavailable", "GET", "/api/v1/runs/"+string(job.NewRunID(time.Now())), nil, "not in the history yet")
}

func TestAnIDThatWasUsedLongAgoMakesNoSecondRun(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	asked := pendingOwner(w)
	const path = "/api/v1/jobs/billing/x/run"
	old := job.NewRunID(time.Now().Add(-6 * time.Minute))
	w.problem(400, "invalid", "POST", path, map[string]any{"run_id": old}, `"field":"run_id"`)
	w.problem(400, "invalid", "POST", path, map[string]any{"run_id": job.NewRunID(time.Now().Add(2 * time.Minute))}, `"field":"run_id"`)
	if len(*asked) != 0 {
		t.Fatalf("the owner was asked for %+v", *asked)
	}
	run := begun("billing/x", old.Time())
	run.RunID = job.WantedRunID("billing/x", old)
	w.history(run, finished(run, job.StatusSucceeded, 0, old.Time().Add(time.Second)))
	again, _ := want[RunAccepted](w, http.StatusOK, "POST", path, map[string]any{"run_id": old})
	if !again.Existed || again.RunID != run.RunID || again.Status != job.StatusSucceeded || len(*asked) != 0 {
		t.Errorf("%+v; the owner was asked for %+v", again, *asked)
	}
}

func TestARerunUnderAKeyIsMadeOnceHoweverLateItComesAgain(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "@daily")
	asked := pendingOwner(w)
	of := begun("billing/x", time.Now().Add(-time.Hour).Truncate(time.Millisecond))
	again := of
	again.RunID, again.Cause, again.Parent = job.RetryRunID(of.RunID, "order 42"), job.CauseRerun, of.RunID
	w.history(of, finished(of, job.StatusFailed, 0, of.At.Add(time.Second)), again, finished(again, job.StatusSucceeded, 0, of.At.Add(time.Minute)))
	accepted, _ := want[RunAccepted](w, http.StatusAccepted, "POST", "/api/v1/runs/"+string(of.RunID)+"/rerun", nil, header{"Idempotency-Key", "order 42"})
	if accepted.RunID != again.RunID || accepted.Status != job.StatusSucceeded || len(*asked) != 0 {
		t.Errorf("%+v; the owner was asked for %+v", accepted, *asked)
	}
}
