package shard

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// overhead is how many messages a batch has beside triggers and deferred items: the
// cursor, the notice and the record.
const overhead = 3

// maxRecord is the size of a record, in bytes, from which on no further job is decided
// in the batch. Skipped fires are no messages, so the record alone bounds them.
const maxRecord = 256 << 10

// Batch is what one step wants published, in this order, all or nothing.
type Batch struct {
	Shard    int
	Messages []*nats.Msg
	// Asked are the runs made on command, and Cancelled those ended on command, whose
	// askers wait for the commit.
	Asked     []Asked
	Cancelled []Cancelled
	// Condemned are runs with the executors whose ends count as cancelled once it is stored.
	Condemned []job.RunID
	// Backfills are those that were asked for, or whose end was.
	Backfills []BackfillID
	// Kills are runs that are to end, once the batch is stored.
	Kills []Kill
	// Nudges are shards whose owners have something to look for on the stream.
	Nudges []int
	// Routed are the groups that are not governed and have triggers among the messages for
	// which a dispatcher is to find the instance.
	Routed []string
	// Triggers is how many of the messages are triggers, for metrics; Due are the
	// instants at which those that a schedule asked for were due.
	Triggers int
	Due      []int64
	// Misfires counts the fires that were noticed too late, by the policy that ruled.
	Misfires map[job.MisfirePolicy]int
	// Commit names the batch; the cursor in it says so too.
	Commit string
}

// cursorState is what is stored of the machine.
type cursorState struct {
	seq     uint64  // of the cursor that this machine wrote or read; 0: there is none
	stored  int64   // the position in time that it has
	commits int     // batches made, to name the next
	flight  *flight // what the batch under way will have done; nil: there is none
}

// flight is what will be so once the batch under way is stored.
type flight struct {
	stored   int64
	released []uint64
	items    []flightItem
	asked    []Asked
}

// builder collects a batch.
type builder struct {
	Batch    // but for what is known once it is complete
	cfg      *Config
	items    *items
	governed map[string]bool // groups, see [Cluster.PutGroup]
	now      time.Time
	room     int
	reserved int // messages that have been promised room
	promised int // further ones, that the parts will add before the batch is complete
	messages []*nats.Msg
	placed   []flightItem
	nudges   map[int]bool
	record   recorder
	subjects map[target]string // of triggers
}

// target tells the subjects of triggers apart.
type target struct {
	group    string
	routed   bool
	priority job.Priority
}

func (m *Machine) newBatch(now int64, room int) *builder {
	return &builder{
		cfg: &m.cfg, items: &m.items, governed: m.Cluster.governed,
		now: instant(now), room: room - overhead, subjects: map[target]string{}, nudges: map[int]bool{},
	}
}

// fits reports whether there is room for n more messages.
func (b *builder) fits(n int) bool {
	return len(b.messages)+b.promised+n <= b.room && b.record.size < maxRecord
}

func (b *builder) empty() bool {
	return len(b.messages) == 0 && b.record.empty() && len(b.items.due) == 0 && len(b.Kills)+len(b.Backfills)+len(b.Condemned) == 0
}

// attempt is an attempt of a run, to be triggered.
type attempt struct {
	runID    job.RunID
	version  int32
	number   int
	cause    job.Cause
	fireTime int64
	startBy  int64 // Unix milliseconds; 0: there is no limit
	endBy    int64 // the same
	parent   job.RunID
	joined   []job.RunID // for the record: the runs of all parents of a job that joins several
	depth    int
	split    bool // the attempt lists the run's pieces
	total    int  // of the pieces; 0: it is not done in pieces, or they are not known yet
	// earlier are the pieces of the run that this one does again; nil: it has its own.
	earlier *bus.Pieces
}

// encode returns the run's trigger but for its body.
func (b *builder) encode(name job.Name, r attempt) *bus.Trigger {
	return &bus.Trigger{
		RunID: r.runID, Job: name, Version: int(r.version), Shard: b.cfg.Shard, Attempt: r.number,
		Cause: r.cause, FireTime: time.UnixMilli(r.fireTime), CommittedAt: b.now,
		StartBy: instantOrZero(r.startBy), EndBy: instantOrZero(r.endBy), ParentRun: r.parent, Depth: r.depth, Split: r.split,
	}
}

// trigger adds the trigger of a run.
func (b *builder) trigger(name job.Name, body body, r attempt) { b.send(b.encode(name, r), body) }

// send adds a trigger.
func (b *builder) send(t *bus.Trigger, body body) {
	to := target{group: t.Job.Group(), routed: body.routed, priority: body.priority}
	subject, ok := b.subjects[to]
	if !ok {
		governed := b.governed[to.group]
		subject = body.subject(b.cfg.Shard, to.group, governed)
		b.subjects[to] = subject
		if to.routed && !governed {
			b.Routed = append(b.Routed, to.group)
		}
	}
	data := bus.AppendTrigger(make([]byte, 0, 256+len(body.text)), t, body.text)
	m := bus.NewMessage(subject, bus.MessageTrigger, data)
	t.Timeout = body.timeout // which the text has
	m.Header[bus.HeaderToken] = []string{b.cfg.Tokens.Trigger(t, body.repeats, b.now)}
	if b.cfg.Traced {
		m.Header[bus.HeaderTrace] = []string{bus.FireTrace(t.RunID, t.Attempt)}
	}
	b.messages = append(b.messages, m)
	b.Triggers++
}

