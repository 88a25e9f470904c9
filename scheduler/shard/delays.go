package shard

import (
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// delay is the state of a fixed-delay job: it waits either for an instant or for the
// end of a run. A deferred item on the stream says the same, so that a successor
// knows; while the item has yet to be written, unsettled is true.
type delay struct {
	item      *item
	unsettled bool
	before    *item     // while unsettled, the item to release when this one is written
	began     uint64    // revision of the version with which the job began to wait
	run       job.RunID // waits for its end; "": waits for since + the job's delay
	since     int64
}

// delays are the jobs with a fixed delay, and what each waits for.
type delays struct {
	cfg       *Config
	jobs      *jobs
	items     *items
	cluster   *Cluster
	fires     *fires
	arm       func(id uint32)   // sets when a job needs attention again
	byJob     map[uint32]*delay // by id
	unsettled []uint32          // ids of delays that owe the stream an item
}

// put begins, keeps or ends the waiting of a job that has a new version, at revision rev. A job that
// begins to wait does so from since on. It returns whether it does.
func (ds *delays) put(id uint32, rev uint64, since int64) bool {
	if !ds.jobs.at(id).isFixedDelay() {
		ds.drop(id)
		return false
	}
	if ds.byJob[id] != nil {
		return false
	}
	ds.set(id, &delay{since: since, began: rev})
	return true
}

// set replaces what the job waits for, and owes the stream an item. The item
// before it is released with the batch that has the new one, not earlier: between
// two batches the job must not be without.
func (ds *delays) set(id uint32, d *delay) {
	if was := ds.byJob[id]; was != nil {
		d.began = was.began
		if d.before = was.item; was.unsettled {
			d.before = was.before
		}
	}
	d.unsettled = true
	ds.byJob[id] = d
	ds.unsettled = append(ds.unsettled, id)
}

// replace replaces what the job waits for; the caller writes the item.
func (ds *delays) replace(id uint32, d *delay) {
	if was := ds.byJob[id]; was != nil {
		d.began = was.began
	}
	ds.drop(id)
	ds.byJob[id] = d
}

func (ds *delays) drop(id uint32) {
	if d := ds.byJob[id]; d != nil {
		ds.items.release(d.item)
		ds.items.release(d.before)
		delete(ds.byJob, id)
	}
}

// waitsFor reports whether a fixed-delay job waits for the end of this run.
func (ds *delays) waitsFor(id uint32, run job.RunID) bool {
	d := ds.byJob[id]
	return d != nil && d.run != "" && d.run == run
}

// end starts the delay before the next fire, if the job waits for the end of this run. The
// caller has found room for a message.
func (ds *delays) end(b *builder, id uint32, ended job.RunID, at int64) {
	if !ds.waitsFor(id, ended) {
		return
	}
	// Not before the run's own fire, whatever the clocks say: the next one must be later.
	next := &delay{since: max(at, ended.Time().UnixMilli())}
	ds.replace(id, next)
	b.waitItem(ds.jobs.at(id).name, next)
	ds.arm(id)
}

// settle writes the items of delays that have none yet.
func (ds *delays) settle(b *builder) {
	var rest []uint32
	for _, id := range ds.unsettled {
		d := ds.byJob[id]
		if d == nil || !d.unsettled {
			continue
		}
		if !b.fits(1) {
			rest = append(rest, id)
			continue
		}
		b.waitItem(ds.jobs.at(id).name, d)
		ds.items.release(d.before)
		d.unsettled, d.before = false, nil
	}
	ds.unsettled = rest
}

// fire returns the fire for which the job waits, if it waits for one.
func (ds *delays) fire(id uint32) (job.Fire, bool) {
	d := ds.byJob[id]
	plans := ds.jobs.at(id).plans
	if d == nil || d.run != "" {
		return job.Fire{}, false
	}
	return plans[len(plans)-1].DelayFire(d.since)
}

// decide returns what becomes of the fire of a fixed-delay job that is due in
// upto, and what the job waits for afterwards; nil when none is due.
func (ds *delays) decide(id uint32, upto, now int64) (verdict, *delay) {
	fire, ok := ds.fire(id)
	if !ok || fire.Due > upto {
		return verdict{}, nil
	}
	e := ds.jobs.at(id)
	v, late := ds.fires.judgeAlone(e.name.Group(), e.plans, len(e.plans)-1, fire, now)
	switch {
	case v.status == job.StatusPending:
		return v, &delay{run: job.FireRunID(e.name, fire.At, v.cause)}
	case late:
		return v, &delay{since: max(now, fire.At)} // the time of being away is not caught up
	default:
		return v, &delay{since: fire.At}
	}
}

// roomDelay is the most messages that a fire of a fixed delay takes: a trigger and two items.
const roomDelay = 3

// enact adds to b the fire of a fixed-delay job, and what the job waits for next.
func (ds *delays) enact(b *builder, id uint32, fire verdict, next *delay, now int64) {
	if s := ds.fires.apply(b, id, fire); s == job.StatusSkipped || s == job.StatusMissed && next.run != "" {
		next = &delay{since: max(now, fire.first.At)}
	}
	ds.replace(id, next)
	b.waitItem(ds.jobs.at(id).name, next)
}

// waitItem adds the deferred item that says what the job waits for.
func (b *builder) waitItem(name job.Name, d *delay) {
	state := &journal.Deferred{Kind: journal.DeferredEnd, Job: name, RunID: d.run}
	if d.run == "" {
		state = &journal.Deferred{Kind: journal.DeferredDelay, Job: name, Since: instant(d.since)}
	}
	d.item = b.deferred(b.cfg.Shard, state)
}

// restore enters what a fixed-delay job waits for.
func (ds *delays) restore(id uint32, d *delay) {
	ds.replace(id, d)
	if !ds.jobs.at(id).isFixedDelay() {
		ds.drop(id)
	}
	ds.arm(id)
}

// trigger returns the trigger of the run whose end a fixed-delay job waits for, if the run is not
// watched: then it has one attempt.
func (ds *delays) trigger(id uint32, d *delay) *bus.Trigger {
	e := ds.jobs.at(id)
	at := d.run.Time()
	return &bus.Trigger{
		RunID: d.run, Job: e.name, Version: int(e.newest().Version), Shard: ds.cfg.Shard, Attempt: 1,
		Cause: job.CauseSchedule, FireTime: at.UTC(), CommittedAt: at.UTC(),
	}
}
