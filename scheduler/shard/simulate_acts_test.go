package shard

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// policies gives a random job random reactions.
func (w *world) policies(j *job.Job, was *job.Version) {
	if was != nil && w.chance(80) {
		j.Overlap, j.Retry, j.Children = was.Overlap, was.Retry, was.Children
		j.PauseAfter, j.StartWithin, j.TotalTimeout = was.PauseAfter, was.StartWithin, was.TotalTimeout
		j.Priority = was.Priority
		j.Route, j.Map, j.SucceedsIf, j.AtOnce = was.Route, was.Map, was.SucceedsIf, was.AtOnce
		return
	}
	if was != nil {
		w.lives.edited[j.Job] = true
	}
	if w.chance(40) {
		j.Overlap.Policy = []job.OverlapPolicy{job.OverlapAllow, job.OverlapQueue, job.OverlapSkip, job.OverlapReplace}[w.rng.IntN(4)]
		j.Overlap.Limit = 1 + w.rng.IntN(3)
		if j.Overlap.Policy == job.OverlapQueue {
			j.Overlap.Queue = 1 + w.rng.IntN(5)
			j.Overlap.WhenFull = []job.WhenFull{job.SkipNewest, job.SkipOldest}[w.rng.IntN(2)]
		}
		w.keys(j)
	}
	if w.chance(40) {
		j.Retry = job.Retry{Limit: 1 + w.rng.IntN(3), Jitter: w.rng.IntN(50)}
		j.Retry.Backoff = []job.Backoff{job.BackoffConstant, job.BackoffLinear, job.BackoffExponential}[w.rng.IntN(3)]
		j.Retry.Delay = job.Duration(1 + w.rng.Int64N(int64(10*w.scale.unit)))
		j.Retry.DropStale = w.chance(70)
	}
	for _, child := range slices.Concat(w.names, w.foreign) {
		if (child > j.Job || slices.Contains(w.foreign, child)) && w.chance(20) { // so there are no cycles
			on := []job.When{job.OnSuccess, job.OnFailure, job.OnEnd}[w.rng.IntN(3)]
			j.Children = append(j.Children, job.Child{Job: child, On: on, PassResult: w.chance(50)})
		}
	}
	w.pieces(j)
	j.Priority = job.Priorities[w.rng.IntN(len(job.Priorities))]
	if w.chance(15) {
		j.PauseAfter = 2 + w.rng.IntN(3)
	}
	if w.chance(15) {
		j.StartWithin = job.Duration(w.rng.Int64N(int64(50*w.scale.unit)) + int64(10_000_000))
	}
	if w.chance(10) {
		j.TotalTimeout = job.Duration(w.rng.Int64N(int64(50*w.scale.unit)) + int64(10_000_000))
	}
}

// nameIn returns a name whose jobs are of the simulated shard, or of another.
func nameIn(i int, here bool) job.Name {
	for n := 0; ; n++ {
		name := job.Name("g" + strconv.Itoa(i%2) + "/job-" + strconv.Itoa(i) + strings.Repeat("x", n))
		if (name.Shard(simShards) == simShard) == here {
			return name
		}
	}
}

// begin lets an executor say that it has begun a run.
func (w *world) begin() {
	if len(w.live) > 0 {
		r := w.live[w.rng.IntN(len(w.live))]
		w.tell(bus.EventOf(r.trigger, bus.EventStarted, instant(w.clock)))
	}
}

// doKill ends a run whose end was asked for, wherever it is.
func (w *world) doKill() {
	if len(w.kills) == 0 {
		return
	}
	k := w.kills[0]
	w.kills = w.kills[1:]
	for _, r := range slices.Clone(w.live) {
		if r.trigger.RunID == k.RunID {
			w.finishAs(r, job.StatusCancelled)
		}
	}
}

// letter leaves a letter about a parent's end, as another shard does.
func (w *world) letter() {
	parent := w.foreign[w.rng.IntN(len(w.foreign))]
	for range 1 + w.rng.IntN(3) {
		name := w.names[w.rng.IntN(len(w.names))]
		d := w.letterOf(parent, name)
		w.say("letter about %s for %s", parent, name)
		if p := w.letters.parent(parent); p != nil {
			p.leaveLetter(w, d)
		} else {
			w.trig.deferred[w.trig.last] = d
		}
	}
}

// letterOf returns what a parent's shard leaves for a job.
func (w *world) letterOf(parent, child job.Name) *journal.Deferred {
	w.trig.last++
	return &journal.Deferred{Kind: journal.DeferredChild, Job: child, Parent: &journal.ParentEnd{
		Job: parent, RunID: job.FireRunID(parent, w.clock, job.Cause(strconv.FormatUint(w.trig.last, 10))), Status: job.StatusSucceeded,
		At: instant(w.clock), Depth: 1 + w.rng.IntN(job.MaxChain+3),
	}}
}

// look tells an owner of what others have left, maybe more than it asked for.
func (w *world) look(o *owner) {
	if o.batch != nil {
		return
	}
	from := o.m.LastItem()
	for _, seq := range slices.Sorted(maps.Keys(w.trig.deferred)) {
		if seq > from || w.chance(5) {
			if err := o.m.PutDeferred(w.trig.deferred[seq], seq); err != nil {
				fail("put deferred item: %v", err)
			}
		}
	}
}

// pauseJobs pauses the jobs that an owner wants to be paused, maybe without saying so.
func (w *world) pauseJobs(o *owner) {
	for _, p := range o.m.Failures.Pauses() {
		v := w.newest[p.Job]
		if v != nil && !v.Deleted && v.Version == p.Version && !v.Paused && !w.refuses(p.Job) {
			next := *v
			next.Version, next.Paused, next.PausedUntil, next.EffectiveFrom = v.Version+1, true, nil, instant(max(w.clock, v.EffectiveFrom.UnixMilli()+1))
			if w.punctual {
				w.clock = next.EffectiveFrom.UnixMilli()
			}
			next.Task = job.Task{Shell: "version " + strconv.Itoa(next.Version)}
			w.saveVersion(&next)
			w.say("%s is paused: %s", p.Job, p.Reason)
		}
		if w.chance(80) {
			o.m.Failures.Paused(p)
		}
	}
}

// callOff cancels a run that waits.
func (w *world) callOff() {
	if w.owner == nil || len(w.owner.m.runs.byID) == 0 {
		return
	}
	ids := slices.Sorted(maps.Keys(w.owner.m.runs.byID))
	id := ids[w.rng.IntN(len(ids))]
	if w.owner.m.Cancels.Add(id, "called off", false) {
		w.say("run %s is called off", id)
	}
}
