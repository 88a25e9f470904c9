package shard

import (
	"maps"
	"slices"

	"github.com/carillon-scheduler/carillon/job/reason"
)

// Room says for whose runs the stream of triggers has room, as measured a moment ago.
// Machines share it, so it must not change.
type Room struct {
	// Full are the executor groups at their limit of waiting runs: they get no further ones.
	Full map[string]bool
	// Reserved is set when the stream is filled up to what is kept for ends, cancellations and
	// cursors, so that no run begins. Fires are decided late, when there is room again.
	Reserved bool
}

// PutRoom sets the room for runs from now on; nil means room for all. A retry, or a run that leaves a
// queue, takes the room of an attempt that has ended, so these go on. Pieces and runs of backfills
// wait until there is room.
func (m *Machine) PutRoom(r *Room, now int64) {
	was := m.Cluster.room
	if was == r {
		return
	}
	m.Cluster.room = r
	switch reserved := r != nil && r.Reserved; {
	case reserved && (was == nil || !was.Reserved):
		m.Cluster.reservedSince = now
	case !reserved && was != nil && was.Reserved:
		m.StoodStill(Standstill{From: m.Cluster.reservedSince, To: now, Reason: reason.NoRoomForRuns.String()})
	}
	for _, id := range slices.Sorted(maps.Keys(m.runs.byJob)) {
		for _, a := range m.runs.byJob[id].active {
			if a.stage == triggered && a.pieces != nil {
				m.pieces.sendLater(a)
			}
			if a.steps != nil {
				m.steps.sendLater(a)
				a.steps.sendPieces(&m.pieces)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.Backfills.byJob)) {
		m.Backfills.wake(id)
	}
}

// reserved reports whether no run may begin.
func (c *Cluster) reserved() bool { return c.room != nil && c.room.Reserved }

// noRoom returns why no further run of a group may begin, or "".
func (c *Cluster) noRoom(group string) string {
	switch r := c.room; {
	case r == nil:
		return ""
	case r.Full[group]:
		return reason.TooManyWait.With(group)
	case r.Reserved:
		return reason.NoRoomForRuns.String()
	}
	return ""
}

// perMessage is about what a message on the stream takes beside its body, in bytes.
const perMessage = 400

// Waiting adds to bytes, by executor group, about how much the shard keeps on the stream beside
// triggers: runs that are alive, queued or wait for their instant, and backfills.
func (m *Machine) Waiting(bytes map[string]int64) {
	for _, a := range m.runs.byID {
		size := perMessage + len(a.body.Value().text)
		if p := a.pieces; p != nil {
			size += len(p.states)
			for _, item := range slices.Concat(p.Items, p.Results) {
				size += len(item) + 1
			}
		}
		if p := a.steps; p != nil {
			size += 2*perMessage + len(p.states) + len(a.given) + p.kept() + perMessage*len(p.results)
		}
		bytes[a.job.Group()] += int64(size)
	}
	for name, of := range m.waiting.byJob {
		bytes[name.Group()] += of.bytes
	}
	for id, list := range m.Backfills.byJob {
		for _, f := range list {
			bytes[m.jobs.at(id).name.Group()] += int64(2*perMessage + len("1767225600000,")*len(f.Fires))
		}
	}
}
