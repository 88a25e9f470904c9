//go:build unix

package e2e

import (
	"slices"
	"time"

	"carillon/internal/client"
	"carillon/job"
)

// kind is what tells a job of the load from the others: its policies, and how its runs
// may end because of them.
type kind struct {
	name string
	// make changes the plain job's document.
	make func(*job.Job)
	// ends are the final statuses that its runs may have; only succeeded when empty.
	ends []client.Status
	// attempts and pieces are the least that a run which has succeeded has.
	attempts, pieces int
	parent           bool // it has a child
}

const write = `echo "$CARILLON_RUN_ID $CARILLON_DELIVERY" >> "$JOURNAL"`

// plain are half of the jobs, by the last digit of their numbers; the others have the
// policies of mixed, in turn.
var plain = map[int]kind{
	0: {name: "plain"},
	1: {name: "printing", make: func(j *job.Job) { j.Task.Shell += `; echo "I am $CARILLON_RUN_ID"` }},
	2: {name: "slow", make: func(j *job.Job) { j.Task.Shell += `; sleep 1.5` }},
	3: {name: "at_most_once", ends: []client.Status{job.StatusSucceeded, job.StatusLost}, make: func(j *job.Job) {
		j.Delivery = job.AtMostOnce
		j.Task.Shell += `; sleep 0.3`
	}},
	edited: {name: "edited"},
	young:  {name: "young"},
}

// replaced is how a run may end that must give way, or wait.
var replaced = []client.Status{job.StatusSucceeded, job.StatusSkipped, job.StatusCancelled}

var mixed = []kind{
	{name: "queue", ends: replaced, make: func(j *job.Job) {
		j.Overlap = job.Overlap{Policy: job.OverlapQueue, Queue: 20, WhenFull: job.SkipOldest}
		j.Task.Shell += `; sleep 0.5`
	}},
	{name: "skip", ends: replaced, make: func(j *job.Job) {
		j.Overlap = job.Overlap{Policy: job.OverlapSkip}
		j.Task.Shell += `; sleep 1.2`
	}},
	{name: "replace", ends: replaced, make: func(j *job.Job) {
		j.Overlap = job.Overlap{Policy: job.OverlapReplace}
		j.Task.Shell += `; sleep 1.2`
	}},
	{name: "allow", ends: replaced, make: func(j *job.Job) {
		j.Overlap = job.Overlap{Policy: job.OverlapAllow, Limit: 3}
		j.Task.Shell += `; sleep 0.7`
	}},
	{name: "retry", attempts: 2, make: func(j *job.Job) {
		j.Retry = job.Retry{Limit: 5, Backoff: job.BackoffConstant, Delay: job.Duration(time.Second)}
		j.Task.Shell += `; [ "$CARILLON_ATTEMPT" -gt 1 ]`
	}},
	{name: "timeout", ends: []client.Status{job.StatusTimedOut}, make: func(j *job.Job) {
		j.Timeout = job.Duration(time.Second)
		j.Task.Shell += `; sleep 30`
	}},
	{name: "parent", parent: true, make: func(j *job.Job) { j.Children = []job.Child{{Job: childOf(j.Job), On: job.OnEnd}} }},
	{name: "broadcast", make: func(j *job.Job) { j.Route = job.RouteBroadcast }, pieces: 1},
	{name: "map", make: func(j *job.Job) { j.Map = &job.Map{Pieces: 3, AtOnce: 2} }, pieces: 3},
	{name: "consistent_hash", make: func(j *job.Job) { j.Route = job.RouteConsistentHash }},
	{name: "failover", make: func(j *job.Job) { j.Route = job.RouteFailover }},
	{name: "round_robin", make: func(j *job.Job) { j.Route = job.RouteRoundRobin }},
}

// kindOf returns the kind of a job by its number.
func kindOf(i int) kind {
	k, ok := plain[i%10]
	if !ok {
		k = mixed[(i/10*4+i%10-6)%len(mixed)]
	}
	if len(k.ends) == 0 {
		k.ends = []client.Status{job.StatusSucceeded}
	}
	return k
}

// mayEnd reports whether a run of the kind may have a status in the end.
func (k *kind) mayEnd(s client.Status) bool { return slices.Contains(k.ends, s) }

// childOf returns the job that runs after a parent.
func childOf(parent job.Name) job.Name { return parent + "-child" }

// child returns the document of the job that runs after a parent.
func child(parent job.Name) job.Job {
	return job.Job{Job: childOf(parent), Task: job.Task{Shell: write}}
}
