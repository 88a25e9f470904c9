package webapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// steps adds steps to a document, each as its name, what it follows, and its parameters.
func steps(doc map[string]any, texts ...string) map[string]any {
	delete(doc, "task")
	var list []any
	for _, text := range texts {
		name, rest, _ := strings.Cut(text, " ")
		after, params, _ := strings.Cut(rest, " ")
		s := map[string]any{"step": name, "task": map[string]any{"handler": name}}
		if after != "" {
			s["after"] = strings.Split(after, ",")
		}
		if params != "" {
			s["params"] = params
		}
		list = append(list, s)
	}
	doc["steps"] = list
	return doc
}

// ended returns the updates of a workflow's run whose steps ended so: with a result, or as a status.
func ended(run logstore.Update, s job.Status, ends map[string]string) []logstore.Update {
	all := []logstore.Update{run}
	for _, name := range slices.Sorted(maps.Keys(ends)) {
		step := begun(run.Job, noon)
		step.RunID, step.Cause, step.Parent, step.Step, step.Version = job.StepRunID(run.RunID, name), job.CauseStep, run.RunID, name, run.Version
		end := finished(step, job.StatusSucceeded, 0, noon.Add(time.Minute))
		switch {
		case job.Status(ends[name]) == job.StatusSkipped:
			step.Kind, step.Status = runlog.KindRecorded, job.StatusSkipped
			all = append(all, step)
			continue
		case job.Status(ends[name]).Final():
			end.Status = job.Status(ends[name])
		default:
			end.Result = json.RawMessage(ends[name])
		}
		all = append(all, step, end)
	}
	return append(all, finished(run, s, 0, noon.Add(time.Hour)))
}

func TestARerunOfAStepInPiecesHasItsList(t *testing.T) {
	w := newWorld(t)
	doc := steps(document("billing/flow", "@daily"), "list", "load list", "sum load", "all")
	load, all := doc["steps"].([]any)[1].(map[string]any), doc["steps"].([]any)[3].(map[string]any)
	load["map"], load["params"], all["route"] = map[string]any{"over": "${results.list.files}", "at_once": 5}, map[string]any{}, "broadcast"
	path := "/api/v1/jobs/billing/flow"
	want[PutJobResult](w, http.StatusCreated, "PUT", path, doc)
	asked := retriesOf(w)
	of := begun("billing/flow", noon)
	w.history(ended(of, job.StatusFailed, map[string]string{"list": `{"files":[1,2]}`, "load": "failed", "sum": "skipped", "all": `[]`})...)
	rerun := "/api/v1/runs/" + string(of.RunID) + "/rerun"
	want[RunAccepted](w, http.StatusAccepted, "POST", rerun, `{"steps":"failed"}`)
	if got := (*asked)[0].Taken["list"]; string(got.Result) != `{"files":[1,2]}` {
		t.Errorf("the list is taken over as %+v", got)
	}

	// Other pieces are another step, but not another number of them at once.
	plan := func(expected ...string) {
		t.Helper()
		want[PutJobResult](w, http.StatusOK, "PUT", path, doc)
		a, _ := want[RunAccepted](w, http.StatusAccepted, "POST", rerun, `{"from":["sum"],"version":"latest","dry_run":true,"params":{"x":1}}`)
		var got []string
		for _, s := range a.Steps {
			got = append(got, fmt.Sprintf("%s %s: %s", s.Step, s.Action, reason.Read(string(s.Reason)).Code))
		}
		if !slices.Equal(got, expected) {
			t.Errorf("%q; want %q", got, expected)
		}
	}
	all["at_once"], load["map"] = 2, map[string]any{"over": "${results.list.files}", "at_once": 6}
	plan("list take: step_taken", "load run: step_ended", "sum decide: step_chosen", "all take: step_taken")
	all["route"], load["map"] = "any", map[string]any{"over": "${params.files}"}
	delete(all, "at_once")
	plan("list take: step_taken", "load run: step_changed", "sum decide: step_chosen", "all run: step_changed")
}

