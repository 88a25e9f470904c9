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

// recentRuns remembers the newest runs made on command, so that a request that
// comes again, because its answer was lost, makes no second run.
type recentRuns struct {
	version map[job.RunID]int
	order   []job.RunID
}

func (r *recentRuns) add(id job.RunID, version int) {
	if r.version == nil {
		r.version = map[job.RunID]int{}
	}
	if len(r.order) >= maxRecent {
		delete(r.version, r.order[0])
		r.order = r.order[1:]
	}
	r.version[id] = version
	r.order = append(r.order, id)
}

// Submit takes a request. The run is in the next batch of Step that has room; done is
// true when it is committed already. A request that comes again to the same machine
// makes no second run, unless ten thousand came in between. A successor does not know
// of it, so who had no answer before the shard changed hands looks whether the run
// exists before asking again. Errors: job.ErrNotFound, an *InvalidError.
func (m *Machine) Submit(r bus.TriggerRequest) (version int, done bool, err error) {
	if _, err := job.ParseRunID(string(r.RunID)); err != nil {
		return 0, false, err
	}
	if r.Cause != job.CauseManual && r.Cause != job.CauseAPI {
		return 0, false, &job.InvalidError{Field: "cause", Reason: fmt.Sprintf("%q must be manual or api", r.Cause)}
	}
	if version, ok := m.recent.version[r.RunID]; ok {
		return version, true, nil
	}
	if version, ok := m.asked[r.RunID]; ok {
		return version, false, nil
	}
	id, ok := m.byName[r.Job]
	if !ok {
		return 0, false, fmt.Errorf("%w: job %s", job.ErrNotFound, r.Job)
	}
	e := &m.jobs[id]
	last := len(e.plans) - 1
	if e.plans[last].Deleted {
		return 0, false, fmt.Errorf("%w: job %s", job.ErrNotFound, r.Job)
	}
	c := Command{TriggerRequest: r, version: e.plans[last].Version}
	if c.body, err = e.bodies[last].Value().with(&r); err != nil {
		return 0, false, err
	}
	m.commands = append(m.commands, c)
	m.asked[r.RunID] = int(c.version)
	return int(c.version), false, nil
}

// obey makes the runs that were asked for.
func (m *Machine) obey(b *builder) {
	for len(m.commands) > 0 && b.fits(1) {
		c := m.commands[0]
		m.commands = m.commands[1:]
		at := c.RunID.Time().UnixMilli()
		b.trigger(c.Job, c.body, run{id: c.RunID, version: c.version, cause: c.Cause, fireTime: at})
		b.record.addAsked(c, at)
		b.runs = append(b.runs, c.RunID)
	}
}
