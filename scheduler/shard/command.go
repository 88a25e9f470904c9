package shard

import (
	"fmt"
	"time"

	"carillon/bus"
	"carillon/job"
)

// Command asks for a run of a job now.
type Command struct {
	bus.TriggerRequest
	body    body
	version int32
}

// Submit takes a request. What becomes of it is in the next batch of Step that has
// room; done is not nil when that is committed already. A request that comes again
// within [AskedFor], to this machine or to a successor, makes no second run. Errors:
// job.ErrNotFound, an *InvalidError, and job.ErrConflict for a run in the place of a
// fire that may make one.
func (m *Machine) Submit(r bus.TriggerRequest) (done *Asked, err error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if asked, ok := m.recent.runs[r.RunID]; ok {
		return &asked, nil
	}
	if m.asked[r.RunID] {
		return nil, nil
	}
	id, ok := m.byName[r.Job]
	if !ok {
		return nil, fmt.Errorf("%w: job %s", job.ErrNotFound, r.Job)
	}
	e := &m.jobs[id]
	last := len(e.plans) - 1
	if e.plans[last].Deleted {
		return nil, fmt.Errorf("%w: job %s", job.ErrNotFound, r.Job)
	}
	if at := r.InsteadOf.UnixMilli(); !r.InsteadOf.IsZero() {
		// Only while the fire is ahead, and called off, is it known that it makes no run too.
		if p := &e.plans[last]; m.decided(e) >= at+p.Offset || p.WhyOff(at) == "" {
			return nil, fmt.Errorf("%w: the fire of job %s at %s is decided already, or is to run", job.ErrConflict, r.Job, r.InsteadOf.UTC().Format(time.RFC3339))
		}
	}
	c := Command{TriggerRequest: r, version: e.plans[last].Version}
	of := e.bodies[last].Value()
	if r.Body != nil {
		c.version = int32(r.Version) //nolint:gosec // it is one of the job's
		if of, err = encodeBody(r.Body); err != nil {
			return nil, err
		}
	}
	if c.body, err = of.with(&r); err != nil {
		return nil, err
	}
	if r.Pieces != nil && !c.body.inPieces {
		return nil, &job.InvalidError{Field: "pieces", Reason: fmt.Sprintf("version %d of the job is not done in pieces", c.version)}
	}
	m.commands = append(m.commands, c)
	m.asked[r.RunID] = true
	return nil, nil
}

// obey makes the runs that were asked for, and leaves word of them for a successor.
func (m *Machine) obey(b *builder) {
	m.forgetAsked(b.now.UnixMilli())
	for len(m.commands) > 0 && b.fits(4) {
		c := m.commands[0]
		m.commands = m.commands[1:]
		r := run{
			id: c.RunID, version: c.version, attempt: 1, cause: c.Cause, fireTime: c.RunID.Time().UnixMilli(),
			parent: c.RetryOf, given: c.Pieces,
		}
		f := admission{status: job.StatusSkipped, reason: "the job was deleted"}
		if id, ok := m.byName[c.Job]; ok {
			f = m.want(b, id, r, c.body)
		}
		r.total = f.total
		b.record.addRun(c.Job, r, f.status, f.reason).By = c.By
		b.asked = append(b.asked, Asked{RunID: c.RunID, Version: int(c.version), Status: f.status, Reason: f.reason})
	}
	m.noteAsked(b)
}
