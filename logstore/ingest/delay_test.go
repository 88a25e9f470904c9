package ingest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// wantStatus reports unless the store has a run of f with that status. None is "".
func (w *world) wantStatus(f fire, want job.Status) {
	w.t.Helper()
	var got job.Status
	if runs, err := w.store.Run(w.t.Context(), f.id()); err == nil {
		got = runs[0].Status
	}
	if got != want {
		w.t.Errorf("the run of fire %d is %q in the store, want %q", f.n, got, want)
	}
}

func (w *world) writes(stream string) int {
	n := 0
	for token, times := range w.store.taken() {
		if strings.HasPrefix(token, stream+":") {
			n += times
		}
	}
	return n
}

func TestARunThatEndsSoonIsWrittenOnce(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		time.Sleep(time.Second)
		w.record(fire{report, 0}, fire{report, 1})
		time.Sleep(400 * time.Millisecond)
		w.finish(fire{report, 0}) // after its record was taken
		w.finish(fire{report, 1})
		w.finish(fire{report, 2}) // before its record is
		time.Sleep(settled)
		w.record(fire{report, 2})
		time.Sleep(time.Second)
		w.wantRows(3)
		w.wantUnacknowledged(0, 0, 0)
		if n := w.writes(bus.StreamTrig); n != 0 {
			t.Errorf("records of runs that had ended took %d writes", n)
		}
	})
}

func TestARunThatDoesNotEndIsAnnouncedSoon(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		time.Sleep(time.Second)
		w.record(fire{report, 0})
		time.Sleep(time.Second)
		w.wantStatus(fire{report, 0}, job.StatusPending)

		w.record(fire{report, 1}) // among many that do
		for n := 2; n < 12; n++ {
			w.whole(fire{report, n})
			time.Sleep(100 * time.Millisecond)
		}
		w.wantStatus(fire{report, 1}, job.StatusPending)
	})
}

func TestARecordThatTellsMoreIsNotHeldBack(t *testing.T) {
	run(t, func(w *world) {
		w.start("a")
		time.Sleep(time.Second)
		held, asked := fire{report, 0}, fire{report, 1}
		w.record(held)
		time.Sleep(300 * time.Millisecond)
		w.wantStatus(held, "")
		w.publish((&journal.Record{Shard: 1, Epoch: 1, Commit: "1.2", Node: "a", At: asked.time(), Outcomes: []journal.Outcome{{
			Status: job.StatusPending, Cause: job.CauseManual, FireTime: asked.time(),
			Jobs: []string{journal.JobVersion(report, 3)}, RunIDs: []job.RunID{asked.id()},
		}}}).Msg())
		time.Sleep(150 * time.Millisecond)
		w.wantStatus(asked, job.StatusPending)
		w.wantStatus(held, job.StatusPending)
	})
}
