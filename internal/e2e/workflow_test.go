//go:build unix

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// workflows are the kinds of jobs whose runs do steps.
var workflows = []kind{
	{
		name: "chain", make: func(j *job.Job) {
			*j = withSteps(j,
				doing("first", write+`; echo '{"n":1}' > "$CARILLON_RESULT_FILE"`),
				given(doing("second", write+`; sleep 0.3; echo "$CARILLON_PARAMS" > "$CARILLON_RESULT_FILE"`, "first"), `{"n":"${results.first.n}"}`),
				given(doing("third", write+`; [ "$CARILLON_PARAMS" = '{"n":1}' ]`, "second"), `{"n":"${results.second.n}"}`),
			)
			j.Result = []byte(`{"n":"${results.second.n}"}`)
		},
		steps: succeeding("first", "second", "third"),
	},
	{
		name: "branches", make: func(j *job.Job) {
			left, right, both := doing("left", write, "check"), doing("right", write, "check"), doing("both", write, "left", "right")
			left.If, right.If = "results.check.n > 0", "results.check.n == 0"
			both.Join.Taken = true
			last := doing("last", write)
			last.Finally = true
			*j = withSteps(j, doing("check", write+`; echo '{"n":1}' > "$CARILLON_RESULT_FILE"`), left, right, both, last)
			j.AtOnce = 1
		},
		steps: map[string]client.Status{
			"check": job.StatusSucceeded, "left": job.StatusSucceeded, "right": job.StatusSkipped, "both": job.StatusSucceeded, "last": job.StatusSucceeded,
		},
	},
	{
		name: "calling", make: func(j *job.Job) {
			call := doing("call", "", "first")
			call.Task, call.Call = job.Task{}, follower(j.Job, "called").Job
			*j = withSteps(j, doing("first", write), call, doing("last", write, "call"))
		},
		after: func(caller job.Name) []job.Job { return []job.Job{follower(caller, "called")} },
		steps: succeeding("first", "call", "last"),
	},
	{
		name: "broken", ends: []client.Status{job.StatusFailed}, make: func(j *job.Job) {
			fails, tell, last := doing("fails", write+`; exit 1`), doing("tell", write, "fails"), doing("last", write)
			tell.After[0].On = workflow.OnFailure
			last.Finally = true
			*j = withSteps(j, fails, tell, doing("never", write, "fails"), last)
		},
		steps: map[string]client.Status{"fails": job.StatusFailed, "tell": job.StatusSucceeded, "never": job.StatusSkipped, "last": job.StatusSucceeded},
	},
	{
		name: "mapped", make: func(j *job.Job) {
			load := doing("load", write+`; sleep 0.3; echo "$CARILLON_ITEM" > "$CARILLON_RESULT_FILE"; [ "$CARILLON_ITEM" != 3 ]`, "list")
			load.Map, load.SucceedsIf = &job.Map{Over: "${results.list.items}", AtOnce: 2}, 60
			*j = withSteps(j,
				doing("list", write+`; echo '{"items":[1,2,3]}' > "$CARILLON_RESULT_FILE"`), load,
				given(doing("sum", write+`; [ "$CARILLON_PARAMS" = '{"parts":[1,2,null]}' ]`, "load"), `{"parts":"${results.load}"}`),
			)
		},
		steps: succeeding("list", "load", "sum"), writes: map[string]int{"load": 3},
	},
	{
		name: "spread", make: func(j *job.Job) {
			everywhere, parts, few := doing("everywhere", write+`; sleep 0.3`), doing("parts", write, "everywhere"), doing("few", write, "everywhere")
			everywhere.Route, everywhere.AtOnce = job.RouteBroadcast, 1
			parts.Map = &job.Map{Pieces: 3}
			few.Map, few.SucceedsIf = &job.Map{Pieces: 3}, 60
			few.Task.Shell += `; [ "$CARILLON_BROADCAST_INDEX" = 0 ]`
			tell := doing("tell", write, "few")
			tell.After[0].On = workflow.OnFailure
			*j = withSteps(j, everywhere, parts, few, doing("last", write, "parts"), tell)
		},
		ends: []client.Status{job.StatusFailed},
		steps: map[string]client.Status{
			"everywhere": job.StatusSucceeded, "parts": job.StatusSucceeded, "few": job.StatusFailed, "last": job.StatusSucceeded, "tell": job.StatusSucceeded,
		},
		writes: map[string]int{"parts": 3, "few": 3},
	},
}

