package webapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// stepsUntil is where histories of steps are asked for that end an hour after noon.
const stepsUntil = "/api/v1/jobs/billing/flow/steps?to=2026-01-05T13:00:00Z"

// endedStep returns what the history has of a step's round that took so long.
func endedStep(run logstore.Update, step string, round int, status job.Status, took time.Duration) []logstore.Update {
	s := stepOf(run, step, round, run.At.Add(time.Duration(round)*time.Minute))
	begun := started(s, "i1")
	return []logstore.Update{s, finished(begun, status, 0, begun.StartedAt.Add(took))}
}

func TestAStepHistoryHasFiguresAndTheStateOfEachStepInEachRun(t *testing.T) {
	w := newWorld(t)
	path := "/api/v1/jobs/billing/flow"
	_, head := want[PutJobResult](w, http.StatusCreated, "PUT", path, steps(document("billing/flow", "@daily"), "a", "old"))
	want[PutJobResult](w, http.StatusOK, "PUT", path, steps(document("billing/flow", "@daily"), "a", "b a", "c"), header{"If-Match", head.Get("ETag")})
	month := begun("billing/flow", noon.Add(-31*24*time.Hour))
	first, second, third := begun("billing/flow", noon.Add(-2*time.Hour)), begun("billing/flow", noon.Add(-time.Hour)), begun("billing/flow", noon)
	second.Version, third.Version = 2, 2
	skipped := stepOf(second, "b", 1, second.At)
	skipped.Status = job.StatusSkipped
	taken := stepOf(second, "c", 1, second.At) // over from another run: it did not begin
	taken.Status = job.StatusSucceeded
	signalled := stepOf(third, "b", 1, third.At)
	signalled.Status, signalled.Wait = job.StatusQueued, &runlog.Wait{Kind: runlog.WaitSignal, Signal: "paid", Since: third.At}
	w.history(signalled)
	w.history(month, first, started(second, ""), finished(started(second, ""), job.StatusFailed, 0, second.At.Add(time.Hour)), started(third, ""), skipped, taken)
	for _, updates := range [][]logstore.Update{
		endedStep(month, "a", 1, job.StatusLost, time.Second),
		endedStep(first, "a", 1, job.StatusFailed, 5*time.Second), endedStep(first, "a", 2, job.StatusSucceeded, 7*time.Second), endedStep(first, "old", 1, job.StatusSucceeded, time.Second),
		endedStep(second, "a", 1, job.StatusTimedOut, 3*time.Second),
		endedStep(third, "a", 1, job.StatusSucceeded, time.Second),
	} {
		w.history(updates...)
	}
	got, _ := want[StepHistory](w, http.StatusOK, "GET", stepsUntil, nil)
	failure := &StepFailure{RunID: second.RunID, Status: job.StatusTimedOut, At: second.At.Add(64 * time.Second)}
	expected := StepHistory{
		Job: "billing/flow", Version: 2, Counted: 3, Since: first.At,
		Steps: []StepFigures{
			{Step: "a", Runs: 4, Failures: 2, P50Ms: new(int64(3000)), P95Ms: new(int64(7000)), LastFailure: failure},
			{Step: "b"},
			{Step: "c"},
			{Step: "old", Gone: true, Runs: 1, P50Ms: new(int64(1000)), P95Ms: new(int64(1000))},
		},
		Runs: []StepsOfRun{
			{RunID: third.RunID, Version: 2, Status: job.StatusRunning, FireTime: third.At, StartedAt: third.At.Add(time.Second), States: []string{"succeeded", "awaits_signal", "waiting", ""}, DurationsMs: []int64{1000, 0, 0, 0}},
			{RunID: second.RunID, Version: 2, Status: job.StatusFailed, FireTime: second.At, StartedAt: second.At.Add(time.Second), FinishedAt: second.At.Add(time.Hour), States: []string{"timed_out", "skipped", "succeeded", ""}, DurationsMs: []int64{3000, 0, 0, 0}},
			{RunID: first.RunID, Version: 1, Status: job.StatusPending, FireTime: first.At, States: []string{"succeeded", "", "", "succeeded"}, DurationsMs: []int64{7000, 0, 0, 1000}},
			{RunID: month.RunID, Version: 1, Status: job.StatusPending, FireTime: month.At, States: []string{"lost", "", "", ""}, DurationsMs: []int64{1000, 0, 0, 0}},
		},
	}
	if d := cmp.Diff(expected, got); d != "" {
		t.Error(d)
	}

	got, _ = want[StepHistory](w, http.StatusOK, "GET", stepsUntil+"&runs=1&from=2026-01-05T10:30:00Z", nil)
	if a := got.Steps[0]; len(got.Runs) != 1 || got.Counted != 2 || a.Runs != 2 || a.Failures != 1 || !got.Since.Equal(second.At) {
		t.Errorf("of one run, and of two for the figures: %+v", got)
	}
	got, _ = want[StepHistory](w, http.StatusOK, "GET", stepsUntil+"&from=2026-01-05T10:30:00Z", nil)
	if len(got.Runs) != 2 || got.Counted != 2 || got.Cut {
		t.Errorf("of the two runs of a range: %+v", got)
	}
	got, _ = want[StepHistory](w, http.StatusOK, "GET", path+"/steps?to=2020-01-01T00:00:00Z", nil)
	if len(got.Runs) != 0 || len(got.Steps) != 3 || got.Counted != 0 || got.Cut {
		t.Errorf("before the first run: %+v", got)
	}
}

