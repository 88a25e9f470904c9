package logstoretest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

func (r run) held(reason string, delivery int, after time.Duration) logstore.Update {
	u := r.update(runlog.KindHeld, after)
	u.Reason, u.Delivery = reason, delivery
	return u
}

// routedRun has a run wait for an instance, twice, and then go to a second choice. Why
// is on its timeline only: its row's reason is what the record says.
func routedRun(t *testing.T, s logstore.Store) {
	held := newRun()
	write(t, s, held.held("no instance is free", 1, time.Second))
	wantRun(t, s, held.row(job.StatusPending))
	never := newRun()
	never.fire = never.fire.Add(time.Hour)
	write(t, s, never.recorded(job.StatusPending), held.held("all are busy", 2, 2*time.Second))
	want := runlog.Change{
		RunID: held.id(), Piece: runlog.Whole, Attempt: 1, Kind: runlog.KindHeld, Status: job.StatusPending,
		At: held.fire.Add(2 * time.Second), Delivery: 2, Detail: "all are busy",
	}
	found, err := s.Held(t.Context(), []job.RunID{never.id(), held.id()})
	if diff := cmp.Diff(map[job.RunID]runlog.Change{held.id(): want}, found); err != nil || diff != "" {
		t.Errorf("held runs (%v) differ (-want +got):\n%s", err, diff)
	}

	inAnyOrder(t, s, func(r run) []logstore.Update {
		record := r.recorded(job.StatusPending)
		record.Reason = "noticed 20s late"
		start := r.started("worker-2", 3, 4*time.Second)
		start.Reason = "worker-1 is busy"
		end := r.finished(job.StatusSucceeded, "worker-2", 9*time.Second)
		end.Delivery, end.StartedAt = 3, start.StartedAt
		died := r.held("worker-0 died", 1, 3*time.Second)
		died.Instance = "worker-0"
		return []logstore.Update{record, r.held("no instance is free", 1, time.Second), r.held("all are busy", 2, 2*time.Second), died, start, end}
	}, func(t *testing.T, r run) {
		t.Helper()
		want := r.row(job.StatusSucceeded)
		want.Reason, want.Instance, want.Delivery = "noticed 20s late", "worker-2", 3
		want.StartedAt, want.FinishedAt = r.fire.Add(4*time.Second), r.fire.Add(9*time.Second)
		wantRun(t, s, want)
		wantTimeline(t, s, r,
			"1: +5ms recorded pending: noticed 20s late",
			"1: +1s held pending: no instance is free",
			"1: +2s held pending: all are busy",
			"1: +3s held pending worker-0/1: worker-0 died",
			"1: +4s started running worker-2/3: worker-1 is busy",
			"1: +9s finished succeeded worker-2/3",
		)
	})
}

// diedRun is lost once its last executor is found dead, in the same instant, and is told to wait after that by
// a server that does not know it yet.
func diedRun(t *testing.T, s logstore.Store) {
	inAnyOrder(t, s, func(r run) []logstore.Update {
		died := r.held("worker-1 died", 3, 3*time.Second)
		died.Instance = "worker-1"
		end := r.finished(job.StatusLost, "worker-1", 3*time.Second)
		end.Delivery = 3
		return []logstore.Update{r.recorded(job.StatusPending), died, end, r.held("no instance is free", 4, 4*time.Second)}
	}, func(t *testing.T, r run) {
		t.Helper()
		wantTimeline(t, s, r,
			"1: +5ms recorded pending",
			"1: +10ms started running worker-1/3",
			"1: +3s held pending worker-1/3: worker-1 died",
			"1: +3s finished lost worker-1/3",
		)
	})
}
