package webapi

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

func TestARunWithoutStepsSaysWhy(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "0 3 * * *")
	plain, step, old := begun("billing/x", noon), begun("billing/x", noon.Add(time.Minute)), begun("billing/x", noon.Add(time.Hour))
	step.RunID, step.Cause, step.Parent = job.StepRunID(plain.RunID, "load"), job.CauseStep, plain.RunID
	old.Version = 7
	w.history(plain, step, old)
	path := func(id job.RunID) string { return "/api/v1/runs/" + string(id) + "/steps" }
	w.problem(404, "not_found", "GET", path(plain.RunID), nil, "version 1 of job billing/x has no steps")
	w.problem(404, "not_found", "GET", path(step.RunID), nil, "is a step of run "+string(plain.RunID))
	w.problem(404, "not_found", "GET", path(old.RunID), nil, "version 7 of job billing/x is not kept")
	w.problem(404, "not_found", "GET", path(begun("billing/x", noon.Add(2*time.Hour)).RunID), nil, "run")
}

func TestNothingIsDoneToAStepApartFromItsWorkflow(t *testing.T) {
	w := newWorld(t)
	w.put("billing/x", "0 3 * * *")
	whole := begun("billing/x", noon)
	step := whole
	step.RunID, step.Cause, step.Parent, step.Step = job.StepRunID(whole.RunID, "load"), job.CauseStep, whole.RunID, "load"
	w.history(whole, step, finished(step, job.StatusFailed, 0, noon.Add(time.Minute)))
	path, why := "/api/v1/runs/"+string(step.RunID), "is a step of run "+string(whole.RunID)
	w.problem(409, "conflict", "POST", path+"/rerun", map[string]any{}, why)
	w.problem(409, "conflict", "POST", path+"/mark", map[string]any{"as": "handled", "note": "done"}, why)
	detail, _ := want[RunDetail](w, 200, "GET", path, nil)
	if r := detail.Attempts[0]; r.Step != "load" || r.Parent != whole.RunID {
		t.Errorf("the run is %+v; want step load of its workflow's run", r)
	}
	for query, expected := range map[string]int{"": 1, "?cause=step": 1, "?cause=step&parent=" + string(whole.RunID): 1, "?parent=" + string(whole.RunID): 0} {
		if page, _ := want[RunPage](w, 200, "GET", "/api/v1/runs"+query, nil); len(page.Items) != expected {
			t.Errorf("%d runs with %q, want %d", len(page.Items), query, expected)
		}
	}
}

// stepOf returns the record of a step's run, in a round of it.
func stepOf(run logstore.Update, step string, round int, at time.Time) logstore.Update {
	u := run
	u.RunID, u.Cause, u.Parent, u.Step, u.At, u.CommittedAt = job.RoundRunID(run.RunID, step, round), job.CauseStep, run.RunID, step, at, at
	return u
}

func TestStepsShowTheirNewestRoundInWhateverOrderRoundsAreStored(t *testing.T) {
	w := newWorld(t)
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/flow", steps(document("billing/flow", "@daily"), "a", "b a", "c"))
	for fire := range 12 { // ids are hashes: with each fire they are in another order
		run := begun("billing/flow", noon.Add(time.Duration(fire)*time.Hour))
		a := func(round int) logstore.Update {
			return stepOf(run, "a", round, run.At.Add(time.Duration(round)*time.Minute))
		}
		skipped := stepOf(run, "b", 1, run.At)
		skipped.Status = job.StatusSkipped
		updates := []logstore.Update{
			started(run, ""), finished(a(1), job.StatusFailed, 0, run.At.Add(time.Minute)), finished(a(2), job.StatusTimedOut, 0, run.At.Add(2*time.Minute)),
			a(3), started(a(3), "i3"), skipped, stepOf(run, "b", 2, run.At), stepOf(run, "c", 1, run.At),
		}
		w.history(run)
		for _, i := range rand.Perm(len(updates)) {
			w.history(updates[i])
		}
		list, _ := want[RunSteps](w, http.StatusOK, "GET", "/api/v1/runs/"+string(run.RunID)+"/steps", nil)
		var got []string
		for _, s := range list.Steps {
			got = append(got, fmt.Sprintf("%s %s in round %d by %q", s.Step, s.State, s.Round, s.Instance))
			all := append(slices.Clone(s.EarlierRuns), s.RunID)
			for n, id := range all {
				if id != job.RoundRunID(run.RunID, s.Step, n+1) || len(all) != max(s.Round, 1) {
					t.Errorf("step %s in round %d has the runs %v", s.Step, s.Round, all)
				}
			}
			if s.RunID != job.RoundRunID(run.RunID, s.Step, max(s.Round, 1)) {
				t.Errorf("step %s is shown with the run %s, which is not that of round %d", s.Step, s.RunID, s.Round)
			}
		}
		if d := cmp.Diff([]string{`a running in round 3 by "i3"`, `b pending in round 2 by ""`, `c pending in round 0 by ""`}, got); d != "" {
			t.Error(d)
		}
	}
}