func TestARerunOfAWorkflowTakesOverWhatSucceeded(t *testing.T) {
	w := newWorld(t)
	graph := []string{"extract", "clean extract ${results.extract.path}", "load clean ${results.clean}-${results.extract.day}-${params.x}", "tell load"}
	path := "/api/v1/jobs/billing/flow"
	want[PutJobResult](w, http.StatusCreated, "PUT", path, steps(document("billing/flow", "@daily"), graph...))
	asked := retriesOf(w)
	of := begun("billing/flow", noon)
	w.history(ended(of, job.StatusFailed, map[string]string{"extract": `{"path":"/a","day":1}`, "clean": `"c"`, "load": "failed", "tell": "skipped"})...)
	rerun := "/api/v1/runs/" + string(of.RunID) + "/rerun"

	plan := func(body string, expected ...string) {
		t.Helper()
		count := len(*asked)
		a, _ := want[RunAccepted](w, http.StatusAccepted, "POST", rerun, body)
		var got []string
		for _, s := range a.Steps {
			got = append(got, fmt.Sprintf("%s %s: %s", s.Step, s.Action, s.Reason))
		}
		if !slices.Equal(got, expected) {
			t.Errorf("%s becomes\n%s\nwant\n%s", body, strings.Join(got, "\n"), strings.Join(expected, "\n"))
		}
		if a.DryRun != (len(*asked) == count) {
			t.Errorf("%s asks for %d runs, and says dry run: %t", body, len(*asked)-count, a.DryRun)
		}
	}
	id := func(step string) job.RunID { return job.StepRunID(of.RunID, step) }
	taken := func(step string) string { return step + " take: taken over from run " + string(id(step)) }
	plan(`{"dry_run":true}`, "extract run: all steps are repeated", "clean decide: all steps are repeated",
		"load decide: all steps are repeated", "tell decide: all steps are repeated")
	plan(`{"steps":"failed"}`, taken("extract"), taken("clean"), "load run: it ended as failed before", "tell decide: it ended as skipped before")
	got := (*asked)[0].Taken
	if len(got) != 2 || string(got["extract"].Result) != `{"path":"/a","day":1}` || string(got["clean"].Result) != `"c"` || got["clean"].RunID != id("clean") {
		t.Errorf("what is taken over: %+v", got)
	}
	if r := (*asked)[0]; r.Version != 1 || !strings.Contains(string(r.Body), `"workflow"`) {
		t.Errorf("version %d is asked for, as %s", r.Version, r.Body)
	}
	plan(`{"from":["load"],"params":{"x":2},"dry_run":true}`, taken("extract")+"; it read parameters that are changed now", taken("clean"),
		"load run: it is one of the steps from which the run is repeated", "tell decide: it ended as skipped before")
	plan(`{"from":["clean"],"dry_run":true}`, taken("extract"), "clean run: it is one of the steps from which the run is repeated",
		"load decide: it ended as failed before", "tell decide: it ended as skipped before")
	w.problem(400, "invalid", "POST", rerun, `{"from":["lod"]}`, "from[0]")
	w.problem(400, "invalid", "POST", rerun, `{"from":["load"],"steps":"failed"}`, "give one of them")

	// A newer version with another task of clean, and a new step.
	next := steps(document("billing/flow", "@daily"), append(graph, "more tell")...)
	next["steps"].([]any)[1].(map[string]any)["task"] = map[string]any{"handler": "other"}
	want[PutJobResult](w, http.StatusOK, "PUT", path, next)
	plan(`{"steps":"failed","version":"latest","dry_run":true}`, taken("extract"), "clean run: its task has changed since version 1 of the job",
		"load decide: it ended as failed before", "tell decide: it ended as skipped before", "more decide: version 1 of the job has no such step")
	plan(`{"pieces":"failed","version":"same","dry_run":true}`, taken("extract"), taken("clean"), "load run: it ended as failed before",
		"tell decide: it ended as skipped before")

	// A rerun of the rerun takes over from the first run, as long as that is kept.
	again := begun("billing/flow", noon)
	again.RunID, again.Cause, again.Parent = (*asked)[0].RunID, job.CauseRerun, of.RunID
	updates := ended(again, job.StatusFailed, map[string]string{"load": "failed", "tell": "skipped"})
	for _, name := range []string{"extract", "clean"} {
		step := begun("billing/flow", noon)
		step.RunID, step.Cause, step.Parent, step.Step, step.Status = job.StepRunID(again.RunID, name), job.CauseStep, again.RunID, name, job.StatusSucceeded
		from := id(name)
		if name == "clean" {
			from = job.StepRunID(of.RunID, "gone")
		}
		step.Reason = reason.StepTaken.With(from)
		updates = append(updates, step)
	}
	w.history(updates...)
	of = again
	rerun = "/api/v1/runs/" + string(again.RunID) + "/rerun"
	w.problem(409, "conflict", "POST", rerun, `{"steps":"failed","version":"same"}`, "the result of step clean is not kept any more; rerun from that step")
	want[RunAccepted](w, http.StatusAccepted, "POST", rerun, `{"from":["clean"],"version":"same"}`)
	if got := (*asked)[len(*asked)-1].Taken; len(got) != 1 || got["extract"].RunID != job.StepRunID((*asked)[0].RetryOf, "extract") || len(got["extract"].Result) == 0 {
		t.Errorf("a rerun of the rerun takes over %+v", got)
	}
}

