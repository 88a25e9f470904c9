package shard

import (
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// newerFormat is the format of versions that the newer ones of a world's programs can read
// and save, and the others cannot.
const newerFormat = job.VersionFormat + 1

// kept is a version that the bucket has.
type kept struct {
	*job.Version
	rev uint64
}

// entry returns k as whoever saves the next version reads it.
func (k kept) entry() *bus.JobEntry { return &bus.JobEntry{Version: *k.Version, Revision: k.rev} }

// keep notes that a version is about to be saved: the bucket drops the oldest one for it, if there
// are as many as it keeps.
func (w *world) keep(v *job.Version) {
	if v.Format = 0; w.newer && w.chance(25) {
		v.Format = newerFormat
	}
	name := v.Job.Job
	all := slices.Concat(w.kept[name], []kept{{v, revision(len(w.changes))}})
	if len(all) > bus.JobHistory {
		oldest := all[0]
		w.dropped[oldest.rev] = true
		w.broken[name] = w.broken[name] || oldest.Deleted || oldest.Schedule.Kind() != job.KindFixedDelay
		all = all[1:]
	}
	w.kept[name] = all
}

// refuses reports whether another version of a job is refused, because it would push one out of
// the bucket whose fires are not decided.
func (w *world) refuses(name job.Name) bool {
	all := w.kept[name]
	return len(all) == bus.JobHistory && !w.trig.cursor.Decided(all[0].entry(), all[1].entry())
}

// editALot edits a job more often than its shard's owner hears of.
func (w *world) editALot() {
	if w.newer {
		return
	}
	name := w.names[w.rng.IntN(len(w.names))]
	for range 5 + w.rng.IntN(2*bus.JobHistory) {
		was := w.newest[name]
		if was == nil || was.Deleted {
			return
		}
		if w.refuses(name) {
			w.say("no further edit of %s is taken", name)
			return
		}
		v := w.editOf(was)
		v.Misfire = w.misfire()
		v.Job = v.WithDefaults()
		w.saveVersion(v)
		w.clock += w.rng.Int64N(w.scale.unit.Milliseconds())
		if w.owner != nil && w.chance(10) {
			w.step(w.owner)
		}
	}
	w.say("many edits of %s, up to version %d", name, w.newest[name].Version)
}

// someReader returns up to which format a new owner reads versions.
func (w *world) someReader() int {
	if w.newer && w.chance(50) {
		return job.VersionFormat
	}
	return newerFormat
}

// restPlainly has all be decided in the end by those who can read all versions, while NATS
// refuses nothing.
func (w *world) restPlainly() {
	w.newer, w.nats = false, limits{}
}

// put tells an owner of a version, as it can read it.
func (w *world) put(o *owner, v *job.Version, rev uint64) error {
	if v.Format <= o.reads {
		return o.m.PutVersion(v, rev)
	}
	p := PrepareUnreadable(w.planner, v.Job.Job, bus.Envelope{Version: v.Version, EffectiveFrom: v.EffectiveFrom}, rev)
	o.m.Put(&p)
	return nil
}

// noteBlind notes which runs an owner who knows k has judged by the version before the newest one, as
// it cannot read that: it has other rules, or there is none.
func (w *world) noteBlind(k *knowledge, name job.Name, run job.RunID) {
	if versions := k.jobs[name]; len(versions) > 0 && versions[len(versions)-1].hidden {
		w.blind[run] = true
	}
}

// doneUnread returns up to when the fires of a version were decided by those who could read it,
// by the cursor c, which has the job at a position; 0: by nobody.
func doneUnread(c *bus.Cursor, v heardVersion, at int64) int64 {
	for _, l := range c.Late {
		if l.Job == v.Job.Job && l.Version == v.Version.Version {
			return l.Done.UnixMilli()
		}
	}
	if v.rev <= c.JobsSeq && !slices.Contains(c.Unread, v.rev) {
		return at
	}
	return 0
}

// asRead returns a version as it is to one who reads formats up to one: what it cannot read
// has no fires, and the rules of the version before.
func (k *knowledge) asRead(v *job.Version, rev uint64, reads int) heardVersion {
	if v.Format <= reads {
		return heardVersion{Version: v, rev: rev}
	}
	held := &job.Version{Version: v.Version, EffectiveFrom: v.EffectiveFrom, Job: job.Job{Job: v.Job.Job}.WithDefaults()}
	if before := k.jobs[v.Job.Job]; len(before) > 0 {
		held.Job = before[len(before)-1].Job
		held.Schedule, held.Paused, held.PausedUntil = job.Schedule{}, false, nil
	}
	return heardVersion{Version: held, rev: rev, hidden: true}
}
