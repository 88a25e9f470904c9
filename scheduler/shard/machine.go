package shard

import (
	"fmt"
	"maps"
	"slices"
	"time"
	"unique"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/scheduler/ring"
)

// IdleAfter is how far time may run ahead of the stored cursor when nothing is due,
// in milliseconds. It bounds what a successor has to look through.
const IdleAfter = 30_000

// maxEdits is how many edits a machine hears of until it says so in a cursor, so that the bucket,
// which keeps [bus.JobHistory] versions of a job, may forget those before.
const maxEdits = bus.JobHistory / 2

// Config is what a machine is told about itself.
type Config struct {
	Shard  int
	Shards int // how many the cluster has
	// Partitions is how many those are in. Zero counts as 1.
	Partitions bus.Partitions
	Epoch      uint64 // of the lease under which it runs
	Node       string
	// Planner is shared by all machines of a process, as are the schedules.
	Planner *job.Planner
	// Tokens makes the token of each trigger.
	Tokens *bus.Tokens
	// Traced has each trigger say which trace its run belongs to.
	Traced bool
}

// Machine decides for one shard. It is not safe for concurrent use.
type Machine struct {
	cfg Config

	// The position. All is decided up to done, and, while a sweep is on, for jobs
	// up to after also up to sweepTo.
	done      int64
	sweepTo   int64 // 0: no sweep is on
	after     key
	sweep     []uint32     // ids that are still to be decided in the sweep, in order
	resumed   bool         // the sweep is a predecessor's, and sweep has not been filled
	jobsSeq   uint64       // versions of later revisions may have been heard of late
	heard     uint64       // greatest revision of JOBS heard of
	mark      bus.JobsMark // greatest revision heard of from the JOBS that there is
	edits     int          // versions heard of since the last cursor
	knownSeq  uint64       // revision up to which versions are known, as the last cursor has it
	loading   bool         // no step has been made yet
	cursorSeq uint64       // of the cursor that this machine wrote or read; 0: there is none
	stored    int64        // done, as the stored cursor has it
	stepped   int64        // when the last step was
	commits   int          // batches made, to name the next

	jobs jobs
	ring *ring.Ring

	late  lateVersions
	items items

	Cluster   *Cluster
	fires     fires
	delays    delays
	runs      runs
	pieces    pieces
	children  children
	Relay     *Relay
	Events    *Events
	Failures  *Failures
	Cancels   *Cancels
	Requests  *Requests
	Backfills *Backfills

	flight  *flight // what the batch under way will have done
	scratch scratch
}

// New returns a machine at the position of cursor, which is stored at cursorSeq. A
// shard without one is given a cursor at which to begin, and sequence 0.
func New(cfg Config, cursor *bus.Cursor, cursorSeq uint64) *Machine {
	m := &Machine{
		cfg:       cfg,
		done:      cursor.Done.UnixMilli(),
		stored:    cursor.Done.UnixMilli(),
		mark:      cursor.Jobs,
		cursorSeq: cursorSeq,
		loading:   true,
		jobs:      jobs{byName: map[job.Name]uint32{}},
		ring:      ring.New(cursor.Done.UnixMilli()),
		late:      lateVersions{unread: map[uint64]*unread{}, partly: map[versionName]int64{}, begins: map[versionName]int64{}},
		items:     items{left: map[uint64]bool{}, released: cursor.Released},
	}
	if s := cursor.Sweep; s != nil {
		m.sweepTo, m.after, m.resumed = s.To.UnixMilli(), keyOf(s.After), true
	}
	m.jobsSeq, m.heard, m.knownSeq = cursor.JobsSeq, cursor.JobsSeq, cursor.JobsSeq
	m.furnish(cursor)
	for _, b := range cursor.Begins {
		m.late.begins[versionName{b.Job, int32(b.Version)}] = b.After.UnixMilli() //nolint:gosec // it was one when it was written
	}
	m.fires.moved.restore(cursor.Moved)
	for _, rev := range cursor.Unread {
		m.late.unread[rev] = &unread{}
	}
	for _, l := range cursor.Late {
		m.late.partly[versionName{l.Job, int32(l.Version)}] = l.Done.UnixMilli() //nolint:gosec // it was one when it was written
	}
	return m
}

