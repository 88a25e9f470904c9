package job_test

import (
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

func retry(change func(*job.Job)) job.Retry {
	j := job.Job{Job: "g/a", Task: job.Task{Handler: "h"}, Retry: job.Retry{Limit: 3}}
	change(&j)
	return j.WithDefaults().Retry
}

func TestAnotherAttemptFollowsTheEndsThatTheRuleNames(t *testing.T) {
	again := func(want bool, r job.Retry, attempt int, s job.Status, code ...int) {
		t.Helper()
		var exit *int
		if len(code) > 0 {
			exit = &code[0]
		}
		if got := r.Again(attempt, s, exit); got != want {
			t.Errorf("%+v after attempt %d, %s, exit code %v: %v", r, attempt, s, code, got)
		}
	}
	plain := retry(func(*job.Job) {})
	for _, s := range []job.Status{job.StatusFailed, job.StatusTimedOut, job.StatusLost} {
		again(true, plain, 3, s)
		again(false, plain, 4, s)
	}
	for _, s := range []job.Status{job.StatusSucceeded, job.StatusCancelled, job.StatusMissed, job.StatusSkipped} {
		again(false, plain, 1, s)
	}
	again(false, retry(func(j *job.Job) { j.Delivery = job.AtMostOnce }), 1, job.StatusLost)
	again(false, job.Retry{}, 1, job.StatusFailed)
	codes := retry(func(j *job.Job) { j.Retry.ExitCodes = []int{75, 111} })
	again(true, codes, 1, job.StatusFailed, 75)
	again(false, codes, 1, job.StatusFailed, 1)
	again(false, codes, 1, job.StatusFailed)
	again(true, codes, 1, job.StatusTimedOut)
}

func TestTheWaitGrowsAsTheRuleSays(t *testing.T) {
	id := job.NewRunID(time.Unix(1e9, 0))
	waits := func(change func(*job.Retry)) (all []time.Duration) {
		r := retry(func(j *job.Job) { j.Retry.Delay = job.Duration(time.Minute); change(&j.Retry) })
		for attempt := 1; attempt <= 4; attempt++ {
			all = append(all, r.Wait(id, attempt))
		}
		return all
	}
	want := func(got []time.Duration, minutes ...time.Duration) {
		t.Helper()
		for i := range minutes {
			minutes[i] *= time.Minute
		}
		if !slices.Equal(got, minutes) {
			t.Errorf("waits %v, want %v", got, minutes)
		}
	}
	want(waits(func(*job.Retry) {}), 1, 2, 4, 8)
	want(waits(func(r *job.Retry) { r.Backoff = job.BackoffConstant }), 1, 1, 1, 1)
	want(waits(func(r *job.Retry) { r.Backoff = job.BackoffLinear }), 1, 2, 3, 4)
	want(waits(func(r *job.Retry) { r.MaxDelay = job.Duration(3 * time.Minute) }), 1, 2, 3, 3)

	spread := func(r *job.Retry) { r.Backoff, r.Jitter = job.BackoffConstant, 50 }
	jittered := waits(spread)
	if !slices.Equal(jittered, waits(spread)) {
		t.Error("the jitter of one attempt differs from time to time")
	}
	for _, w := range jittered {
		if w < time.Minute || w > 90*time.Second || w%time.Millisecond != 0 {
			t.Errorf("a wait of %v with a jitter of up to 50 percent", w)
		}
	}
	if jittered[0] == jittered[1] && jittered[1] == jittered[2] {
		t.Error("the jitter does not spread")
	}
}

func TestACycleOfChildrenIsFound(t *testing.T) {
	stored := map[job.Name][]job.Name{
		"g/b": {"g/c", "g/d"},
		"g/c": {"g/e"},
		"g/d": {"g/e", "g/b"}, // one that does not touch a
		"g/e": {"g/a"},
	}
	followers := func(name job.Name) []job.Name { return stored[name] }
	a := job.Job{Job: "g/a", Children: []job.Child{{Job: "g/x"}, {Job: "g/b"}}}
	if got, want := a.Cycle(followers), []job.Name{"g/a", "g/b", "g/c", "g/e", "g/a"}; !slices.Equal(got, want) {
		t.Errorf("cycle %v, want %v", got, want)
	}
	caller := job.Job{Job: "g/a", Steps: []job.Step{{Call: "g/b"}}}
	if err := caller.RefuseCycle(followers); err == nil || err.Error() != "steps lead back to the job itself: g/a → g/b → g/c → g/e → g/a" {
		t.Errorf("%v", err)
	}
	stored["g/e"] = nil
	if got := a.Cycle(followers); got != nil {
		t.Errorf("cycle %v where there is none", got)
	}
}
