package shard

import (
	"slices"
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

// perMessage is about what a message on the stream takes beside its body, in bytes.
const perMessage = 400

// Waiting adds to bytes, by executor group, about how much the shard keeps on the stream beside
// triggers: runs that are alive or queued, ends that wait for those of other parents, backfills.
func (m *Machine) Waiting(bytes map[string]int64) {
	for _, a := range m.runs.byID {
		size := perMessage + len(a.body.Value().text)
		if p := a.pieces; p != nil {
			size += len(p.states)
			for _, item := range slices.Concat(p.Items, p.Results) {
				size += len(item) + 1
			}
		}
		bytes[a.job.Group()] += int64(size)
	}
	for id, ends := range m.children.joins {
		for _, waiting := range ends {
			for _, a := range waiting {
				bytes[m.jobs.at(id).name.Group()] += int64(perMessage + len(a.Params))
			}
		}
	}
	for id, list := range m.Backfills.byJob {
		for _, f := range list {
			bytes[m.jobs.at(id).name.Group()] += int64(2*perMessage + len("1767225600000,")*len(f.Fires))
		}
	}
}
