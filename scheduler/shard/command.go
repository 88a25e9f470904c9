package shard

import (
	"fmt"

	"carillon/bus"
	"carillon/job"
)

// maxRecent is how many runs a machine remembers to have made on command.
const maxRecent = 10_000

// Command asks for a run of a job now.
type Command struct {
	bus.TriggerRequest
	body    body
	version int32
}

// Asked is what became of a run that somebody asked for.
type Asked struct {
	RunID   job.RunID
	Version int
	Status  job.Status // pending, queued or skipped
	Reason  string
}

// recentRuns remembers the newest runs made on command, so that a request that
// comes again, because its answer was lost, makes no second run.
type recentRuns struct {
	runs  map[job.RunID]Asked
	order []job.RunID
}

func (r *recentRuns) add(a Asked) {
	if r.runs == nil {
		r.runs = map[job.RunID]Asked{}
	}
	if len(r.order) >= maxRecent {
		delete(r.runs, r.order[0])
		r.order = r.order[1:]
	}
	r.runs[a.RunID] = a
	r.order = append(r.order, a.RunID)
}

// Submit takes a request. What becomes of it is in the next batch of Step that has
// room; done is not nil when that is committed already. A request that comes again to
// the same machine makes no second run, unless ten thousand came in between. A
// successor does not know of it, so who had no answer before the shard changed hands
// looks whether the run exists before asking again. Errors: job.ErrNotFound, an
// *InvalidError.
func (m *Machine) Submit(r bus.TriggerRequest) (done *Asked, err error) {
	if _, err := job.ParseRunID(string(r.RunID)); err != nil {
		return nil, err
	}
	if r.Cause != job.CauseManual && r.Cause != job.CauseAPI {
		return nil, &job.InvalidError{Field: "cause", Reason: fmt.Sprintf("%q must be manual or api", r.Cause)}
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
	c := Command{TriggerRequest: r, version: e.plans[last].Version}
	if c.body, err = e.bodies[last].Value().with(&r); err != nil {
		return nil, err
	}
	m.commands = append(m.commands, c)
	m.asked[r.RunID] = true
	return nil, nil
}

// obey makes the runs that were asked for.
func (m *Machine) obey(b *builder) {
	for len(m.commands) > 0 && b.fits(3) {
		c := m.commands[0]
		m.commands = m.commands[1:]
		r := run{id: c.RunID, version: c.version, attempt: 1, cause: c.Cause, fireTime: c.RunID.Time().UnixMilli()}
		f := admission{status: job.StatusSkipped, reason: "the job was deleted"}
		if id, ok := m.byName[c.Job]; ok {
			f = m.want(b, id, r, c.body)
		}
		r.total = f.total
		b.record.addRun(c.Job, r, f.status, f.reason).By = c.By
		b.asked = append(b.asked, Asked{RunID: c.RunID, Version: int(c.version), Status: f.status, Reason: f.reason})
	}
}