func TestAStepHistoryIsNotSentAgain(t *testing.T) {
	w := newWorld(t)
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/flow", steps(document("billing/flow", "@daily"), "a"))
	run := begun("billing/flow", time.Now().UTC().Truncate(time.Millisecond).Add(-time.Minute))
	w.history(run, stepOf(run, "a", 1, run.At))
	const path = "/api/v1/jobs/billing/flow/steps"
	_, head := want[StepHistory](w, http.StatusOK, "GET", path, nil)
	if same := w.send("GET", path, nil, header{"If-None-Match", head.Get("ETag")}); same.status != http.StatusNotModified || same.text != "" {
		t.Errorf("nothing has changed: %d %q", same.status, same.text)
	}
	w.history(started(stepOf(run, "a", 1, run.At), "i1"))
	changed, _ := want[StepHistory](w, http.StatusOK, "GET", path, nil, header{"If-None-Match", head.Get("ETag")})
	if s := changed.Runs[0].States[0]; s != "running" {
		t.Errorf("the step has begun, and is %s", s)
	}
}

func TestAStepHistoryThatCannotBeIsRefused(t *testing.T) {
	w := newWorld(t)
	w.put("billing/flow", "@daily")
	w.problem(400, "invalid", "GET", stepsUntil+"&runs=31", nil, "runs", "30")
	w.problem(400, "invalid", "GET", stepsUntil+"&runs=0", nil, "runs")
	w.problem(400, "invalid", "GET", stepsUntil+"&from=2026-02-01T00:00:00Z", nil, "to", "must not lie before from")
	w.problem(400, "invalid", "GET", "/api/v1/jobs/billing/flow/steps?to=tomorrow", nil, "to")
	w.problem(404, "not_found", "GET", "/api/v1/jobs/billing/none/steps", nil)
	plain, _ := want[StepHistory](w, http.StatusOK, "GET", stepsUntil, nil)
	if len(plain.Steps) != 0 || len(plain.Runs) != 0 {
		t.Errorf("a job without steps: %+v", plain)
	}
}

func TestAStepHistoryHidesWhatStepsCallInOtherGroups(t *testing.T) {
	g := newGuardedWorld(t)
	ann := g.administrator()
	bob := ann.person("bob", rights.Access{Role: rights.Viewer, Group: "billing"})
	want[PutJobResult](g.world, http.StatusCreated, "PUT", "/api/v1/jobs/billing/flow", steps(document("billing/flow", "@daily"), "a", "mail"), ann.headers()...)
	run := begun("billing/flow", noon)
	called := begun("ops/mail", noon)
	called.Cause, called.Parent, called.Step = job.CauseParent, run.RunID, "mail"
	g.history(run, called, stepOf(run, "a", 1, noon))
	sees := func(state string, headers []header) {
		t.Helper()
		got, _ := want[StepHistory](g.world, http.StatusOK, "GET", stepsUntil, nil, headers...)
		if d := cmp.Diff([]string{"pending", state}, got.Runs[0].States); d != "" {
			t.Error(d)
		}
	}
	sees("pending", ann.headers())
	sees("waiting", bob.headers())
}

// The job page asks for all of its grid at once.
func TestAGridOfManyStepsIsOneSmallAnswer(t *testing.T) {
	w := newWorld(t)
	const days, many = 30, 200
	texts := make([]string, many)
	for i := range texts {
		texts[i] = fmt.Sprintf("extract_of_day_%d", i)
	}
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/flow", steps(document("billing/flow", "@daily"), texts...))
	var updates []logstore.Update
	for day := range days {
		run := begun("billing/flow", noon.Add(-time.Duration(day)*23*time.Hour))
		updates = append(updates, run)
		for i, step := range texts {
			status := job.StatusSucceeded
			if (i+day)%10 == 0 {
				status = job.StatusTimedOut
			}
			updates = append(updates, endedStep(run, step, 1, status, time.Duration(i+1)*1234*time.Millisecond)...)
		}
	}
	w.history(updates...)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+stepsUntil, http.NoBody)
	w.check(err)
	r.Header.Set("Accept-Encoding", "identity")
	answer, err := http.DefaultClient.Do(r)
	w.check(err)
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(answer.Body)
	w.check(err)
	var got StepHistory
	w.check(json.Unmarshal(data, &got))
	if last := got.Runs[days-1]; len(got.Runs) != days || last.States[many-1] != "timed_out" && last.States[many-2] != "succeeded" {
		t.Errorf("%d runs: %.1000s", len(got.Runs), data)
	}
	if most := 200 << 10; len(data) > most {
		t.Errorf("%d runs of %d steps are sent in %d bytes; want %d at most", days, many, len(data), most)
	}
}
