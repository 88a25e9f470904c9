package shard

import (
	"fmt"
	"time"
	"unique"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/scheduler/ring"
)

// IdleAfter is how far time may run ahead of the stored cursor when nothing is due,
// in milliseconds. It bounds what a successor has to look through.
const IdleAfter = 30_000

// maxEdits is how many edits a machine hears of until it says so in a cursor, so that the bucket,
// which keeps [bus.JobHistory] versions of a job, may forget those before.
const maxEdits = bus.JobHistory / 2

// Config is what is fixed for the life of a machine.
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
//
// It consists of parts, each with its own state. The exported ones are reached by the owner as fields.
type Machine struct {
	cfg    Config
	jobs   jobs
	items  items
	cursor cursorState

	// Cluster is what concerns all shards alike.
	Cluster  *Cluster
	pieces   pieces
	steps    steps
	watches  watches
	runs     runs
	fires    fires
	delays   delays
	sweep    sweep
	versions versions
	pings    pings
	children children
	// Relay has the ends of parents whose children are in another partition.
	Relay *Relay
	// Events is the position of the shard in EVT.
	Events *Events
	// Failures are the jobs to pause because their runs end badly.
	Failures *Failures
	// Cancels are the wishes to end runs.
	Cancels *Cancels
	// Requests are the runs that people and programs ask for.
	Requests *Requests
	// Keys are those that runs were asked for with.
	Keys *Keys
	// Backfills are the fires of the past that people ask for.
	Backfills *Backfills
	waiting   waitingRuns
}

// New returns a machine at the position of cursor, which is stored at cursorSeq. A
// shard without one is given a cursor at which to begin, and sequence 0.
//
// A part refers only to parts that are made before it. What follows from its decisions in later ones
// is passed to it as a func.
func New(cfg Config, cursor *journal.Cursor, cursorSeq uint64) *Machine {
	m := &Machine{
		cfg:    cfg,
		jobs:   jobs{byName: map[job.Name]uint32{}},
		items:  items{left: map[uint64]bool{}, released: cursor.Released},
		cursor: cursorState{seq: cursorSeq, stored: cursor.Done.UnixMilli()},
	}
	config, jobs, items := &m.cfg, &m.jobs, &m.items
	m.Cluster = newCluster()
	m.pieces = pieces{cfg: config, jobs: jobs, cluster: m.Cluster}
	m.steps = steps{
		cfg: config, jobs: jobs, items: items, cluster: m.Cluster, pieces: &m.pieces, byID: map[job.RunID]*watchedRun{},
		definitions: map[unique.Handle[body]]*definition{}, arm: m.sweep.arm, end: m.runs.end,
	}
	m.watches = watches{
		jobs: jobs, items: items, byJob: map[uint32]*watch{},
		add: m.runs.add, end: m.runs.end, open: m.runs.elsewhere, arm: m.sweep.arm,
	}
	m.Requests = &Requests{cfg: config, jobs: jobs, items: items, cluster: m.Cluster, runs: &m.runs, waiting: &m.waiting, asked: map[job.RunID]bool{}}
	m.Keys = newKeys(func() int64 { return m.Requests.recent.passed })
	m.Requests.keys = m.Keys
	m.runs = runs{
		cfg: config, jobs: jobs, items: items, cluster: m.Cluster, pieces: &m.pieces, steps: &m.steps, watches: &m.watches, keys: m.Keys,
		byJob: map[uint32]*jobRuns{}, byID: m.steps.byID,
		arm: m.sweep.arm, ended: m.runEnded,
	}
	m.fires = fires{jobs: jobs, cluster: m.Cluster, runs: &m.runs, moved: movedFires{at: map[job.Name]int64{}}}
	m.fires.moved.restore(cursor.Moved)
	m.delays = delays{cfg: config, jobs: jobs, items: items, cluster: m.Cluster, fires: &m.fires, arm: m.sweep.arm, byJob: map[uint32]*delay{}}
	m.sweep = sweep{
		jobs: jobs, fires: &m.fires, delays: &m.delays, runs: &m.runs, passed: m.passed,
		done: cursor.Done.UnixMilli(), ring: ring.New(cursor.Done.UnixMilli()),
	}
	m.sweep.restore(cursor.Sweep)
	m.pings = pings{jobs: jobs, watches: &m.watches, fires: &m.fires, runs: &m.runs, delays: &m.delays, decided: m.sweep.decided}
	m.Relay = newRelay(config, items, cursor)
	m.children = children{
		cfg: config, jobs: jobs, items: items, cluster: m.Cluster, relay: m.Relay, runs: &m.runs,
	}
	m.steps.post = m.children.post
	m.Failures = &Failures{cfg: config, items: items, byJob: map[uint32]*failureCount{}}
	m.Events = &Events{seq: cursor.EventSeq, made: cursor.EventsMade}
	m.waiting = waitingRuns{
		cfg: config, jobs: jobs, items: items, cluster: m.Cluster, runs: &m.runs, keys: m.Keys, position: cursor.Done.UnixMilli(),
		byID: map[job.RunID]*waitingRun{}, byJob: map[job.Name]*waitingJob{},
	}
	m.Cancels = &Cancels{waiting: &m.waiting, jobs: jobs, items: items, events: m.Events, runs: &m.runs}
	m.Backfills = &Backfills{cfg: config, jobs: jobs, items: items, cluster: m.Cluster, runs: &m.runs, byJob: map[uint32][]*backfill{}}
	m.versions = newVersions(m, cursor)
	return m
}

