package shard

import (
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// pings say what has become of runs that are done elsewhere. A ping is about a job: the machine decides which run
// it tells of, see [book.match].
type pings struct {
	jobs    *jobs
	watches *watches
	fires   *fires
	runs    *runs
	delays  *delays
	decided func(*entry) int64 // the instant up to which a job's fires are decided
}

// roomPing is how many messages a ping takes beside what follows from the end of its run: what is known of the
// job, and what a fixed delay waits for.
const roomPing = 2

// take does what a ping tells. It returns false, and leaves everything as it was, when b has no room.
func (ps *pings) take(b *builder, p ping) bool {
	id, ok := ps.jobs.find(p.Job)
	if !ok {
		return true // housekeeping has removed the job
	}
	if !b.fits(ps.runs.follows(id) + roomPing) {
		return false
	}
	e := ps.jobs.at(id)
	if !e.elsewhere() {
		why := reason.WatchEnded.String()
		if e.newest().Deleted {
			why = reason.JobDeleted.String()
		}
		b.record.addPing(p.Job, ps.own(id, p), job.StatusSkipped, why, p.report(0))
		return true
	}
	w := ps.watches.byJob[id]
	unheard := !w.heard && !e.newest().Watch.Now
	ps.watches.hear(b, id)
	k := ps.book(id, p)
	m := k.match(p)
	switch {
	case m.run != nil:
		ps.watches.tell(b, m.run, p, m.why)
	case m.kind == waits && ps.watches.waiting(p.Job) < maxEarly:
		ps.watches.keep(b, p, k.fire.At)
	case m.kind == own:
		ps.begin(b, id, p, m.why)
	case m.kind == waits || unheard:
		ps.begin(b, id, p, reason.Unasked.String())
	case m.kind == again && p.Kind == bus.PingStart: // the end stands
	default:
		ps.tellLate(b, id, p, m)
	}
	return true
}

// own returns a run of the job's that no fire asked for.
func (ps *pings) own(id uint32, p ping) attempt {
	e, at := ps.jobs.at(id), p.at
	if p.Kind == bus.PingEnd {
		at = p.begun()
	}
	return attempt{runID: job.PingRunID(e.name, p.ID, at), version: e.newest().Version, number: 1, cause: job.CausePing, fireTime: at}
}

// begin begins a run that no fire asked for, and ends it if the ping says so. If the job waits for the next fire
// of a fixed delay, it waits for the end of this run instead.
func (ps *pings) begin(b *builder, id uint32, p ping, why string) {
	e := ps.jobs.at(id)
	a := &watchedRun{attempt: ps.own(id, p), jobID: id, job: e.name, stage: expected, body: e.bodies[len(e.bodies)-1], since: b.now.UnixMilli()}
	ps.runs.add(a)
	if _, waits := ps.delays.fire(id); waits {
		next := &delay{run: a.runID}
		ps.delays.replace(id, next)
		b.waitItem(e.name, next)
		why = reason.PingBeforeDue.String()
	}
	ps.watches.tell(b, a, p, why)
}

// tellLate records the end of a run that has its outcome already. The first outcome stands.
func (ps *pings) tellLate(b *builder, id uint32, p ping, m match) {
	s := p.Status()
	if p.Kind == bus.PingStart {
		s = job.StatusRunning
	}
	b.record.addPing(p.Job, m.of, s, m.why, p.report(0))
	if w := ps.watches.byJob[id]; w.silent == m.of.fireTime && p.Kind == bus.PingEnd {
		ps.watches.spoke(b, id)
	}
}

// book returns what is known of a job's runs at the time of which p tells.
func (ps *pings) book(id uint32, p ping) *book {
	e := ps.jobs.at(id)
	w := ps.watches.byJob[id]
	k := &book{WatchRule: *e.newest().Watch, job: e.name, silent: w.silent, open: ps.runs.elsewhere(id), ended: w.ended}
	decided := ps.decided(e)
	if k.fire, k.version, k.excluded, k.known = ps.fires.newest(e, p.begun()+k.Early); k.known {
		k.decided = k.fire.Due <= decided
		last, _, _, _ := ps.fires.newest(e, decided)
		k.followed = last.At > k.fire.At
	}
	return k
}

// ripen takes the pings again whose fires are decided by now.
func (ps *pings) ripen(b *builder) {
	for ps.ripe() {
		p := ps.watches.early[0]
		ps.watches.early = ps.watches.early[1:]
		if !ps.take(b, p.ping) {
			ps.watches.wait(p)
			return
		}
		ps.watches.items.release(p.item)
	}
}

// ripe reports whether the fire is decided for which a ping waits.
func (ps *pings) ripe() bool {
	if len(ps.watches.early) == 0 {
		return false
	}
	p := ps.watches.early[0]
	id, ok := ps.jobs.find(p.Job)
	return !ok || ps.decided(ps.jobs.at(id)) >= p.fire
}
