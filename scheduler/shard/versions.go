package shard

import (
	"maps"
	"slices"
	"time"
	"unique"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// versions are those of jobs that the machine hears of: up to which revision of JOBS they are known, and
// those whose fires are still to be decided behind the position, because it heard of them late.
type versions struct {
	jobs     *jobs
	sweep    *sweep
	fires    *fires
	delays   *delays
	requests *Requests
	runs     *runs

	revisions
	late   []lateVersion         // in the order of their revisions
	begins map[versionName]int64 // versions whose fires begin later than they say
}

// revisions say what of JOBS the machine has heard of.
type revisions struct {
	inherited uint64           // up to this one the predecessor has decided on versions; later ones may be late
	heard     uint64           // the greatest heard of
	seen      journal.JobsMark // the greatest heard of from the JOBS that there is
	written   uint64           // up to this one versions are known, as the last cursor has it
	edits     int              // versions heard of since the last cursor
	loading   bool             // no step has been made yet
}

// newVersions returns those of a machine at the position of cursor.
func newVersions(m *Machine, cursor *journal.Cursor) versions {
	seq := cursor.JobsSeq
	vs := versions{
		jobs: &m.jobs, sweep: &m.sweep, fires: &m.fires, delays: &m.delays, requests: m.Requests, runs: &m.runs,
		revisions: revisions{inherited: seq, heard: seq, written: seq, seen: cursor.Jobs, loading: true},
		begins:    map[versionName]int64{},
	}
	for _, b := range cursor.Begins {
		vs.begins[versionName{b.Job, int32(b.Version)}] = b.After.UnixMilli() //nolint:gosec // it was one when it was written
	}
	return vs
}

// save enters in the cursor of a batch what a successor has to know of the versions.
func (vs *versions) save(c *journal.Cursor) {
	vs.edits = 0
	c.JobsSeq, c.Jobs, c.Begins = vs.seal(), vs.seen, vs.listBegins()
}

// beginJobs is [Machine.BeginJobs].
func (r *revisions) beginJobs(made time.Time) (known uint64) {
	if r.seen.Made.Equal(made) {
		known = r.seen.Seq
	}
	r.seen = journal.JobsMark{Made: made}
	return known
}

// hear notes that a revision of JOBS was heard of.
func (r *revisions) hear(rev uint64) {
	r.heard = max(r.heard, rev)
	if !r.seen.Made.IsZero() {
		r.seen.Seq = max(r.seen.Seq, rev)
	}
}

// knows reports whether the fires of a version are decided up to the position.
func (r *revisions) knows(rev uint64) bool { return rev <= r.inherited }

// put enters a version of a job. It returns false if the job has had it, or a later one.
func (vs *versions) put(id uint32, p *Prepared) bool {
	e := vs.jobs.at(id)
	plan := p.plan
	if n := len(e.plans); n > 0 && e.plans[n-1].Version >= plan.Version {
		return false
	}
	if plan.Version > 1 && !vs.loading {
		vs.edits++
	}
	news := lateVersion{id: id, version: plan.Version, rev: p.rev, from: plan.From, delayed: vs.delays.began(id)}
	if !vs.knows(p.rev) {
		news.early = vs.wantedEarly(e, &plan)
	}
	late := vs.begin(id, &plan, p.rev)
	e.plans = append(e.plans, plan)
	e.bodies = append(e.bodies, p.body)
	waits := vs.putDelay(id, &plan, p.rev)
	if late || waits || len(news.early) > 0 {
		vs.late = append(vs.late, news)
		e.waiting++
	}
	vs.trim(e)
	return true
}

// forget drops the versions of a job that is removed.
func (vs *versions) forget(id uint32, name job.Name) {
	vs.late = slices.DeleteFunc(vs.late, func(v lateVersion) bool {
		if v.id == id {
			vs.requests.forget(v.early)
		}
		return v.id == id
	})
	maps.DeleteFunc(vs.begins, func(v versionName, _ int64) bool { return v.job == name })
	delete(vs.fires.moved.at, name)
}

// trim drops versions whose fires are all decided.
func (vs *versions) trim(e *entry) {
	if e.waiting > 0 {
		return // the late ones' are not
	}
	matters := vs.sweep.decided(e)
	if e.elsewhere() { // pings may tell of fires so long ago
		matters -= bus.MaxPingAge.Milliseconds()
	}
	kept := e.plans.Trim(matters)
	if cut := len(e.plans) - len(kept); cut > 0 {
		for i := range e.plans[:cut] {
			delete(vs.begins, versionName{e.name, e.plans[i].Version})
		}
		e.plans = append(job.History(nil), kept...)
		e.bodies = append([]unique.Handle[body](nil), e.bodies[cut:]...)
	}
}