// succeeding returns the ends of steps that all succeed.
func succeeding(steps ...string) map[string]client.Status {
	all := map[string]client.Status{}
	for _, s := range steps {
		all[s] = job.StatusSucceeded
	}
	return all
}

// doing returns a step that runs a script after others.
func doing(name, script string, after ...string) job.Step {
	s := job.Step{Step: workflow.Step{Name: name}, Task: job.Task{Shell: script}}
	for _, source := range after {
		s.After = append(s.After, workflow.Edge{Step: source, On: workflow.OnSuccess})
	}
	return s
}

func given(s job.Step, params string) job.Step {
	s.Params = []byte(params)
	return s
}

// withSteps returns j with steps in the place of its task.
func withSteps(j *job.Job, steps ...job.Step) job.Job {
	of := *j
	of.Task, of.Steps = job.Task{}, steps
	return of
}

// checkSteps lays what the steps of runs wrote beside the graph. Each step that had to run did so, and none
// did that had to be skipped.
func (a *audit) checkSteps(t *testing.T, api *client.API) {
	t.Helper()
	wrong, runs, steps := differences{}, 0, 0
	for i := range a.runs {
		r := &a.runs[i]
		k := a.kind(r.Job)
		if len(k.steps) == 0 || !r.Status.Executed() {
			continue
		}
		runs++
		for name, want := range k.steps {
			steps++
			id := job.StepRunID(r.RunID, name)
			if did, least := len(a.journal[id]), k.leastOf(name); did < least || least == 0 && did > 0 {
				wrong.add("steps that did not do as their graph says", "%s of %s of %s: want %s, journal %v", name, r.RunID, k.name, want, a.journal[id])
			}
		}
		if got := statesOf(t, api, r.RunID); !maps.Equal(got, k.steps) {
			wrong.add("runs whose steps ended as they should not", "%s of %s: %v instead of %v", r.RunID, k.name, got, k.steps)
		}
	}
	a.checkStrays(wrong)
	wrong.report(t)
	t.Logf("runs of workflows %d, their steps %d", runs, steps)
}

// checkStrays wants nothing to have happened that is neither a run nor a step of one.
func (a *audit) checkStrays(wrong differences) {
	known := map[job.RunID]bool{}
	for i := range a.runs {
		r := &a.runs[i]
		known[r.RunID] = true
		for name := range a.kind(r.Job).steps {
			known[job.StepRunID(r.RunID, name)] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(a.journal)) {
		if !known[id] {
			wrong.add("things that happened for no run", "%s", id)
		}
	}
}

// statesOf returns the states of a run's steps once all are final, or as they are when patience ends.
func statesOf(t *testing.T, api *client.API, id job.RunID) map[string]client.Status {
	t.Helper()
	var states map[string]client.Status
	processtest.Await(t, processtest.Patience, "read the steps of "+string(id), func() error {
		list, err := client.Read[client.RunSteps](api.ListSteps(t.Context(), string(id), &client.ListStepsParams{}))
		if err != nil {
			return err
		}
		states = map[string]client.Status{}
		for i := range list.Steps {
			s := &list.Steps[i]
			states[s.Step] = client.Status(s.State)
			if !states[s.Step].Final() {
				return fmt.Errorf("step %s is %s", s.Step, s.State)
			}
		}
		return nil
	})
	return states
}
