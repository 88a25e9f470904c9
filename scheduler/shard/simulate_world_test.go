package shard

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/journal"
)

const (
	simShard  = 5
	simShards = 8
)

// tokens are those of the cluster.
var tokens = bus.NewTokens()

// failure ends a history: the machine, or the model, has broken a promise.
type failure string

func fail(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }

// world is one shard with everything around it: the stream, the jobs as they were
// saved, executors, and owners that come and go. Only clock is the true time.
type world struct {
	rng    *rand.Rand
	scale  scale
	clock  int64
	start  int64
	oracle *oracle
	// punctual: owners hear of every change at once, and their clocks are right. Then
	// no edit ever comes too late for a fire.
	punctual bool
	shifts   bool // most jobs move fires from days that calendars exclude, and months go by
	chains   bool // most jobs are fixed-delay ones, and batches have little room

	trig    *stream
	records []*journal.Record // that were stored
	evt     *eventStream
	read    *eventStream // of which the cursor says how far its events have had their effect
	past    []*simRun    // attempts that have ended, the newest last; not all
	changes []any        // *job.Version, *job.CalendarVersion, hold: in the order they were saved
	names   []job.Name
	newest  map[job.Name]*job.Version
	planner *job.Planner

	owner   *owner
	zombies []*owner
	epoch   uint64
	delayed []delivery

	runs     map[job.RunID]*simRun
	live     []*simRun
	covered  map[coverage]bool
	begins   map[uint64]int64      // by revision, after when the fires of a version are its own
	hours    bool                  // clocks are wrong by hours
	last     map[job.Name]int64    // the latest fire time that has its fate
	items    map[job.Name]*simItem // the newest item of each fixed-delay job
	asked    map[job.RunID]bool    // true: acknowledged
	later    map[job.RunID]*simLater
	asking   []simRequest // all that was asked for
	runKeys  *simKeys
	furthest int64 // what the clock of an owner showed who has stored something, at most
	hastened map[fireOf]*early
	fires    int
	story    []string

	lives   *lives
	foreign []job.Name          // children, and parents, in other shards
	kills   []Kill              // asked for, and not done yet
	over    map[job.RunID]int64 // when runs ended of which a record says so

	newer   bool                // some servers save versions that others cannot read
	kept    map[job.Name][]kept // versions that the bucket has
	dropped map[uint64]bool     // revisions that it had
	broken  map[job.Name]bool   // it has dropped a version that was no fixed delay, or a deletion
	nats    limits

	histories map[job.RunID]*simHistory
	forgotEnd map[job.RunID]bool // EVT has lost something about these runs

	backfills *simBackfills

	inPieces map[job.RunID]*simPieces
	online   map[string][]*fleet.Instance // by group
	governed map[string]bool              // groups
	room     *Room

	partitions bus.Partitions
	letters    *simLetters
}

type simItem struct {
	*journal.Deferred
	seq uint64
}

type coverage struct {
	job job.Name
	at  int64
}

// delivery is a batch on its way: it may be stored later, or be refused.
type delivery struct {
	*owner
	batch *Batch
	now   int64
	known *knowledge
}

// owner is a node that believes to own the shard.
type owner struct {
	m      *Machine
	heard  int  // changes heard
	reads  int  // formats of versions up to this one
	stands bool // it has met a version that it cannot read
	evt    *eventStream
	began  uint64 // sequence of evt after which it has read
	fed    uint64
	// carried is what it has read of an EVT that is no more, and that has had no effect yet.
	carried []carriedEvent
	known   *knowledge
	skew    int64
	batch   *delivery // its outcome is not known
}

