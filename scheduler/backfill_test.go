package scheduler_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// hour returns so many fire times, a minute apart, from an hour before the world began.
func hour(n int) []int64 {
	var fires []int64
	for i := range n {
		fires = append(fires, start.Add(time.Duration(i-60)*time.Minute).UnixMilli())
	}
	return fires
}

// ask asks the owner of the shard of job g/a.
func ask[A any](w *world, verb string, request any) (A, error) {
	w.t.Helper()
	var answer A
	err := w.conn.Ask(w.t.Context(), bus.SubjectCommand(job.Name("g/a").Shard(w.conn.Cluster().Shards), verb), request, &answer, 5*time.Second)
	return answer, err
}

func backfillOf(id string, fires []int64, atOnce int) journal.BackfillRequest {
	return journal.BackfillRequest{ID: id, Job: "g/a", Fires: fires, AtOnce: atOnce, By: "ann"}
}

// filled notes what ran of backfills.
type filled struct {
	mu    sync.Mutex
	fires []time.Time
}

func (f *filled) run(tr *bus.Trigger) (time.Duration, job.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if tr.Cause != job.CauseBackfill {
		return time.Second, job.StatusSucceeded
	}
	f.fires = append(f.fires, tr.FireTime)
	return 2 * time.Second, job.StatusSucceeded
}

func TestABackfillRunsEachFireOnceWhoeverOwnsTheShard(t *testing.T) {
	run(t, func(w *world) {
		f := &filled{}
		w.executeAs(f.run)
		w.startNode("a")
		w.put("g/a", cron("*/10 * * * * ?"), func(j *job.Job) { j.Overlap = job.Overlap{Policy: job.OverlapSkip} })
		time.Sleep(time.Second)
		fires := hour(20)
		for range 2 { // asked again, as if the answer had been lost
			got, err := ask[job.Backfill](w, bus.VerbBackfill, backfillOf("b1", fires, 2))
			if err != nil || got.Total != 20 || got.AtOnce != 2 || got.By != "ann" {
				w.t.Fatal(got, err)
			}
		}
		if _, err := ask[job.Backfill](w, bus.VerbBackfill, backfillOf("b2", fires[15:], 1)); !errors.Is(err, job.ErrConflict) {
			w.t.Error("a backfill of fires that another has yet to run:", err)
		}
		time.Sleep(7 * time.Second)
		w.killNode("a")
		w.startNode("b")
		time.Sleep(20 * time.Second)
		w.stopNode("b")
		w.startNode("c")
		time.Sleep(40 * time.Second)
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.fires) != 20 {
			w.t.Errorf("%d fires ran: %v", len(f.fires), f.fires)
		}
		for i, at := range fires {
			if !slices.ContainsFunc(f.fires, func(ran time.Time) bool { return ran.UnixMilli() == at }) {
				w.t.Errorf("fire %d did not run", i)
			}
		}
		w.records(func(_ *journal.Record, d journal.Decided) {
			switch {
			case d.Job != "g/a":
			case d.Cause == job.CauseBackfill && (d.By != "ann" || d.RunID != job.BackfillRunID("g/a", d.FireTime.UnixMilli(), "b1")):
				w.t.Errorf("%+v", d)
			case d.Cause != job.CauseBackfill && d.Status == job.StatusSkipped:
				w.t.Errorf("a fire was skipped because of the backfill: %+v", d)
			}
		})
		list, err := ask[journal.BackfillList](w, bus.VerbBackfills, journal.BackfillsRequest{Job: "g/a", Fires: true})
		if err != nil || len(list.Backfills) != 1 || list.Backfills[0].EndedAt.IsZero() || list.Backfills[0].Begun != 20 || len(list.Backfills[0].Fires) != 0 {
			w.t.Error(list, err)
		}
	})
}

func TestABackfillThatIsCancelledBeginsNoFurtherRun(t *testing.T) {
	run(t, func(w *world) {
		f := &filled{}
		w.executeAs(f.run)
		w.startNode("a")
		w.put("g/a", job.Schedule{})
		time.Sleep(time.Second)
		if _, err := ask[job.Backfill](w, bus.VerbBackfill, backfillOf("b1", hour(30), 1)); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		got, err := ask[job.Backfill](w, bus.VerbCancelBackfill, journal.BackfillCancel{ID: "b1", Job: "g/a", By: "bob", Reason: "wrong week"})
		if err != nil || !strings.Contains(got.Cancelled, "bob") || !strings.Contains(got.Cancelled, "wrong week") || got.Begun == 0 || got.Begun > 5 {
			w.t.Fatal(got, err)
		}
		if _, err := ask[job.Backfill](w, bus.VerbCancelBackfill, journal.BackfillCancel{ID: "b1", Job: "g/a"}); !errors.Is(err, job.ErrConflict) {
			w.t.Error(err)
		}
		if _, err := ask[job.Backfill](w, bus.VerbCancelBackfill, journal.BackfillCancel{ID: "none", Job: "g/a"}); !errors.Is(err, job.ErrNotFound) {
			w.t.Error(err)
		}
		begun := got.Begun
		time.Sleep(time.Minute)
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.fires) != begun {
			w.t.Errorf("%d runs after the end of a backfill that had begun %d", len(f.fires), begun)
		}
		// What it did not run, another may.
		if got, err := ask[job.Backfill](w, bus.VerbBackfill, backfillOf("b2", hour(30)[begun:], 1000)); err != nil || got.Total != 30-begun {
			w.t.Error(got, err)
		}
	})
}

func TestAWrongBackfillIsRefused(t *testing.T) {
	run(t, func(w *world) {
		w.startNode("a")
		w.put("g/a", job.Schedule{})
		time.Sleep(time.Second)
		for want, r := range map[string]journal.BackfillRequest{
			"id":      backfillOf("No Slug", hour(1), 1),
			"fires":   backfillOf("b", nil, 1),
			"order":   backfillOf("b", []int64{2, 1}, 1),
			"at_once": backfillOf("b", hour(1), 0),
		} {
			if _, err := ask[job.Backfill](w, bus.VerbBackfill, r); !errors.Is(err, job.ErrInvalid) || !strings.Contains(err.Error(), want) {
				w.t.Errorf("%+v: %v", r, err)
			}
		}
	})
}
