package shard

import (
	"strings"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// fillStream has the stream be full for groups, or for everybody, or not any more.
func (w *world) fillStream() {
	if w.chance(40) {
		w.room = nil
		w.say("there is room for all")
		return
	}
	w.room = &Room{Full: map[string]bool{}, Reserved: w.chance(30)}
	for _, group := range simGroups {
		w.room.Full[group] = w.chance(50)
	}
	w.say("room: %+v", *w.room)
}

// measure has an owner hear which room there is.
func (w *world) measure(o *owner) {
	o.m.PutRoom(w.room, w.clock+o.skew)
	o.known.room = w.room
}

// full reports whether one who knows k begins no run of the job.
func (k *knowledge) full(name job.Name) bool {
	return k.room != nil && (k.room.Reserved || k.room.Full[name.Group()])
}

// refuseFires has the fires miss for which there is no room; none is decided while nothing may begin.
func (k *knowledge) refuseFires(name job.Name, fates []*fate) {
	if len(fates) > 0 && k.room != nil && k.room.Reserved {
		fail("%d fires of %s are decided, and no run may begin", len(fates), name)
	}
	for _, f := range fates {
		if f.status == job.StatusPending && k.full(name) {
			f.status, f.reason = job.StatusMissed, "too many runs of executor group "+name.Group()+" wait for an executor"
		}
	}
}

// checkRoom holds the runs that a batch begins against the room that its owner knew of.
func checkRoom(b *stored, d delivery, lines []journal.Decided) {
	for _, l := range lines {
		refused := strings.Contains(l.Reason, "too many runs of executor group "+l.Job.Group()) || strings.Contains(l.Reason, "NATS had no room") && l.Status == job.StatusSkipped && !l.Cause.Scheduled() // else it is decided late
		full := d.known.full(l.Job)
		if refused && !full {
			fail("run %s of %s is %s (%s), and there is room", l.RunID, l.Job, l.Status, l.Reason)
		}
		first := l.Attempt == 1 && (l.Status == job.StatusPending || l.Status == job.StatusQueued) && !strings.Contains(l.Reason, "it was queued for") && !strings.Contains(l.Reason, "for an instance")
		if asked := l.Cause == job.CauseManual || l.Cause == job.CauseRerun || l.Cause == job.CauseBackfill || l.Cause == job.CauseParent; asked && first && full && !lacking(l) {
			fail("run %s of %s is %s (%s), and there is no room", l.RunID, l.Job, l.Status, l.Reason)
		}
	}
	for _, t := range b.pieces {
		if d.known.full(t.Job) {
			fail("piece %d of run %s of %s is triggered, and there is no room", t.Index, t.RunID, t.Job)
		}
	}
}

// checkIdle looks that an owner who may begin nothing does not step in vain again and again.
func (w *world) checkIdle(o *owner, now int64, room int) {
	if at, waits := o.m.NextAt(now); room == bus.MaxBatch && o.m.Cluster.reserved() && waits && at <= now {
		fail("nothing comes of a step at %s, and the next is due at %s", instant(now), instant(at))
	}
}