// furnish makes the parts of a machine at the position of cursor. A part refers only to those above it.
func (m *Machine) furnish(cursor *bus.Cursor) {
	cfg, jobs, items := &m.cfg, &m.jobs, &m.items
	m.Cluster = newCluster()
	m.pieces = pieces{cfg: cfg, jobs: jobs, cluster: m.Cluster}
	m.runs = runs{
		cfg: cfg, jobs: jobs, items: items, cluster: m.Cluster, pieces: &m.pieces,
		byJob: map[uint32]*runsOf{}, alive: map[job.RunID]*alive{},
		arm: m.arm, ended: m.runEnded, await: m.hasUnread,
	}
	m.fires = fires{jobs: jobs, cluster: m.Cluster, runs: &m.runs, moved: movedFires{at: map[job.Name]int64{}}}
	m.delays = delays{cfg: cfg, jobs: jobs, items: items, cluster: m.Cluster, fires: &m.fires, arm: m.arm, byJob: map[uint32]*delay{}}
	m.Relay = newRelay(cfg, items, cursor)
	m.children = children{
		cfg: cfg, jobs: jobs, items: items, cluster: m.Cluster, relay: m.Relay, runs: &m.runs, joins: map[uint32]map[job.Name][]*arrival{},
	}
	m.Failures = &Failures{cfg: cfg, items: items, byJob: map[uint32]*failureCount{}}
	m.Events = &Events{seq: cursor.EventSeq, made: cursor.EventsMade}
	m.Cancels = &Cancels{jobs: jobs, items: items, events: m.Events, runs: &m.runs}
	m.Requests = &Requests{cfg: cfg, jobs: jobs, items: items, cluster: m.Cluster, runs: &m.runs, asked: map[job.RunID]bool{}}
	m.Backfills = &Backfills{cfg: cfg, jobs: jobs, items: items, cluster: m.Cluster, runs: &m.runs, byJob: map[uint32][]*backfill{}}
}

// Shard returns the number of the machine's shard.
func (m *Machine) Shard() int { return m.cfg.Shard }

// CursorSeq returns the sequence of the cursor that the machine believes to be stored.
func (m *Machine) CursorSeq() uint64 { return m.cursorSeq }

// Heard returns the greatest revision of JOBS of which the machine has heard.
func (m *Machine) Heard() uint64 { return m.heard }

// Jobs returns how many jobs the shard has.
func (m *Machine) Jobs() int { return len(m.jobs.byName) }

// BeginJobs tells which JOBS there is, before any of its versions: when it was made. It returns the
// greatest revision of this one that the owner before had heard of, or 0 if that is not known.
func (m *Machine) BeginJobs(made time.Time) (known uint64) {
	if m.mark.Made.Equal(made) {
		known = m.mark.Seq
	}
	m.mark = bus.JobsMark{Made: made}
	return known
}

// hear notes that a revision of JOBS was heard of.
func (m *Machine) hear(rev uint64) {
	m.heard = max(m.heard, rev)
	if !m.mark.Made.IsZero() {
		m.mark.Seq = max(m.mark.Seq, rev)
	}
}

// PutVersion tells of a job's version, which JOBS has at revision rev. Versions come in
// the order of their revisions; one that is known already is passed over. The error is
// an *InvalidError, and leaves the job as it was.
func (m *Machine) PutVersion(v *job.Version, rev uint64) error {
	p, err := Prepare(m.cfg.Planner, v, rev)
	if err != nil {
		m.hear(rev)
		return err
	}
	m.Put(&p)
	return nil
}

// Put tells of a change, as PutVersion and Forget do.
func (m *Machine) Put(p *Prepared) {
	if p.Forgets() {
		m.Forget(p.name, p.rev)
		return
	}
	m.hear(p.rev)
	id, known := m.jobs.find(p.name)
	if !known {
		id = m.jobs.add(p.name)
	}
	e := m.jobs.at(id)
	plan := p.plan
	if n := len(e.plans); n > 0 && e.plans[n-1].Version >= plan.Version {
		return
	}
	if plan.Version > 1 && !m.loading {
		m.edits++
	}
	if m.noteUnread(e, p); plan.Unreadable {
		m.putUnreadable(id, p)
		return
	}
	news := lateVersion{id: id, version: plan.Version, rev: p.rev, said: plan.From}
	if u := m.late.unread[p.rev]; u == nil || u.fresh { // else the fixed delay has stopped where this version begins
		news.delayed = m.delays.began(id)
	}
	if m.knows(p.rev) {
		m.forgetMade(id, &plan)
	} else {
		news.early = m.wantedEarly(e, &plan)
	}
	late := m.begin(id, &plan, p.rev)
	e.plans = append(e.plans, plan)
	e.bodies = append(e.bodies, p.body)
	waits := m.putDelay(id, &plan, p.rev)
	if late || waits || len(news.early) > 0 {
		news.done = m.late.partly[versionName{e.name, plan.Version}]
		delete(m.late.partly, versionName{e.name, plan.Version})
		m.late.versions = append(m.late.versions, news)
		e.waiting++
	} else {
		delete(m.late.unread, p.rev) // it has nothing to decide behind the position
	}
	m.trim(e)
	m.arm(id)
	m.runs.wake(id)
	m.letGo(id)
}

