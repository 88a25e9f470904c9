package shard

import (
	"bytes"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// piecesAtOnce is how many pieces one step triggers at most. It leaves room in the
// batch for the fires of other shards, which a run of thousands of pieces must not delay.
const piecesAtOnce = 300

// pieces triggers the pieces of runs, and says on the stream how far these have come.
type pieces struct {
	cfg       *Config
	jobs      *jobs
	cluster   *Cluster
	sending   []*watchedRun // runs with pieces that may be triggered
	unwritten []*watchedRun // runs that have come further than the stream knows
}

// lacksInstances reports whether the run is to be done by every instance, and there
// has been none yet.
func (a *watchedRun) lacksInstances() bool { return a.pieces != nil && a.pieces.total() == 0 }

// begin starts a run that is done in pieces, or its next attempt. It takes one
// message, for the item; the pieces themselves are triggered as there is room. It
// returns false when an attempt that lists the pieces comes first, as of any run.
func (ps *pieces) begin(b *builder, a *watchedRun) (f admission, done bool) {
	if a.pieces == nil {
		p, err := newRunPieces(a.body.Value())
		if err != nil {
			ps.cfg.bug("run %s: %v", a.runID, err)
		}
		cut := p.rule.Map
		if cut != nil && cut.Split {
			a.split = true
			return f, false
		}
		a.pieces = p
		if cut != nil {
			p.lay(cut.Pieces)
		}
	}
	if a.lacksInstances() {
		ps.meet(a)
	}
	ps.changed(b, a)
	if a.lacksInstances() {
		return admission{status: job.StatusQueued, reason: ps.missing(a)}, true
	}
	ps.release(a)
	return admission{status: job.StatusPending}, true
}

// take enters the pieces of the run that a rerun repeats.
func (ps *pieces) take(a *watchedRun) {
	p, err := newRunPieces(a.body.Value())
	if err != nil {
		ps.cfg.bug("run %s: %v", a.runID, err)
	}
	p.Pieces = *a.earlier
	p.Results = nil // those that have succeeded were another run's
	p.states, p.rule, p.States, a.earlier = []byte(a.earlier.States), nil, "", nil
	a.pieces, a.total = p, p.total()
}

// meet makes a piece for each instance that is online and able to do it.
func (ps *pieces) meet(a *watchedRun) {
	p := a.pieces
	for _, i := range ps.cluster.instances[a.job.Group()] {
		if i.Suits(p.rule.Labels) && i.Can(&p.rule.Task) && len(p.Instances) < bus.MaxPieces {
			p.Instances = append(p.Instances, i.Instance)
		}
	}
	p.lay(len(p.Instances))
}

// missing returns the reason why a run waits for instances.
func (ps *pieces) missing(a *watchedRun) string {
	group := a.job.Group()
	if labels := a.pieces.rule.Labels; len(labels) > 0 {
		return reason.WaitsForLabels.With(group, labels)
	}
	return reason.WaitsForOnline.With(group)
}

// release schedules the pieces of an attempt to be triggered.
func (ps *pieces) release(a *watchedRun) {
	a.total = a.pieces.total()
	a.pieces.StartWithin = ps.jobs.rules(a).StartWithin
	a.startBy = 0                  // each piece has its own
	a.pieces.StartBy = time.Time{} // of an earlier attempt, when the job may have had another rule
	ps.sendLater(a)
}

// sendLater notes that a run has pieces that may be triggered.
func (ps *pieces) sendLater(a *watchedRun) {
	if p := a.pieces; !p.sending && p.mayBegin() && ps.cluster.noRoom(a.job.Group()) == "" {
		p.sending = true
		ps.sending = append(ps.sending, a)
	}
}

// mayBegin reports whether a further piece may be triggered now.
func (p *runPieces) mayBegin() bool {
	return bytes.IndexByte(p.states, bus.PieceWaiting) >= 0 && (p.atOnce == 0 || p.out() < p.atOnce)
}

// sendAll triggers pieces, as far as b has room and the runs' limits allow.
func (ps *pieces) sendAll(b *builder) {
	for most := piecesAtOnce; len(ps.sending) > 0; {
		a := ps.sending[0]
		n, full := ps.send(b, a, most)
		if most -= n; full {
			return
		}
		a.pieces.sending = false
		ps.sending = ps.sending[1:]
	}
}

// send triggers at most that many pieces of a run, and returns how many, and whether
// there are more that may be triggered.
func (ps *pieces) send(b *builder, a *watchedRun, most int) (n int, full bool) {
	if a.over || a.stage != triggered || ps.cluster.noRoom(a.job.Group()) != "" {
		return 0, false
	}
	p := a.pieces
	out := p.out()
	for index := bytes.IndexByte(p.states, bus.PieceWaiting); index >= 0 && (p.atOnce == 0 || out < p.atOnce); out++ {
		if n == most || !b.fits(2) { // the piece, and the item
			return n, true
		}
		ps.changed(b, a)
		ps.sendPiece(b, a, index)
		n++
		next := bytes.IndexByte(p.states[index:], bus.PieceWaiting)
		if next < 0 {
			break
		}
		index += next
	}
	return n, false
}

func (ps *pieces) sendPiece(b *builder, a *watchedRun, index int) {
	p := a.pieces
	p.states[index] = bus.PieceTriggered
	t := b.encode(a.job, a.attempt)
	t.Piece = bus.Piece{Index: index, Total: p.total()}
	if len(p.Instances) > 0 {
		t.Prefer = p.Instances[index]
	}
	if len(p.Items) > 0 {
		t.Item = p.Items[index]
	}
	if within := p.StartWithin.Std(); within > 0 {
		p.StartBy = b.now.Add(within)
		t.StartBy = p.StartBy
	}
	b.send(t, p.body)
}

// changed marks a run's progress as unwritten; write writes it once per batch. The caller has found
// room for a message.
func (ps *pieces) changed(b *builder, a *watchedRun) {
	if !a.pieces.changed {
		a.pieces.changed = true
		ps.unwritten = append(ps.unwritten, a)
		b.promised++
	}
}

// write adds the items of runs whose progress is unwritten.
func (ps *pieces) write(b *builder) {
	b.promised -= len(ps.unwritten)
	for _, a := range ps.unwritten {
		a.pieces.changed = false
		if !a.over {
			b.items.release(a.item)
			a.item = b.waitIn(a.pieces.deferred(a.due), a)
		}
	}
	ps.unwritten = ps.unwritten[:0]
}