func TestARerunOfAWorkflowNeedsSomethingToRepeat(t *testing.T) {
	w := newWorld(t)
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/flow", steps(document("billing/flow", "@daily"), "a", "b a"))
	w.put("billing/x", "@daily")
	good, plain := begun("billing/flow", noon), begun("billing/x", noon)
	w.history(ended(good, job.StatusSucceeded, map[string]string{"a": "1", "b": "2"})...)
	w.history(plain, finished(plain, job.StatusFailed, 0, noon.Add(time.Minute)))
	asked := retriesOf(w)
	path := func(u logstore.Update) string { return "/api/v1/runs/" + string(u.RunID) + "/rerun" }
	w.problem(409, "conflict", "POST", path(good), `{"steps":"failed"}`, "all steps of run "+string(good.RunID)+" succeeded or were skipped")
	w.problem(400, "invalid", "POST", path(plain), `{"steps":"failed"}`, "is for runs of workflows")
	w.problem(400, "invalid", "POST", path(plain), `{"dry_run":true}`, "is for runs of workflows")
	w.problem(400, "invalid", "POST", path(good), `{"from":[]}`, "from must have 1 or more items") // it would repeat all of them
	want[RunAccepted](w, http.StatusAccepted, "POST", path(good), `{}`)
	if r := (*asked)[0]; len(r.Taken) != 0 || r.Body != nil {
		t.Errorf("a plain rerun asks for %+v", r)
	}
}

// The executor tells the end of a step on another stream than the scheduler tells that of the run.
func TestARerunRepeatsNothingWhoseEndIsOnItsWayIntoTheHistory(t *testing.T) {
	w := newWorld(t)
	want[PutJobResult](w, http.StatusCreated, "PUT", "/api/v1/jobs/billing/flow", steps(document("billing/flow", "@daily"), "a", "b a"))
	asked := retriesOf(w)
	of := begun("billing/flow", noon)
	updates := ended(of, job.StatusFailed, map[string]string{"a": `1`, "b": "failed"})
	end := &updates[len(updates)-1]
	end.FinishedAt = time.Now()
	endOfA := slices.IndexFunc(updates, func(u logstore.Update) bool { return u.Step == "a" && u.Kind == runlog.KindFinished })
	w.history(slices.Delete(slices.Clone(updates), endOfA, endOfA+1)...)
	rerun := "/api/v1/runs/" + string(of.RunID) + "/rerun"
	w.problem(503, "unavailable", "POST", rerun, `{"from":["b"]}`, "not in the history yet")
	if len(*asked) != 0 {
		t.Fatalf("it asks for %+v", (*asked)[0])
	}
	w.history(updates[endOfA])
	want[RunAccepted](w, http.StatusAccepted, "POST", rerun, `{"from":["b"]}`)
	if got := (*asked)[0].Taken["a"]; got.RunID != job.StepRunID(of.RunID, "a") {
		t.Errorf("a is taken over as %+v", got)
	}
}
