package shard

import (
	"cmp"
	"slices"
	"unique"

	"github.com/carillon-scheduler/carillon/job"
)

// jobs are the jobs of the shard with the versions that still matter. The other parts of the machine
// refer to a job by its id, which is valid until the job is removed.
type jobs struct {
	list   []entry // by id
	free   []uint32
	byName map[job.Name]uint32
}

// entry is one job.
type entry struct {
	key
	plans    job.History
	bodies   []unique.Handle[body] // of the triggers of each plan
	sweeping bool                  // it waits in the sweep, and has no alarm
	waiting  int32                 // how many of its versions are among the late ones
}

// key orders the jobs of a shard.
type key struct {
	hash uint64
	name job.Name
}

func (k key) compare(other key) int {
	return cmp.Or(cmp.Compare(k.hash, other.hash), cmp.Compare(k.name, other.name))
}

func keyOf(name job.Name) key { return key{hash: name.Hash(), name: name} }

// at returns a job. The pointer is valid until the next add.
func (js *jobs) at(id uint32) *entry { return &js.list[id] }

// rules returns by what a run is judged: its job's newest version, or its step.
func (js *jobs) rules(a *watchedRun) *job.Reactions {
	if a.of != nil {
		return &a.of.steps.def.rules[a.index]
	}
	return &js.at(a.jobID).newest().Reactions
}

// mayRepeat reports whether another attempt of a run in pieces may follow, if its rule for retries says so.
func (js *jobs) mayRepeat(a *watchedRun) bool {
	return !js.at(a.jobID).newest().Deleted && (a.of == nil || a.stops() == "")
}

// passesResult reports whether somebody gets what the run returns.
func (js *jobs) passesResult(a *watchedRun) bool {
	if a.of != nil {
		return a.of.steps.needed(a.index)
	}
	return js.rules(a).PassesResult()
}

// find returns the id of a job, and whether the shard has it.
func (js *jobs) find(name job.Name) (id uint32, ok bool) {
	id, ok = js.byName[name]
	return id, ok
}

// add enters a job, which has no version yet, and returns its id.
func (js *jobs) add(name job.Name) (id uint32) {
	if n := len(js.free); n > 0 {
		id, js.free = js.free[n-1], js.free[:n-1]
	} else {
		id = uint32(len(js.list)) //nolint:gosec // memory ends long before
		js.list = append(js.list, entry{})
	}
	js.list[id] = entry{key: keyOf(name)}
	js.byName[name] = id
	return id
}

// remove removes a job. Its id may be another job's from then on.
func (js *jobs) remove(id uint32) {
	delete(js.byName, js.list[id].name)
	js.list[id] = entry{}
	js.free = append(js.free, id)
}

// newest returns the job's newest version, by which runs are judged.
func (e *entry) newest() *job.Plan { return &e.plans[len(e.plans)-1] }

// newestBody returns what triggers of the job's newest version share.
func (e *entry) newestBody() body { return e.bodies[len(e.bodies)-1].Value() }

// isFixedDelay reports whether the job's newest version is a fixed-delay one.
func (e *entry) isFixedDelay() bool {
	if len(e.plans) == 0 {
		return false
	}
	p := e.newest()
	return p.Kind == job.KindFixedDelay && !p.Deleted
}

// index returns where among the plans a version is, or -1.
func (e *entry) index(version int32) int {
	return slices.IndexFunc(e.plans, func(p job.Plan) bool { return p.Version == version })
}
