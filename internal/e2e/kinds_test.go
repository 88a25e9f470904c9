//go:build unix

package e2e

import (
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
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
	once             bool // none of its runs may happen twice
	// steps are how the steps of its runs end, if it is a workflow.
	steps map[string]client.Status
	// writes are how often steps write at the least; 0 is never. A step that is not there writes once, or never if
	// it is skipped.
	writes map[string]int
	// after returns the jobs whose runs follow its runs, and theirs.
	after func(job.Name) []job.Job
}

const write = `echo "$CARILLON_RUN_ID $CARILLON_DELIVERY" >> "$JOURNAL"`

// plain are half of the jobs, by the last digit of their numbers; the others are of the
// kinds of mixed, workflows and waiting, in turn.
var plain = map[int]kind{
	0:      {name: "plain"},
	1:      {name: "printing", make: func(j *job.Job) { j.Task.Shell += `; echo "I am $CARILLON_RUN_ID"` }},
	2:      {name: "slow", make: func(j *job.Job) { j.Task.Shell += `; sleep 1.5` }},
	3:      {name: "at_most_once", once: true, ends: []client.Status{job.StatusSucceeded, job.StatusLost}, make: atMostOnce},
	edited: {name: "edited"},
	young:  {name: "young"},
}

// replaced is how a run may end that must give way, or wait.
var replaced = []client.Status{job.StatusSucceeded, job.StatusSkipped, job.StatusCancelled}

func atMostOnce(j *job.Job) {
	j.Delivery = job.AtMostOnce
	j.Task.Shell += `; sleep 0.3`
}

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
	{name: "parent", make: func(j *job.Job) { j.Children = childrenOf(j.Job, job.OnEnd, "child") }, after: func(parent job.Name) []job.Job {
		return []job.Job{follower(parent, "child")}
	}},
	{name: "branches", make: func(j *job.Job) { j.Children = childrenOf(j.Job, job.OnSuccess, "left", "right") }, after: branches},
	{name: "start_within", ends: []client.Status{job.StatusSucceeded, job.StatusMissed}, make: func(j *job.Job) {
		j.StartWithin = job.Duration(2 * time.Second)
		j.Task.Shell += `; sleep 0.2`
	}},
	// Long enough that an executor can die in the middle of a piece.
	{name: "broadcast", pieces: 1, make: func(j *job.Job) {
		j.Route = job.RouteBroadcast
		j.Task.Shell += `; sleep 0.3`
	}},
	{name: "map", pieces: 3, make: func(j *job.Job) {
		j.Map = &job.Map{Pieces: 3, AtOnce: 2}
		j.Task.Shell += `; sleep 0.3`
	}},
	{name: "routed_once", once: true, ends: []client.Status{job.StatusSucceeded, job.StatusLost}, make: func(j *job.Job) {
		j.Route = job.RouteRandom
		atMostOnce(j)
	}},
	{name: "consistent_hash", make: func(j *job.Job) { j.Route = job.RouteConsistentHash }},
	{name: "failover", make: func(j *job.Job) { j.Route = job.RouteFailover }},
	{name: "round_robin", make: func(j *job.Job) { j.Route = job.RouteRoundRobin }},
}

// kindOf returns the kind of a job by its number.
func kindOf(i int) kind {
	k, ok := plain[i%10]
	if !ok {
		all := slices.Concat(mixed, workflows, waiting)
		k = all[(i/10*4+i%10-6)%len(all)]
	}
	return k
}

// mayEnd reports whether a run of the kind may have a status in the end.
func (k *kind) mayEnd(s client.Status) bool {
	return slices.Contains(k.ends, s) || len(k.ends) == 0 && s == job.StatusSucceeded
}

// leastOf returns how often a step writes at the least, 0 if it never does.
func (k *kind) leastOf(step string) int {
	if n, ok := k.writes[step]; ok {
		return n
	}
	if k.steps[step] == job.StatusSkipped {
		return 0
	}
	return 1
}

// follower returns the document of a job that runs after others of a family.
func follower(family job.Name, as string) job.Job {
	return job.Job{Job: family + "-" + job.Name(as), Task: job.Task{Shell: write}}
}

func childrenOf(family job.Name, on job.When, as ...string) (children []job.Child) {
	for _, a := range as {
		children = append(children, job.Child{Job: family + "-" + job.Name(a), On: on})
	}
	return children
}

// branches returns two jobs that run after a parent, and one that runs after either.
func branches(parent job.Name) []job.Job {
	left, right := follower(parent, "left"), follower(parent, "right")
	left.Children = childrenOf(parent, job.OnSuccess, "any")
	right.Children = left.Children
	return []job.Job{left, right, follower(parent, "any")}
}
