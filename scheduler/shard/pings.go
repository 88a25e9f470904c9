package shard

import (
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// pings handles reports of runs that are done elsewhere. A ping names a job, and the machine finds the run: see
// [matcher.match].
type pings struct {
	jobs    *jobs
	watches *watches
	fires   *fires
	runs    *runs
	delays  *delays
	decided func(*entry) int64 // the instant up to which a job's fires are decided
}

// roomPing is how many messages a ping takes beside those of [runs.follows]: for the state of the watch, and for a fixed
// delay.
const roomPing = 2

// handle applies a ping. It returns false, and leaves everything as it was, when b has no room.
func (ps *pings) handle(b *builder, p ping) bool {
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
		b.record.addPing(p.Job, ps.own(id, p), job.StatusSkipped, why, p.detail(0))
		return true
	}
	ps.watches.notePing(b, id, ps.decided(e))
	of := ps.matcher(id, p)
	m := of.match(p)
	switch {
	case m.run != nil:
		ps.watches.report(b, m.run, p, m.why)
	case m.kind == matchEarly && len(ps.watches.byJob[id].early) < maxEarly:
		ps.watches.storeEarly(b, id, p, of.fire.At)
	case m.kind == matchOwn:
		ps.begin(b, id, p, reason.Join(m.why, zoneHint(e.newest(), p)))
	case m.kind == matchEarly:
		ps.begin(b, id, p, reason.Unasked.String())
	case m.kind == matchAgain && p.Kind == bus.PingStart: // the end stands
	default:
		m.why = reason.Join(m.why, zoneHint(e.newest(), p))
		ps.reportLate(b, id, p, m)
	}
	return true
}

// zoneHint says that the clocks of who pings are in another zone than the schedule, which is the usual cause of pings
// that come and suit no fire; "" if they are not, or that is not known.
func zoneHint(plan *job.Plan, p ping) string {
	here, ok := plan.UTCOffset(p.at)
	if !ok || p.UTCOffset == nil || *p.UTCOffset == here {
		return ""
	}
	return reason.ZoneDiffers.With(utcOffset(*p.UTCOffset), utcOffset(here))
}

// utcOffset returns an offset in minutes as people write it, such as +02:00.
func utcOffset(minutes int) string {
	return time.Unix(0, 0).In(time.FixedZone("", minutes*60)).Format("-07:00")
}

// own returns a run of the job's that no fire asked for.
func (ps *pings) own(id uint32, p ping) attempt {
	e, at := ps.jobs.at(id), p.at
	if p.Kind == bus.PingEnd {
		at = p.begun()
	}
	return attempt{runID: job.PingRunID(e.name, p.ID, at), version: e.newest().Version, number: 1, cause: job.CausePing, fireTime: at}
}

// begin begins a run that no fire asked for, and ends it if the ping is an end. A fixed delay that waits for its next
// fire waits for the end of this run instead.
func (ps *pings) begin(b *builder, id uint32, p ping, why string) {
	e := ps.jobs.at(id)
	if open := len(ps.runs.elsewhere(id)); p.Kind == bus.PingStart && open >= maxOpen {
		b.record.addPing(p.Job, ps.own(id, p), job.StatusSkipped, reason.TooManyOpen.With(open), p.detail(0))
		return
	}
	a := &watchedRun{attempt: ps.own(id, p), jobID: id, job: e.name, stage: expected, body: e.bodies[len(e.bodies)-1], since: b.now.UnixMilli()}
	ps.runs.add(a)
	if _, waits := ps.delays.fire(id); waits {
		next := &delay{run: a.runID}
		ps.delays.replace(id, next)
		b.waitItem(e.name, next)
		why = reason.PingBeforeDue.String()
	}
	ps.watches.report(b, a, p, why)
}

// reportLate records a ping of a run that already has an outcome. The first outcome stands.
func (ps *pings) reportLate(b *builder, id uint32, p ping, m match) {
	if m.kind == matchAgain { // the log of the run has the output of its end
		short := *p.Ping
		short.Output, short.OutputCut = "", short.OutputCut+len(short.Output)
		p.Ping = &short
	}
	s := p.Status()
	if p.Kind == bus.PingStart {
		s = job.StatusRunning
	}
	b.record.addPing(p.Job, m.of, s, m.why, p.detail(0))
	if w := ps.watches.byJob[id]; w.unreported == m.of.fireTime && p.Kind == bus.PingEnd {
		ps.watches.clearUnreported(b, id)
	}
}

// matcher returns the matcher for a ping.
func (ps *pings) matcher(id uint32, p ping) *matcher {
	e := ps.jobs.at(id)
	w := ps.watches.byJob[id]
	k := &matcher{WatchRule: *e.newest().Watch, job: e.name, unreported: w.unreported, open: ps.runs.elsewhere(id), ended: w.ended}
	decided := ps.decided(e)
	if k.fire, k.version, k.excluded, k.known = ps.fires.newest(e, p.begun()+k.Early); k.known {
		k.decided = k.fire.Due <= decided
		if k.decided && k.fire.At <= w.since {
			k.excluded = reason.WatchNotHeard.String()
		}
		last, _, _, _ := ps.fires.newest(e, decided)
		k.followed = last.At > k.fire.At
	}
	return k
}

// handleEarly applies the early pings whose fires are decided by now.
func (ps *pings) handleEarly(b *builder) {
	for ps.earlyDue() {
		p := ps.watches.early.first()
		ps.watches.early.remove(p)
		if !ps.handle(b, p.ping) {
			ps.watches.early.add(p.of, p)
			return
		}
		ps.watches.items.release(p.item)
	}
}

// earlyDue reports whether the fire of the first early ping is decided.
func (ps *pings) earlyDue() bool {
	p := ps.watches.early.first()
	if p == nil {
		return false
	}
	id, ok := ps.jobs.find(p.Job)
	return !ok || ps.decided(ps.jobs.at(id)) >= p.fire
}
