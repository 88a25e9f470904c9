package shard

import (
	"strings"
	"unique"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// Prepared is a change of a job made ready for any machine: one of its versions, or
// that all of them are gone. It takes about 100 bytes, so a node can keep those of a
// shard that it may have to take over.
type Prepared struct {
	rev  uint64
	name job.Name
	plan job.Plan // without rules when the versions are gone
	body unique.Handle[body]
}

// Prepare makes a version ready, which JOBS has at revision rev. The error is an
// *InvalidError.
func Prepare(planner *job.Planner, v *job.Version, rev uint64) (Prepared, error) {
	plan, err := planner.Plan(v)
	if err != nil {
		return Prepared{}, err
	}
	shared := journal.BodyOf(v)
	if err := checkWorkflow(shared.Workflow); err != nil {
		return Prepared{}, err
	}
	body, err := encodeBody(&shared)
	if err != nil {
		return Prepared{}, err
	}
	if v.Schedule.Zone != "UTC" {
		body.zone = strings.Clone(v.Schedule.Zone)
	}
	// One copy of the name is kept, not the message that it came in.
	return Prepared{rev: rev, name: job.Name(strings.Clone(string(v.Job.Job))), plan: plan, body: unique.Make(body)}, nil
}

// PrepareForget makes ready that the job's versions are gone from JOBS, which that
// says at revision rev.
func PrepareForget(name job.Name, rev uint64) Prepared {
	return Prepared{rev: rev, name: job.Name(strings.Clone(string(name)))}
}

// Name returns the job.
func (p *Prepared) Name() job.Name { return p.name }

// Forgets reports whether the job's versions are gone.
func (p *Prepared) Forgets() bool { return p.plan.Rules == nil }
