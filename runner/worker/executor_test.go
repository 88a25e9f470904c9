package worker

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/runner/runnertest"
)

func TestAnExecutorDoesTheRunsOfItsWorkers(t *testing.T) {
	w, err := Start(t.Context(), config(newOperatorLog(), "normal"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	world := runnertest.New(t, executor.Config{Slots: w.Slots()}, w.Register)
	e, log := world.Run(job.Task{Handler: "puppet"}, runnertest.Params(`{"stderr": "a warning\n", "lines": ["Hello", "{\"type\":\"result\",\"id\":\"ID\",\"result\":[1]}"]}`))
	runnertest.WantEnd(t, e, job.StatusSucceeded, -1, "")
	if string(e.Result) != "[1]" || len(log) != len("stderr: a warning\nstdout: Hello\n") {
		t.Errorf("result %s, log\n%s", e.Result, log)
	}
	e, _ = world.Run(job.Task{Handler: "puppet"}, runnertest.Params(`{"lines": ["{\"type\":\"error\",\"id\":\"ID\",\"message\":\"busy\",\"retry_after\":\"90s\"}"]}`))
	if runnertest.WantEnd(t, e, job.StatusFailed, -1, "busy"); e.RetryAfter.Std() != 90*time.Second || e.Final {
		t.Errorf("retry_after %s, final %t", e.RetryAfter, e.Final)
	}
	e, _ = world.Run(job.Task{Handler: "puppet"}, runnertest.Params(`{"cancel": ["{\"type\":\"error\",\"id\":\"ID\",\"message\":\"REASON\"}"]}`), runnertest.Timeout(100*time.Millisecond))
	runnertest.WantEnd(t, e, job.StatusTimedOut, -1, "longer than its timeout")
}