func TestStepsSayHowManyOfTheirPiecesHaveEnded(t *testing.T) {
	w := newWorld(t)
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/flow", steps(document("billing/flow", "@daily"), "a", "b", "c"))
	run := begun("billing/flow", noon)
	inPieces := func(step string) logstore.Update {
		u := stepOf(run, step, 1, noon)
		u.Total = 3
		return u
	}
	piece := func(u logstore.Update, index int) logstore.Update {
		u.Piece = runlog.PieceAt(index)
		return u
	}
	a, b := inPieces("a"), inPieces("b")
	w.history(run, started(run, ""), a, piece(started(a, "i1"), 0), piece(finished(started(a, "i1"), job.StatusFailed, 1, noon.Add(time.Second)), 2),
		b, finished(b, job.StatusSucceeded, 0, noon.Add(time.Minute)), stepOf(run, "c", 1, noon))
	list, _ := want[RunSteps](w, http.StatusOK, "GET", "/api/v1/runs/"+string(run.RunID)+"/steps", nil)
	var got []string
	for _, s := range list.Steps {
		got = append(got, fmt.Sprintf("%s %d of %d", s.Step, s.PiecesEnded, s.Pieces))
	}
	if d := cmp.Diff([]string{"a 1 of 3", "b 3 of 3", "c 0 of 0"}, got); d != "" {
		t.Error(d)
	}
	pieces, _ := want[PieceList](w, http.StatusOK, "GET", "/api/v1/runs/"+string(a.RunID)+"/pieces", nil)
	if len(pieces.Items) != 2 || pieces.Total != 3 || pieces.Counts[job.StatusFailed] != 1 {
		t.Errorf("the pieces are %+v", pieces)
	}
}

func TestStepsOfARunThatNeverBeganSayWhy(t *testing.T) {
	w := newWorld(t)
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/flow", steps(document("billing/flow", "@daily"), "a", "b a"))
	run := begun("billing/flow", noon)
	run.Status, run.Reason = job.StatusSkipped, "overlap limit reached"
	w.history(run)
	list, _ := want[RunSteps](w, http.StatusOK, "GET", "/api/v1/runs/"+string(run.RunID)+"/steps", nil)
	for _, s := range list.Steps {
		if s.State != "skipped" || s.Reason != "overlap limit reached" {
			t.Errorf("step %s is %s, %s", s.Step, s.State, s.Reason)
		}
	}
}

func TestStepsThatAreAsTheClientHasThemAreNotSentAgain(t *testing.T) {
	w := newWorld(t)
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/flow", steps(document("billing/flow", "@daily"), "a", "b a"))
	run := begun("billing/flow", noon)
	w.history(run, stepOf(run, "a", 1, noon))
	path := "/api/v1/runs/" + string(run.RunID) + "/steps"
	_, head := want[RunSteps](w, http.StatusOK, "GET", path, nil)
	tag := head.Get("ETag")
	if same := w.send("GET", path, nil, header{"If-None-Match", tag}); tag == "" || same.status != http.StatusNotModified || same.text != "" || same.header.Get("ETag") != tag {
		t.Errorf("with the ETag %q: %d %q", tag, same.status, same.text)
	}
	w.history(started(stepOf(run, "a", 1, noon), "i1"))
	list, head := want[RunSteps](w, http.StatusOK, "GET", path, nil, header{"If-None-Match", tag})
	if list.Steps[0].State != "running" || head.Get("ETag") == tag {
		t.Errorf("after a change, with the ETag %q: %+v", head.Get("ETag"), list.Steps[0])
	}
}

// The page of a run asks for all of its steps every few seconds while it is alive, and takes them packed.
func TestThousandStepsAreOneSmallAnswer(t *testing.T) {
	w := newWorld(t)
	texts := []string{"extract_of_day_0"}
	for i := 1; i < 1000; i++ {
		texts = append(texts, fmt.Sprintf("extract_of_day_%d extract_of_day_%d", i, i-1))
	}
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/flow", steps(document("billing/flow", "@daily"), texts...))
	run := begun("billing/flow", noon)
	updates := []logstore.Update{run}
	for i := range texts {
		s := stepOf(run, fmt.Sprintf("extract_of_day_%d", i), 1, noon.Add(time.Duration(i)*1234*time.Millisecond))
		updates = append(updates, s, started(s, "billing-executor-7d9f-x2x"), finished(started(s, "billing-executor-7d9f-x2x"), job.StatusSucceeded, 1234, s.At.Add(5678*time.Millisecond)))
	}
	w.history(updates...)
	read := func(encoding string) []byte {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/api/v1/runs/"+string(run.RunID)+"/steps", http.NoBody)
		w.check(err)
		r.Header.Set("Accept-Encoding", encoding)
		answer, err := http.DefaultClient.Do(r)
		w.check(err)
		defer func() { _ = answer.Body.Close() }()
		data, err := io.ReadAll(answer.Body)
		w.check(err)
		return data
	}
	plain, packed := read("identity"), read("gzip")
	var list RunSteps
	w.check(json.Unmarshal(plain, &list))
	if len(list.Steps) != 1000 || list.Steps[999].State != "succeeded" {
		t.Errorf("%d steps: %.1000s", len(list.Steps), plain)
	}
	const most, mostPacked = 300 << 10, 100 << 10
	if len(plain) > most || len(packed) > mostPacked {
		t.Errorf("1000 steps are sent in %d bytes, packed %d, want %d and %d at most: %.1000s", len(plain), len(packed), most, mostPacked, plain)
	}
}
