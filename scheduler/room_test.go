package scheduler_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// flood has a group without executors fire ten jobs each second, with large parameters.
func (w *world) flood() (jobs []job.Name) {
	w.t.Helper()
	params, err := json.Marshal(map[string]string{"p": strings.Repeat("x", 60_000)})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, n := range "abcdefghij" {
		name := job.Name("alpha/" + string(n))
		w.put(name, secondly, func(j *job.Job) { j.Params = params })
		jobs = append(jobs, name)
	}
	return jobs
}

const floodedTrig = 48 << 20

func TestAGroupThatNobodyRunsLosesItsOwnFiresAndNobodyElsesFires(t *testing.T) {
	run(t, func(w *world) {
		w.limit(bus.StreamTrig, floodedTrig)
		w.execute(10 * time.Millisecond)
		w.put("g/a", secondly)
		w.startNode("a")
		w.startNode("b")
		flood := w.flood()
		time.Sleep(time.Minute)
		for _, f := range w.wantEachOnce(second(1), "g/a")["g/a"] {
			if f.Status != job.StatusPending || f.Cause != job.CauseSchedule || f.FireTime.After(second(3)) && f.at.Sub(f.FireTime) > 100*time.Millisecond {
				t.Errorf("fire of the other group at %v: %s (%s), %v late", f.FireTime, f.Status, f.Cause, f.at.Sub(f.FireTime))
			}
		}
		for name, all := range w.wantEachOnce(second(1), flood...) {
			missed, pending := 0, 0
			for _, f := range all {
				switch f.Status { //nolint:exhaustive // others are wrong here
				case job.StatusPending:
					pending++
				case job.StatusMissed:
					if missed++; f.Reason != "too many runs of executor group alpha wait for an executor" {
						t.Errorf("fire at %v is missed: %s", f.FireTime, f.Reason)
					}
				default:
					t.Errorf("fire at %v is %s", f.FireTime, f.Status)
				}
			}
			if pending < 10 || missed < 20 {
				t.Errorf("%s has %d runs and %d missed fires", name, pending, missed)
			}
		}
		if used := w.state(bus.StreamTrig).Bytes; used > floodedTrig/3 {
			t.Errorf("%d of %d bytes are used", used, floodedTrig)
		}
		if _, err := w.trigger(job.NewRunID(time.Now()), "alpha/a"); !errors.Is(err, job.ErrConflict) || !strings.Contains(err.Error(), "too many runs") {
			t.Errorf("run of the full group: %v", err)
		}
		if r, err := w.trigger(job.NewRunID(time.Now()), "g/a"); err != nil || r.Status != job.StatusPending {
			t.Errorf("run of the other group: %+v, %v", r, err)
		}
		full, err := w.conn.Refusals().FullGroups(w.t.Context())
		if err != nil || len(full) != 1 || full[0].Group != "alpha" || full[0].Bytes <= full[0].MaxBytes || !full[0].Until.After(time.Now()) {
			t.Errorf("full groups: %+v, %v", full, err)
		}

		// What leaves the stream frees room, and the group fires again.
		w.scan("trig.*.*.alpha", func(m *jet.Stored) {
			if err := w.conn.Remove(w.t.Context(), bus.StreamTrig, m.Seq); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(5 * time.Second)
		for name, all := range w.wantEachOnce(second(1), flood...) {
			if last := all[len(all)-1]; last.Status != job.StatusPending {
				t.Errorf("%s at %v is %s (%s), and there is room", name, last.FireTime, last.Status, last.Reason)
			}
		}
	})
}

func TestAGroupHasSoManyRunsWaitingAtMost(t *testing.T) {
	run(t, func(w *world) {
		w.groupWaiting = 20
		w.put("alpha/a", secondly)
		w.startNode("a")
		time.Sleep(time.Minute)
		pending := 0
		for _, f := range w.wantEachOnce(second(1), "alpha/a")["alpha/a"] {
			if f.Status == job.StatusPending {
				pending++
			}
		}
		if pending < 20 || pending > 25 {
			t.Errorf("%d runs wait, want 20 and what came between two measurements", pending)
		}
	})
}

func TestOnAFullStreamRunsAreCancelledAndFiresAreLate(t *testing.T) {
	run(t, func(w *world) {
		w.execute(10 * time.Millisecond)
		w.put("g/a", secondly, func(j *job.Job) { j.Misfire = job.Misfire{Policy: job.FireOnce, Grace: job.Duration(time.Second)} })
		w.put("g/held", job.Schedule{}, func(j *job.Job) { j.Overlap = job.Overlap{Policy: job.OverlapQueue, Limit: 1, Queue: 5} })
		params, _ := json.Marshal(strings.Repeat("x", 60_000))
		w.put("alpha/a", job.Schedule{}, func(j *job.Job) { j.Params = params })
		w.startNode("a")
		time.Sleep(5 * time.Second)
		var waiting []job.RunID
		for range 20 {
			id := job.NewRunID(time.Now())
			if _, err := w.trigger(id, "alpha/a"); err != nil {
				t.Fatal(err)
			}
			waiting = append(waiting, id)
		}
		w.limit(bus.StreamTrig, int64(w.state(bus.StreamTrig).Bytes)+20_000)
		time.Sleep(20 * time.Second)
		for name, want := range map[job.Name]string{"g/held": "no room", "alpha/a": "too many runs"} {
			if _, err := w.trigger(job.NewRunID(time.Now()), name); !errors.Is(err, job.ErrConflict) || !strings.Contains(err.Error(), want) {
				t.Errorf("run of %s: %v", name, err)
			}
		}
		for _, id := range waiting {
			var reply bus.CancelReply
			err := w.conn.Ask(w.t.Context(), bus.SubjectCommand(job.Name("alpha/a").Shard(w.conn.Cluster().Shards), "cancel"),
				bus.CancelRequest{RunID: id, Job: "alpha/a", By: "ann"}, &reply, 5*time.Second)
			if err != nil || reply.Found != job.StatusPending {
				t.Fatalf("%+v, %v", reply, err)
			}
		}
		time.Sleep(10 * time.Second)
		late := 0
		for _, f := range w.wantEachOnce(second(1), "g/a")["g/a"] {
			if f.Cause == job.CauseMisfire {
				if late++; !strings.Contains(f.Reason, "NATS had no room for further runs") {
					t.Errorf("fire at %v is late: %s", f.FireTime, f.Reason)
				}
			}
		}
		if late != 1 {
			t.Errorf("%d late runs, want one for all", late)
		}
		if all := w.fires("g/a", time.Second); all[len(all)-1].Status != job.StatusPending {
			t.Errorf("the last fire is %+v", all[len(all)-1])
		}
	})
}
