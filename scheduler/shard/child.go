package shard

import (
	"encoding/json"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// arrival is the end of a parent's run, told to a child.
type arrival struct {
	*bus.ParentEnd
	child  job.Name
	joined []job.RunID // the runs of all parents, of a child that joins several
	word   *bus.Word   // nil: the parent's shard is in the same partition
	item   *item
}

// arrive runs children whose parents have ended, as far as b has room.
func (m *Machine) arrive(b *builder) {
	for len(m.children.arrived) > 0 && b.fits(3) {
		a := m.children.arrived[0]
		m.children.arrived = m.children.arrived[1:]
		if !m.Relay.passes(a) {
			m.items.release(a.item)
			continue
		}
		if id, ok := m.jobs.find(a.child); ok && m.jobs.at(id).newest().Unreadable {
			m.children.kept = append(m.children.kept, a)
		} else {
			m.arriveAt(b, a)
		}
		m.adopt(b, a)
	}
}

func (m *Machine) arriveAt(b *builder, a *arrival) {
	id, ok := m.jobs.find(a.child)
	if !ok || m.jobs.at(id).newest().Deleted {
		if a.Met {
			b.record.addRun(a.child, m.childRun(a, 0), job.StatusSkipped, "there is no such job any more")
		}
		m.items.release(a.item)
		return
	}
	p := m.jobs.at(id).newest()
	if len(p.Join) == 0 {
		if a.Met {
			m.wantChild(b, id, a)
		}
		m.items.release(a.item)
		return
	}
	m.joinParents(b, id, a)
}

// childRun returns the run that a child owes to the end of a parent.
func (m *Machine) childRun(a *arrival, version int32) run {
	at := a.At.UnixMilli()
	return run{
		id: job.ChildRunID(a.child, a.RunID, at), version: version, attempt: 1, cause: job.CauseParent, fireTime: at, parent: a.RunID, depth: a.Depth,
	}
}

// wantChild makes the child's run, unless there is a reason against it.
func (m *Machine) wantChild(b *builder, id uint32, a *arrival) {
	e := m.jobs.at(id)
	p := e.newest()
	r := m.childRun(a, p.Version)
	body := e.newestBody()
	var f admission
	switch why := m.Cluster.whyPaused(e.name.Group(), p, b.now.UnixMilli()); {
	case why != "":
		f = admission{status: job.StatusSkipped, reason: why}
	case a.Depth > job.MaxChain:
		f = admission{status: job.StatusSkipped, reason: reason.ParentsTooDeep.With(a.Depth)}
	default:
		if len(a.Params) > 0 {
			with, err := body.given(&bus.TriggerRequest{Params: a.Params}, r.fireTime)
			if err != nil {
				f = admission{status: job.StatusSkipped, reason: reason.ParentResult.With(err)}
				break
			}
			body = with
		}
		f = m.runs.admit(b, id, r, body)
	}
	r.total, r.joined = f.total, a.joined
	b.record.addRun(e.name, r, f.status, f.reason)
}

// joinParents keeps the end of a parent until each of the child's parents has one, and then
// uses up one of each. The run follows the latest of them.
func (m *Machine) joinParents(b *builder, id uint32, a *arrival) {
	e := m.jobs.at(id)
	books := m.runs.of(id)
	if books.arrivals == nil {
		books.arrivals = map[job.Name][]*arrival{}
	}
	books.arrivals[a.Job] = append(books.arrivals[a.Job], a)
	var together []*arrival
	for _, parent := range e.newest().Join {
		waiting := books.arrivals[parent]
		if len(waiting) == 0 {
			return
		}
		together = append(together, waiting[0])
	}
	last, unmet := together[0], (*arrival)(nil)
	var runs []job.RunID
	for _, t := range together {
		runs = append(runs, t.RunID)
		if books.arrivals[t.Job] = books.arrivals[t.Job][1:]; len(books.arrivals[t.Job]) == 0 {
			delete(books.arrivals, t.Job)
		}
		m.items.release(t.item)
		if t.At.After(last.At) {
			last = t
		}
		if !t.Met {
			unmet = t
		}
	}
	m.runs.wake(id) // the book may be empty now
	if unmet == nil {
		end := *last.ParentEnd
		end.Params = resultsOf(together)
		m.wantChild(b, id, &arrival{ParentEnd: &end, child: last.child, joined: runs, item: last.item})
		return
	}
	r := m.childRun(last, e.newest().Version)
	r.joined = runs
	b.record.addRun(e.name, r, job.StatusSkipped, reason.ParentEnded.With(unmet.Job, unmet.Status, unmet.RunID))
}

// resultsOf returns what a child of several parents gets: the results of those that pass theirs on, by the
// name of the parent.
func resultsOf(parents []*arrival) json.RawMessage {
	results := map[job.Name]json.RawMessage{}
	for _, p := range parents {
		if len(p.Params) > 0 {
			results[p.Job] = p.Params
		}
	}
	if len(results) == 0 {
		return nil
	}
	data, err := json.Marshal(results)
	if err != nil {
		panic("BUG: encode results that were read as JSON: " + err.Error())
	}
	return data
}