// noteMisfire counts fires that were noticed too late.
func (b *builder) noteMisfire(p job.MisfirePolicy, v verdict) {
	if v.cause != job.CauseMisfire && v.status != job.StatusMissed {
		return
	}
	if b.Misfires == nil {
		b.Misfires = map[job.MisfirePolicy]int{}
	}
	b.Misfires[p] += v.count
}

// waitItem adds the deferred item that says what the job waits for.
func (b *builder) waitItem(name job.Name, d *delay) {
	state := &bus.Deferred{Kind: bus.DeferredEnd, Job: name, RunID: d.run}
	if d.run == "" {
		state = &bus.Deferred{Kind: bus.DeferredDelay, Job: name, Since: instant(d.since)}
	}
	d.item = b.deferred(b.cfg.Shard, state)
}

// deferred adds a deferred item of a shard.
func (b *builder) deferred(shard int, d *bus.Deferred) *item {
	msg, err := d.Msg(shard)
	if err != nil {
		b.cfg.bug("%v", err)
	}
	i := b.place()
	b.messages = append(b.messages, msg)
	return i
}

// seal makes the batch, with the cursor first and the record last.
func (m *Machine) seal(b *builder) *Batch {
	m.items.building = nil
	m.versions.edits = 0
	b.compact()
	m.cursor.commits++
	commit := strconv.FormatUint(m.cfg.Epoch, 36) + "." + strconv.Itoa(m.cursor.commits)
	released := m.items.take()
	cursor := &bus.Cursor{
		Shard: m.cfg.Shard, Epoch: m.cfg.Epoch, Node: m.cfg.Node, Commit: commit,
		Done: instant(m.sweep.done), JobsSeq: m.versions.seal(), Jobs: m.versions.seen, Begins: m.versions.listBegins(), Moved: m.fires.moved.list(), Late: m.versions.listLate(), Unread: slices.Sorted(maps.Keys(m.versions.unreadable)), EventSeq: m.Events.settled(), EventsMade: m.Events.made, Released: released,
		Made: m.Relay.made, Words: m.Relay.marks,
	}
	if m.sweep.to != 0 && m.sweep.after != (key{}) {
		cursor.Sweep = &bus.Sweep{To: instant(m.sweep.to), After: m.sweep.after.name}
	}
	first, err := cursor.Msg()
	if err != nil {
		m.cfg.bug("%v", err)
	}
	bus.Rollup(first)
	bus.ExpectLast(first, m.cursor.seq)
	messages := make([]*nats.Msg, 0, len(b.messages)+overhead)
	messages = append(messages, first)
	messages = append(messages, b.messages...)
	if !b.record.empty() {
		record := &bus.Record{
			Shard: m.cfg.Shard, Epoch: m.cfg.Epoch, Commit: commit, Node: m.cfg.Node, At: b.now, Outcomes: b.record.outcomes,
		}
		notice, err := record.Notice()
		if err != nil {
			m.cfg.bug("%v", err)
		}
		if notice != nil {
			messages = append(messages, notice)
		}
		last, err := record.Msg()
		if err != nil {
			m.cfg.bug("%v", err)
		}
		messages = append(messages, last)
	}
	m.cursor.flight = &flight{stored: m.sweep.done, released: released, items: b.placed, asked: b.Asked}
	batch := b.Batch
	batch.Shard, batch.Commit, batch.Messages, batch.Nudges = m.cfg.Shard, commit, messages, slices.Sorted(maps.Keys(b.nudges))
	return &batch
}

// Committed says that the batch is stored, its first message at sequence first.
func (m *Machine) Committed(first uint64) {
	f := m.cursor.flight
	if f == nil {
		m.cfg.bug("committed without a batch")
	}
	m.cursor.flight = nil
	m.cursor.seq = first
	m.cursor.stored = f.stored
	m.items.released = f.released
	m.Requests.committed(f.asked)
	for _, i := range f.items {
		m.items.stored(i, first+uint64(i.offset)) //nolint:gosec // an index is not negative
	}
}

// Released returns the sequences of deferred items that have had their effect, as
// stored. The owner deletes them and says so with [Machine.Deleted]. While there are too
// many, nothing is due, and Step returns nil.
func (m *Machine) Released() []uint64 { return m.items.released }

// Deleted says that deferred items are deleted, so that the cursor need not list
// them any more.
func (m *Machine) Deleted(seqs map[uint64]bool) {
	m.items.deleted(seqs)
	for seq := range seqs {
		delete(m.Relay.delivered, seq)
	}
}

// String tells the position, for logs.
func (m *Machine) String() string {
	return fmt.Sprintf("shard %d at %s", m.cfg.Shard, instant(m.sweep.done).Format(time.RFC3339Nano))
}
