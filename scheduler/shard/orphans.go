package shard

import (
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// Out returns the attempts, or pieces of them, that count as being with the executors
// since before an instant in Unix milliseconds: TRIG has a trigger of each, unless it has
// ended. They are triggers without a body. The caller calls it while no batch is under way,
// so that all of it is stored.
func (m *Machine) Out(before int64) []*bus.Trigger {
	if m.cursor.flight != nil {
		m.cfg.bug("asked for what is out while a batch is under way")
	}
	var out []*bus.Trigger
	for _, a := range m.runs.byID {
		if a.stage != triggered || a.steps != nil || a.since > before {
			continue
		}
		t := m.cfg.outside(a)
		if a.pieces == nil {
			out = append(out, t)
			continue
		}
		for i, state := range a.pieces.states {
			if state == bus.PieceTriggered || state == bus.PieceBegun {
				piece := *t
				piece.Piece = bus.Piece{Index: i, Total: a.pieces.total()}
				out = append(out, &piece)
			}
		}
	}
	for id, d := range m.delays.byJob {
		if d.run != "" && m.runs.byID[d.run] == nil && d.run.Time().UnixMilli() <= before {
			out = append(out, m.delays.trigger(id, d))
		}
	}
	ends := m.Events.toldEnds()
	return slices.DeleteFunc(out, func(t *bus.Trigger) bool { return ends[t.Ref()] })
}

// StillOut returns those of the attempts, which Out has returned, that still count as being
// with the executors.
func (m *Machine) StillOut(attempts []*bus.Trigger) []*bus.Trigger {
	ends := m.Events.toldEnds()
	var still []*bus.Trigger
	for _, t := range attempts {
		if !ends[t.Ref()] && m.isOut(t) {
			still = append(still, t)
		}
	}
	return still
}

func (m *Machine) isOut(t *bus.Trigger) bool {
	if a := m.runs.byID[t.RunID]; a != nil {
		if a.stage != triggered || a.steps != nil || a.number != t.Attempt || a.pieces == nil != (t.Total == 0) {
			return false
		}
		if a.pieces == nil {
			return true
		}
		p := a.pieces
		return t.Total == p.total() && (p.states[t.Index] == bus.PieceTriggered || p.states[t.Index] == bus.PieceBegun)
	}
	id, ok := m.jobs.find(t.Job)
	return ok && m.delays.byJob[id] != nil && m.delays.byJob[id].run == t.RunID
}

// Alive returns the attempts of one run that count as being with the executors, as Out
// does, and whether the machine counts the run as alive at all.
func (m *Machine) Alive(run job.RunID, name job.Name) (out []*bus.Trigger, alive bool) {
	for _, t := range m.Out(1 << 62) {
		if t.RunID == run && t.Job == name {
			out = append(out, t)
		}
	}
	return out, len(out) > 0 || m.runs.byID[run] != nil
}
