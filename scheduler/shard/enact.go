package shard

import (
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// enactAll adds to b what the verdicts ask for. The caller has found room for a message for
// each run among them, and runs that can do with one leave the others theirs.
func (fs *fires) enactAll(b *builder, id uint32, runs int) {
	b.reserved = runs
	for _, v := range fs.verdicts {
		if v.status == job.StatusPending {
			b.reserved--
		}
		fs.apply(b, id, v)
	}
	b.reserved = 0
}

// apply adds to b what a verdict asks for, and returns the status that comes of it.
func (fs *fires) apply(b *builder, id uint32, v verdict) job.Status {
	e := fs.jobs.at(id)
	version := e.plans[v.plan].Version
	b.noteMisfire(e.plans[v.plan].Misfire.Policy, v)
	if v.status == job.StatusPending {
		f := fs.runs.admit(b, id, attempt{
			runID: job.FireRunID(e.name, v.first.At, v.cause), version: version, number: 1, cause: v.cause, fireTime: v.first.At,
		}, e.bodies[v.plan].Value())
		if f.status == job.StatusPending {
			b.Due = append(b.Due, v.first.Due)
		}
		v.status, v.reason, v.total = f.status, reason.Join(v.reason, f.reason), f.total
	}
	fs.moved.note(e.name, &e.plans[v.plan], v.last.At)
	b.record.add(e.name, version, v)
	return v.status
}
