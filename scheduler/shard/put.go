package shard

import (
	"maps"
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/journal"
)

// PutVersion enters a version of a job, stored at revision rev of JOBS. Versions come in
// the order of their revisions; repeats are passed over. The error is
// an *InvalidError, and leaves the job as it was.
func (m *Machine) PutVersion(v *job.Version, rev uint64) error {
	p, err := Prepare(m.cfg.Planner, v, rev)
	if err != nil {
		m.versions.hear(rev)
		return err
	}
	m.Put(&p)
	return nil
}

// Put enters a change that was prepared before; see [Prepare].
func (m *Machine) Put(p *Prepared) {
	if p.Forgets() {
		m.Forget(p.name, p.rev)
		return
	}
	m.versions.hear(p.rev)
	id, known := m.jobs.find(p.name)
	if !known {
		id = m.jobs.add(p.name)
	}
	if !m.versions.put(id, p) {
		return
	}
	m.watches.put(id)
	m.waiting.heed(id)
	m.sweep.arm(id)
	m.runs.heed(id)
	m.Backfills.wake(id)
}

// Forget removes a job whose versions housekeeping has removed, which JOBS says at
// revision rev.
func (m *Machine) Forget(name job.Name, rev uint64) {
	m.versions.hear(rev)
	id, ok := m.jobs.find(name)
	if !ok {
		return
	}
	m.sweep.forget(id)
	m.versions.forget(id, name)
	m.delays.drop(id)
	m.children.forget(id)
	m.runs.forget(id)
	m.watches.forget(id)
	m.Failures.forget(id)
	m.Backfills.forget(id)
	m.waiting.doom(name)
	m.jobs.remove(id)
}

// PutDeferred enters a deferred item that was found on the stream at seq. All of them come
// before the first Step, after the jobs and in the order of their sequences. Later the owner enters those
// behind [Machine.LastItem], again in order: other shards write ends of parents there. It does so while no
// batch is under way, because only then the machine knows which ones are its own. The error is about an
// item that no machine wrote.
//
// An item that nobody needs any more is released: where a fixed-delay job has
// several, because the owner died before it could release the earlier ones, the last
// one holds.
func (m *Machine) PutDeferred(d *journal.Deferred, seq uint64) error {
	if m.cursor.flight != nil {
		m.cfg.bug("told of a deferred item while a batch is under way")
	}
	if seq <= m.items.last {
		return nil
	}
	m.items.last = seq
	ours := !m.versions.loading && d.Kind != journal.DeferredChild
	for known := range m.items.left {
		ours = ours || known == seq
		if known <= seq {
			delete(m.items.left, known)
		}
	}
	if ours || slices.Contains(m.items.released, seq) {
		return nil
	}
	switch d.Kind { //nolint:exhaustive // the others are about a job of the shard
	case journal.DeferredChild:
		m.children.restore(d, &item{seq: seq})
		return nil
	case journal.DeferredLetter:
		m.Relay.keep(d, &item{seq: seq})
		return nil
	case journal.DeferredAsked:
		m.Requests.restore(d, seq)
		return nil
	case journal.DeferredWaiting:
		m.waiting.restore(d, seq)
		return nil
	}
	id, ok := m.jobs.find(d.Job)
	if !ok {
		if !m.children.restoreForgotten(d, seq) {
			m.items.due = append(m.items.due, seq)
		}
		return nil
	}
	switch d.Kind {
	case journal.DeferredEnd:
		m.delays.restore(id, &delay{item: &item{seq: seq}, run: d.RunID})
	case journal.DeferredDelay:
		m.delays.restore(id, &delay{item: &item{seq: seq}, since: d.Since.UnixMilli()})
	case journal.DeferredAlive, journal.DeferredQueued, journal.DeferredRetry, journal.DeferredPieces, journal.DeferredWorkflow, journal.DeferredExpected:
		return m.runs.restore(id, d, seq)
	case journal.DeferredHeard, journal.DeferredEarly:
		m.watches.restore(id, d, seq)
	case journal.DeferredSteps, journal.DeferredResult:
		m.steps.restore(d, seq)
	case journal.DeferredFailures, journal.DeferredPause:
		m.Failures.restore(id, d, seq)
	case journal.DeferredSucceeded:
		m.runs.restoreSuccess(id, d.RunID, seq)
	case journal.DeferredBackfill, journal.DeferredBackfilled:
		m.Backfills.restore(id, d, seq)
	case journal.DeferredChild, journal.DeferredLetter, journal.DeferredAsked, journal.DeferredWaiting: // above
	}
	return nil
}