// Forget removes a job whose versions housekeeping has removed, which JOBS says at
// revision rev.
func (m *Machine) Forget(name job.Name, rev uint64) {
	m.hear(rev)
	id, ok := m.jobs.find(name)
	if !ok {
		return
	}
	if m.jobs.at(id).sweeping {
		m.sweep = slices.DeleteFunc(m.sweep, func(other uint32) bool { return other == id })
	}
	m.late.versions = slices.DeleteFunc(m.late.versions, func(v lateVersion) bool {
		if v.id == id {
			m.Requests.forget(v.early)
		}
		return v.id == id
	})
	maps.DeleteFunc(m.late.begins, func(v versionName, _ int64) bool { return v.job == name })
	maps.DeleteFunc(m.late.unread, func(_ uint64, u *unread) bool { return u.job == name })
	delete(m.fires.moved.at, name)
	m.letGo(id)
	m.ring.Cancel(id)
	m.delays.drop(id)
	m.runs.forget(id)
	m.children.forget(id)
	m.Failures.forget(id)
	m.Backfills.forget(id)
	m.jobs.remove(id)
}

// trim drops versions whose fires are all decided.
func (m *Machine) trim(e *entry) {
	if e.waiting > 0 {
		return // the late ones' are not
	}
	kept := e.plans.Trim(m.decided(e))
	if cut := len(e.plans) - len(kept); cut > 0 {
		for i := range e.plans[:cut] {
			m.forgetBegin(versionName{e.name, e.plans[i].Version})
		}
		e.plans = append(job.History(nil), kept...)
		e.bodies = append([]unique.Handle[body](nil), e.bodies[cut:]...)
	}
}

// decided returns the instant up to which all of the job's fires are decided, but for
// those of its late versions. It is the job's position as the last cursor has it.
func (m *Machine) decided(e *entry) int64 {
	if m.sweepTo != 0 && e.compare(m.after) <= 0 {
		return m.sweepTo
	}
	return m.done
}

// arm sets when the job is to be looked at next: in the sweep that is on, if that has
// yet to come to it, or at an instant.
func (m *Machine) arm(id uint32) {
	e := m.jobs.at(id)
	if e.sweeping {
		return
	}
	at, ok := e.plans.NextDue(m.decided(e))
	if fire, waits := m.delays.fire(id); waits && (!ok || fire.Due < at) {
		at, ok = fire.Due, true
	}
	if books := m.runs.byJob[id]; books != nil {
		// Not before what is decided: a clock that stands would find it due again and again.
		if wake, waits := books.wakeAt(); waits && (!ok || wake < at) {
			at, ok = max(wake, m.decided(e)+1), true
		}
	}
	if !ok {
		m.ring.Cancel(id)
		return
	}
	if at <= m.sweepTo && !m.resumed && e.compare(m.after) > 0 {
		m.ring.Cancel(id)
		m.join(id)
		return
	}
	m.ring.Set(id, at)
}

// NextAt returns the instant at which Step will have something to do, as seen at now, and
// whether there is one. It may be in the past. There is none while too many items wait to be
// deleted, and none for what begins runs while no run may begin.
func (m *Machine) NextAt(now int64) (int64, bool) {
	if m.items.crowded() {
		return 0, false
	}
	told := m.edits >= maxEdits || len(m.Requests.commands)+len(m.delays.unsettled)+len(m.items.due) > 0 ||
		len(m.Events.ends)+len(m.runs.wakes)+len(m.Cancels.wishes)+len(m.Cancels.condemned)+len(m.Backfills.asked) > 0
	if m.Cluster.reserved() {
		return min(m.done, now), told
	}
	told = told || len(m.children.arrived)+len(m.pieces.sending)+len(m.Backfills.going) > 0
	if m.ahead(now) {
		if told || now < m.stepped {
			return now, true
		}
		return min(m.stepped+waitAhead, max(m.done, m.sweepTo)), true
	}
	if told || len(m.late.versions) > 0 || m.sweepTo != 0 {
		return min(m.done, now), true
	}
	idle := m.stored + IdleAfter
	if at, ok := m.ring.NextAt(); ok {
		return min(max(at, m.done+1), idle), true // no sweep begins before
	}
	return idle, true
}

// bug ends the program: the machine was used against its contract, or contradicts
// itself, and going on could fire wrongly.
func (c *Config) bug(format string, args ...any) {
	panic(fmt.Sprintf("BUG: shard %d: ", c.Shard) + fmt.Sprintf(format, args...))
}
