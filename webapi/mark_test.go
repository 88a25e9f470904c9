package webapi

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

func TestARunThatEndedBadlyIsMarkedBesideItsStatus(t *testing.T) {
	w := newWorld(t)
	failed, alive, fine := begun("billing/x", noon), begun("billing/x", noon.Add(time.Hour)), begun("billing/x", noon.Add(2*time.Hour))
	w.history(failed, finished(failed, job.StatusFailed, 1, noon.Add(time.Minute)), alive, fine, finished(fine, job.StatusSucceeded, 0, noon.Add(3*time.Hour)))
	path := "/api/v1/runs/" + string(failed.RunID)
	mark := func(body string) RunMark {
		t.Helper()
		got, _ := want[RunMark](w, http.StatusOK, "POST", path+"/mark", body, header{"Carillon-User", "ann"})
		if got.By != "ann" || got.At.IsZero() {
			t.Errorf("%s is answered with %+v", body, got)
		}
		w.ingestMarks()
		return got
	}
	shown := func(expected *RunMark) {
		t.Helper()
		run, _ := want[RunDetail](w, http.StatusOK, "GET", path, nil)
		if d := cmp.Diff(expected, run.Mark); d != "" {
			t.Error(d)
		}
		if run.Status != job.StatusFailed || run.Attempts[0].Status != job.StatusFailed {
			t.Errorf("the run is %s now", run.Status)
		}
	}
	shown(nil)
	first := mark(`{"as":"handled","note":"the disk was full; it is not any more"}`)
	shown(&first)
	second := mark(`{"as":"succeeded","note":"sent by hand"}`)
	shown(&second)
	mark(`{"as":"none","note":"no, that was another one"}`)
	shown(nil)

	w.problem(http.StatusConflict, "conflict", "POST", "/api/v1/runs/"+string(alive.RunID)+"/mark", `{"as":"handled","note":"x"}`, "has not ended")
	w.problem(http.StatusConflict, "conflict", "POST", "/api/v1/runs/"+string(fine.RunID)+"/mark", `{"as":"handled","note":"x"}`, "succeeded")
	w.problem(http.StatusBadRequest, "invalid", "POST", path+"/mark", `{"as":"handled","note":" "}`, "note")
	w.problem(http.StatusBadRequest, "invalid", "POST", path+"/mark", `{"as":"lost","note":"x"}`, "as")
}

// ingestMarks writes the marks on the bus into the history, as ingest does.
func (w *world) ingestMarks() {
	w.Helper()
	err := w.conn.Scan(w.Context(), bus.StreamEvt, bus.SubjectMarks("*"), func(s *jet.Stored) bool {
		m, err := bus.DecodeMark(s.Header, s.Data)
		w.check(err)
		w.history(logstore.Update{
			Kind: runlog.KindMarked, RunID: m.RunID, Job: m.Job, Version: m.Version, Attempt: m.Attempt, Cause: m.Cause, At: m.At,
			Status: m.Status, Mark: m.As, Reason: m.Note, By: m.By,
		})
		return true
	})
	w.check(err)
}
