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

// someReader returns up to which format a new owner reads versions. One that meets a newer version stands.
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
