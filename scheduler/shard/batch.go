package shard

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// overhead is how many messages a batch has beside triggers and deferred items: the
// cursor, the notice and the record.
const overhead = 3

// maxRecord is the size of a record, in bytes, from which on no further job is decided
// in the batch. Skipped fires are no messages, so the record alone bounds them.
const maxRecord = 256 << 10

// Batch is what one step publishes: its messages are stored in this order, all or none.
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
	ends     map[string]string // by group, where the ends of runs that nobody watches go
	packs    packs
}

// target tells the subjects of triggers apart.
type target struct {
	group    string
	routed   bool
	priority job.Priority
}

// newBuilder begins a batch of at most room messages.
func newBuilder(cfg *Config, items *items, c *Cluster, now int64, room int) *builder {
	return &builder{
		cfg: cfg, items: items, governed: c.governed,
		now: instant(now), room: room - overhead, subjects: map[target]string{}, ends: map[string]string{}, nudges: map[int]bool{},
		packs: packs{instances: c.instances, open: map[string]*pack{}},
	}
}

// fits reports whether there is room for n more messages.
func (b *builder) fits(n int) bool {
	return len(b.messages)+b.packs.more+b.promised+n <= b.room && b.record.size < maxRecord
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
	depth    int
	caller   *journal.Caller          // the step that called the run; nil: none has
	step     string                   // of a workflow; "": it is none
	given    json.RawMessage          // parameters in the place of the job's, of a workflow
	taken    map[string]bus.TakenStep // steps that are not done again, until the run begins
	lane     string                   // of its overlap key; see [lane]
	split    bool                     // the attempt lists the run's pieces
	total    int                      // of the pieces; 0: it is not done in pieces, or they are not known yet
	// key is that of a run that was asked for; nil: it has none.
	key *runKey
	// earlier are the pieces of the run that this one does again; nil: it has its own.
	earlier *bus.Pieces
}

// encode returns the run's trigger but for its body.
func (b *builder) encode(name job.Name, r attempt) *bus.Trigger {
	return &bus.Trigger{
		RunID: r.runID, Job: name, Version: int(r.version), Shard: b.cfg.Shard, Attempt: r.number,
		Cause: r.cause, FireTime: time.UnixMilli(r.fireTime), CommittedAt: b.now,
		StartBy: instantOrZero(r.startBy), EndBy: instantOrZero(r.endBy), ParentRun: r.parent, Depth: r.depth, Step: r.step, Split: r.split, Keyed: r.key != nil,
	}
}

// endsOf returns where the ends of a group's runs go that nobody waits for.
func (b *builder) endsOf(group string) string {
	subject, ok := b.ends[group]
	if !ok {
		subject = bus.SubjectEnds(b.cfg.Partitions.Of(b.cfg.Shard), group)
		b.ends[group] = subject
	}
	return subject
}

// send adds a trigger, as a message of its own.
func (b *builder) send(t *bus.Trigger, body body) {
	b.messages = append(b.messages, b.trigger(t, body))
	b.Triggers++
}

// trigger returns a trigger as a message.
func (b *builder) trigger(t *bus.Trigger, body body) *nats.Msg {
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
	return m
}

// subject returns where triggers of a group with the body go.
func (b body) subject(shard int, group string, governed bool) string {
	switch {
	case governed:
		return bus.SubjectPriority(shard, b.priority, group)
	case b.routed:
		return bus.SubjectRouted(shard, group)
	}
	return bus.SubjectTrigger(shard, group)
}

// deferred adds a deferred item of a shard.
func (b *builder) deferred(shard int, d *journal.Deferred) *item {
	msg, err := d.Msg(shard)
	if err != nil {
		b.cfg.bug("%v", err)
	}
	i := b.nextItem()
	b.messages = append(b.messages, msg)
	return i
}

// nextItem makes the message that is appended next an item of the machine's.
func (b *builder) nextItem() *item {
	i := &item{}
	b.placed = append(b.placed, flightItem{item: i, offset: len(b.messages) + 1})
	return i
}

// withdraw takes an item's message out of the batch, which keeps its place until then.
func (b *builder) withdraw(i *item) {
	at := slices.IndexFunc(b.placed, func(f flightItem) bool { return f.item == i })
	b.messages[b.placed[at].offset-1] = nil
	b.placed = slices.Delete(b.placed, at, at+1)
}

// compact closes the gaps that withdrawn messages have left.
func (b *builder) compact() {
	shift := make([]int, len(b.messages)+1) // of the offsets
	kept := b.messages[:0]
	gaps := 0
	for k, msg := range b.messages {
		if msg == nil {
			gaps++
		} else {
			kept = append(kept, msg)
		}
		shift[k+1] = gaps
	}
	b.messages = kept
	for k := range b.placed {
		b.placed[k].offset -= shift[b.placed[k].offset]
	}
}

// waitIn adds the deferred item that says where a run is.
func (b *builder) waitIn(d *journal.Deferred, a *watchedRun) *item {
	d.Job, d.Given, d.Taken, d.Caller, d.Lane = a.job, a.given, a.taken, a.caller, a.lane
	d.Key = a.key.mark()
	d.Trigger = bus.AppendTrigger(nil, b.encode(a.job, a.attempt), a.body.Value().text)
	return b.deferred(b.cfg.Shard, d)
}

// instant returns the instant of Unix milliseconds.
func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// instantOrZero is the same, but for 0, which stands for none.
func instantOrZero(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return instant(ms)
}