// Shard returns the number of the machine's shard.
func (m *Machine) Shard() int { return m.cfg.Shard }

// CursorSeq returns the sequence of the cursor that the machine believes to be stored.
func (m *Machine) CursorSeq() uint64 { return m.cursor.seq }

// Heard returns the greatest revision of JOBS that the machine has heard of.
func (m *Machine) Heard() uint64 { return m.versions.heard }

// Jobs returns how many jobs the shard has.
func (m *Machine) Jobs() int { return len(m.jobs.byName) }

// BeginJobs enters the identity of JOBS, before any of its versions: when it was created. It returns the
// greatest revision of this one that the owner before had heard of, or 0 if that is not known.
func (m *Machine) BeginJobs(made time.Time) (known uint64) { return m.versions.beginJobs(made) }

// Ahead returns by how many milliseconds the position is ahead of now; 0 if it is not. Until the clock has
// caught up, nothing is due: the machine does only what ends of runs and requests ask for.
func (m *Machine) Ahead(now int64) int64 { return m.sweep.ahead(now) }

// passed is called for each job that a sweep has decided.
func (m *Machine) passed(id uint32) {
	m.versions.trim(m.jobs.at(id))
	m.sweep.arm(id)
}

// NextAt returns the instant at which Step will have something to do, as seen at now, and
// whether there is one. It may be in the past. There is none while too many items wait to be
// deleted, and none for what begins runs while no run may begin.
func (m *Machine) NextAt(now int64) (int64, bool) {
	if m.items.crowded() {
		return 0, false
	}
	if m.Cluster.reserved() {
		return min(m.sweep.done, now), m.pending()
	}
	pending := m.pending() || len(m.children.arrived)+len(m.pieces.sending)+len(m.steps.sending)+len(m.Backfills.going) > 0
	if ahead := m.sweep.ahead(now); ahead > 0 {
		if pending {
			return now, true
		}
		return now + ahead, true
	}
	if pending || len(m.versions.late) > 0 || m.sweep.on() {
		return min(m.sweep.done, now), true
	}
	at := m.sweep.nextAt(m.cursor.stored + IdleAfter)
	if due, waits := m.waiting.nextAt(); waits {
		at = min(at, due)
	}
	return at, true
}

// pending reports whether a part has something to write that begins no run by itself.
func (m *Machine) pending() bool {
	return len(m.items.due)+len(m.delays.unsettled)+len(m.Events.ends)+len(m.runs.wakes) > 0 ||
		len(m.Cancels.wishes)+len(m.Cancels.condemned)+len(m.Requests.commands)+len(m.Requests.recoveries)+len(m.Requests.tellings)+len(m.Requests.holds) > 0 ||
		len(m.Backfills.asked)+len(m.children.forgotten)+len(m.steps.callingOff) > 0 || m.pings.earlyDue() ||
		m.versions.edits >= maxEdits || m.waiting.pending()
}

// bug ends the program: the machine was used against its contract, or contradicts
// itself, and going on could fire wrongly.
func (c *Config) bug(format string, args ...any) {
	panic(fmt.Sprintf("BUG: shard %d: ", c.Shard) + fmt.Sprintf(format, args...))
}