// newWorld returns a world in which chance decides by choices.
func newWorld(choices rand.Source) *world {
	rng := rand.New(choices)
	w := &world{
		rng: rng, oracle: &oracle{seen: map[string]*instants{}}, planner: &job.Planner{}, punctual: rng.IntN(2) == 0,
		newest: map[job.Name]*job.Version{}, runs: map[job.RunID]*simRun{}, covered: map[coverage]bool{},
		begins: map[uint64]int64{}, last: map[job.Name]int64{},
		items: map[job.Name]*simItem{}, over: map[job.RunID]int64{}, asked: map[job.RunID]bool{}, later: map[job.RunID]*simLater{}, hastened: map[fireOf]*early{}, scale: scales[rng.IntN(len(scales))],
	}
	starts := []string{"2026-03-28T22:00:00Z", "2026-10-24T23:59:58Z", "2026-01-31T12:00:00.5Z", "2028-02-28T23:00:00Z"}
	t, _ := time.Parse(time.RFC3339, starts[rng.IntN(len(starts))])
	w.clock = t.UnixMilli()
	w.start = w.clock
	w.evt = &eventStream{made: instant(w.clock)}
	w.read = w.evt
	w.trig = newStream(&journal.Cursor{Shard: simShard, Done: instant(w.clock)})
	jobs := 1 + rng.IntN(6)
	if w.chains = rng.IntN(4) == 0; w.chains {
		jobs = 12
	}
	for i := range jobs {
		w.names = append(w.names, nameIn(i, true))
	}
	if w.shifts = w.chance(50); w.shifts {
		w.scale = scales[len(scales)-1]
	}
	w.foreign = []job.Name{nameIn(20, false), nameIn(21, false), nameIn(22, false)}
	w.partitions = bus.Partitions(1 + rng.IntN(3))
	w.letters = newSimLetters(w)
	w.hours = !w.punctual && w.chance(30)
	w.lives = newLives(w)
	w.runKeys = newSimKeys(w)
	w.inPieces = map[job.RunID]*simPieces{}
	w.backfills = newSimBackfills()
	w.online = map[string][]*fleet.Instance{}
	w.governed = map[string]bool{}
	w.newer = w.chance(30)
	w.kept, w.dropped, w.broken = map[job.Name][]kept{}, map[uint64]bool{}, map[job.Name]bool{}
	w.histories, w.forgotEnd = map[job.RunID]*simHistory{}, map[job.RunID]bool{}
	return w
}