// PassItem notes that the item at seq is of no concern to this machine: it stays on the stream, for a
// program that can read it. It returns false for one that has come before.
func (m *Machine) PassItem(seq uint64) bool {
	if seq <= m.items.last {
		return false
	}
	m.items.last = seq
	return true
}

// LastItem returns the sequence of the last deferred item that the machine knows of.
func (m *Machine) LastItem() uint64 { return m.items.last }

// NeedsEvents reports whether the machine has to hear of the ends of runs.
func (m *Machine) NeedsEvents() bool {
	return len(m.delays.byJob)+len(m.runs.byJob)+len(m.Cancels.condemned)+len(m.watches.byJob) > 0
}

// Event enters an event of this shard. at is when JetStream stored it, in Unix
// milliseconds, the same for every reader. Events come in order; repeats and second ends of
// an attempt are passed over.
func (m *Machine) Event(e *bus.Event, seq uint64, at int64) {
	if m.Events.pass(seq) {
		m.hear(e, seq, at)
	}
}

// Ping enters a ping of this shard, as Event enters an event.
func (m *Machine) Ping(p *bus.Ping, seq uint64, at int64) {
	if m.Events.pass(seq) {
		m.Events.ends = append(m.Events.ends, &end{seq: seq, job: p.Job, ping: &ping{Ping: p, at: at - p.Age.Milliseconds()}})
	}
}

// Ends is [Machine.Event] for those ends in a pack that are of this shard.
func (m *Machine) Ends(all []*bus.Event, seq uint64, at int64) {
	if m.Events.pass(seq) {
		for _, e := range all {
			m.hear(e, seq, at)
		}
	}
}

func (m *Machine) hear(e *bus.Event, seq uint64, at int64) {
	id, ok := m.jobs.find(e.Job)
	if !ok || m.delays.byJob[id] == nil && m.runs.byJob[id] == nil && len(m.Cancels.condemned) == 0 {
		return
	}
	switch e.Kind {
	case bus.EventHeld: // nobody has it
		return
	case bus.EventStarted, bus.EventProgress:
		// A successor must know that it has begun, too, so that goes on the stream.
		if a := m.runs.byID[e.RunID]; a != nil && a.mayExpire() {
			m.Events.ends = append(m.Events.ends, &end{seq: seq, run: e.RunID, job: e.Job, attempt: e.Attempt, piece: e.Piece, begun: true})
		}
		return
	case bus.EventFinished:
	}
	m.Events.ends = append(m.Events.ends, &end{
		seq: seq, at: at, run: e.RunID, job: e.Job, attempt: e.Attempt, status: e.Status, exitCode: e.ExitCode, result: e.Result, retry: e.Retry,
		final: e.Final, after: e.RetryAfter.Std(), piece: e.Piece, cut: resultCut(e),
	})
}

// PutInstances enters which instances of a group are online, in the order of their
// names. The list must not be changed from then on; several machines may share it.
func (m *Machine) PutInstances(group string, online []*fleet.Instance) {
	m.Cluster.instances[group] = online
	for _, id := range slices.Sorted(maps.Keys(m.runs.byJob)) {
		if m.jobs.at(id).name.Group() == group && slices.ContainsFunc(m.runs.byJob[id].active, (*watchedRun).waitsForInstances) {
			m.runs.wake(id)
		}
	}
}