func (w *world) say(format string, args ...any) {
	w.story = append(w.story, instant(w.clock).Format("02 15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (w *world) chance(percent int) bool { return w.rng.IntN(100) < percent }

// knowAll is what is known to one who has heard everything.
func (w *world) knowAll() *knowledge {
	k := &knowledge{jobs: map[job.Name][]heardVersion{}, calendars: map[string][]*job.CalendarVersion{}}
	for i, c := range w.changes {
		k.add(c, revision(i))
	}
	return k
}

// revision is that of change i, if it is a version of a job.
func revision(i int) uint64 { return uint64(i + 1) }

// add takes in a change.
func (k *knowledge) add(change any, rev uint64) {
	switch c := change.(type) {
	case *job.Version:
		name := c.Job.Job
		k.jobs[name] = append(k.jobs[name], heardVersion{Version: c, rev: rev})
	case *job.CalendarVersion:
		k.calendars[c.Calendar.Calendar] = append(k.calendars[c.Calendar.Calendar], c)
	case hold:
		k.holds = append(k.holds, c)
	case forgotten:
		delete(k.jobs, job.Name(c))
	}
}

// forgotten is a change: housekeeping has removed the versions of a deleted job.
type forgotten job.Name

// hear tells the owner of the next change that it has not heard of.
func (o *owner) hear(w *world) {
	if o.heard == len(w.changes) {
		return
	}
	c, rev := w.changes[o.heard], revision(o.heard)
	o.heard++
	if w.dropped[rev] {
		return // the bucket has it no more
	}
	if v, ok := c.(*job.Version); ok && v.Format > o.reads {
		w.stand(o, v)
		return
	}
	o.known.add(c, rev)
	var err error
	switch c := c.(type) {
	case *job.Version:
		err = o.m.PutVersion(c, rev)
	case *job.CalendarVersion:
		err = o.m.Cluster.PutCalendar(c)
	case hold:
		o.m.Cluster.PutHold(c.group, c.Pause)
	case forgotten:
		o.m.Forget(job.Name(c), rev)
	}
	if err != nil {
		fail("put: %v", err)
	}
	if o.heard > 1 && w.chance(10) { // some of it again
		switch again := w.changes[o.heard-2].(type) {
		case *job.Version:
			if len(o.known.jobs[again.Job.Job]) > 0 && !w.dropped[rev-1] {
				err = o.m.PutVersion(again, rev-1)
			}
		case *job.CalendarVersion:
			err = o.m.Cluster.PutCalendar(again)
		case hold:
			o.m.Cluster.PutHold(again.group, again.Pause)
		}
	}
	if err != nil {
		fail("put again: %v", err)
	}
}

// stand has an owner stop for good that has met a version which it cannot read.
func (w *world) stand(o *owner, v *job.Version) {
	o.stands, o.heard = true, len(w.changes)
	if o == w.owner {
		w.owner = nil
	}
	w.zombies = slices.DeleteFunc(w.zombies, func(z *owner) bool { return z == o })
	w.say("an owner stands for %s@%d", v.Job.Job, v.Version)
}

// takeOver makes a new owner as a node does: position, claim, jobs, items.
func (w *world) takeOver() {
	if w.clock < w.nats.parked {
		return
	}
	if w.owner != nil {
		w.crash()
	}
	w.epoch++
	o := &owner{known: &knowledge{jobs: map[job.Name][]heardVersion{}, calendars: map[string][]*job.CalendarVersion{}}}
	o.skew, o.reads = w.skew(), w.someReader()
	for {
		data, err := json.Marshal(w.trig.cursor)
		if err != nil {
			fail("encode cursor: %v", err)
		}
		cursor, err := journal.DecodeCursor(nil, data)
		if err != nil {
			fail("decode cursor: %v", err)
		}
		o.m = New(Config{Tokens: tokens, Shard: simShard, Shards: simShards, Partitions: w.partitions, Epoch: w.epoch, Node: "n" + strconv.FormatUint(w.epoch, 10), Planner: w.planner}, cursor, w.trig.cursorSeq)
		if w.chance(20) && len(w.zombies) > 0 { // an earlier owner commits before the claim
			w.zombieSteps()
		}
		now := w.clock + o.skew
		d := delivery{owner: o, batch: o.m.Claim(now), now: now, known: o.known.snapshot()}
		if !w.deliver(d) {
			w.say("claim of epoch %d refused", w.epoch)
			continue
		}
		if w.chance(10) {
			w.say("epoch %d claims and dies", w.epoch)
			w.epoch++
			o.known = &knowledge{jobs: map[job.Name][]heardVersion{}, calendars: map[string][]*job.CalendarVersion{}}
			continue
		}
		o.m.Committed(w.trig.cursorSeq)
		break
	}
	w.beginEvents(o)
	for ; o.heard < len(w.changes) && !o.stands; o.heard++ {
		// What is forgotten cannot be loaded.
		if v, ok := w.changes[o.heard].(*job.Version); !ok || !slices.Contains(w.changes[o.heard:], any(forgotten(v.Job.Job))) {
			o.hear(w)
			o.heard--
		}
	}
	if o.stands {
		return
	}
	seqs := slices.Sorted(maps.Keys(w.trig.deferred))
	for _, seq := range seqs {
		if err := o.m.PutDeferred(w.trig.deferred[seq], seq); err != nil {
			fail("put deferred item: %v", err)
		}
	}
	for _, group := range simGroups {
		o.m.PutInstances(group, w.online[group])
		o.m.Cluster.PutGroup(group, w.governed[group])
	}
	w.measure(o)
	if !o.m.NeedsEvents() {
		o.m.Events.Skip(o.evt.last())
	}
	o.fed = o.m.Events.Seq()
	w.owner = o
	w.say("epoch %d owns from %s, %d items", w.epoch, instant(o.m.sweep.done).Format("02 15:04:05.000"), len(seqs))
}

// crash ends the owner, or lets it live on without knowing that it is replaced.
func (w *world) crash() {
	if w.owner == nil {
		return
	}
	if w.chance(50) {
		w.zombies = append(w.zombies, w.owner)
		w.say("the owner is frozen")
	} else {
		w.say("the owner dies")
	}
	w.owner = nil
}

// step lets an owner decide, and publishes what it decided, in one of the ways in
// which that can go.
func (w *world) step(o *owner) {
	if o.batch != nil {
		w.resolve(o)
		return
	}
	room := bus.MaxBatch
	if w.chance(40) {
		room = 1 + w.rng.IntN(60)
		if w.chains {
			room = 2 + w.rng.IntN(6)
		}
	}
	room = min(room, w.nats.room())
	if w.chance(70) {
		w.measure(o)
	}
	now := w.clock + o.skew
	known := o.known.snapshot()
	b := o.m.Step(now, room)
	readAll(o.m, now)
	if b == nil {
		w.checkIdle(o, now, room)
		w.stuck(o, now, room)
		return
	}
	if len(b.Messages) > max(room, overhead) {
		fail("batch of %d messages in a room of %d", len(b.Messages), room)
	}
	d := delivery{owner: o, batch: b, now: now, known: known}
	w.say("epoch %d steps at %s: %d messages", o.m.cfg.Epoch, instant(now).Format("05.000"), len(b.Messages))
	switch p := w.rng.IntN(100); {
	case w.refuse(o, b):
	case p < 70:
		if w.deliver(d) {
			o.m.Committed(w.trig.cursorSeq)
			w.acknowledge(b)
		} else {
			w.lose(o)
		}
	case p < 80: // stored, but the answer is lost
		w.say("answer lost")
		w.deliver(d)
		o.batch = &d
	case p < 85: // lost on the way
		o.batch = &d
	case p < 90: // on its way for long
		o.batch = &d
		w.delayed = append(w.delayed, d)
	case p < 95: // the owner dies before it publishes
		w.lose(o)
	default: // or right after
		w.deliver(d)
		w.lose(o)
	}
}

// resolve finds out what became of a batch, as a node does.
func (w *world) resolve(o *owner) {
	d := o.batch
	switch {
	case w.trig.cursorSeq != 0 && w.trig.cursor.Commit == d.batch.Commit && w.trig.cursor.Epoch == o.m.cfg.Epoch:
		o.batch = nil
		o.m.Committed(w.trig.cursorSeq)
		w.acknowledge(d.batch)
	case w.trig.cursorSeq == o.m.CursorSeq():
		w.deliver(*d) // its outcome is looked up again
	default:
		w.lose(o)
	}
}

func (w *world) acknowledge(b *Batch) {
	w.told(b)
	for _, a := range b.Asked {
		if a.Status == job.StatusPending && !w.begun(a.RunID) {
			fail("run %s is acknowledged, but not stored", a.RunID)
		}
		w.asked[a.RunID] = a.Status == job.StatusPending
	}
	w.kills = append(w.kills, b.Kills...)
}

// lose throws an owner away.
func (w *world) lose(o *owner) {
	if w.owner == o {
		w.owner = nil
	}
	w.zombies = slices.DeleteFunc(w.zombies, func(z *owner) bool { return z == o })
}

// deliver lets a batch arrive at the stream. It reports whether it was stored.
func (w *world) deliver(d delivery) bool {
	if w.chance(20) {
		w.trig.last += w.rng.Uint64N(1000) // other shards' batches, in the same one or before
	}
	b := w.trig.publish(d.batch.Messages)
	if b == nil {
		return false
	}
	if b.record != nil {
		w.records = append(w.records, b.record)
	}
	for i, t := range b.triggers {
		if o := w.owner; o == d.owner && o.batch == nil { // who is asked at once what it knew
			checkSubject(o.m, t, b.subjects[i])
		}
	}
	w.check(b, d)
	if d.evt != nil {
		w.read = d.evt
	}
	return true
}

func (w *world) zombieSteps() {
	if len(w.zombies) == 0 {
		return
	}
	w.step(w.zombies[w.rng.IntN(len(w.zombies))])
}

// tidy deletes released items, maybe not all, and maybe without saying so.
func (w *world) tidy(o *owner) {
	deleted := map[uint64]bool{}
	for _, seq := range o.m.Released() {
		if w.chance(80) {
			w.trig.remove(seq)
			deleted[seq] = true
		}
	}
	if w.chance(90) {
		o.m.Deleted(deleted)
	}
}
