package scheduler

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// laneShard is a shard that a lane fires for: its machine, and who waits for what that commits. Only
// the lane's goroutine uses it.
type laneShard struct {
	*ownership
	machine *shard.Machine
	// background runs work until the shard's context is done. The lease is given back after it.
	background func(work func(context.Context))

	waiting    map[job.RunID]askers          // askers for runs that are not committed yet
	behind     map[job.RunID][]behind        // requests for a key that another request has, which is not committed yet
	cancelling map[job.RunID]askers          // askers for the end of runs that wait
	condemning map[job.RunID][]chan struct{} // closed once the end of a run counts as cancelled
	filling    map[shard.BackfillID]askers
	following  bool         // needEvents is closed
	kills      []shard.Kill // not handed over yet
	letters    int          // that wait to be sent, as the metrics count them
	ahead      bool         // the position is so far ahead of the clock that the shard counts as parked

	deletions outbox[[]uint64]
	effects   outbox[sideEffects]
	keys      outbox[[]journal.KeyedRun]
	relays    []outbox[letterBatch] // by partition
}

func newLaneShard(o *ownership, m *shard.Machine, background func(func(context.Context))) *laneShard {
	return &laneShard{
		ownership: o, machine: m, background: background,
		waiting: map[job.RunID]askers{}, cancelling: map[job.RunID]askers{}, condemning: map[job.RunID][]chan struct{}{}, filling: map[shard.BackfillID]askers{},
		deletions: outbox[[]uint64]{work: (*ownership).deleteReleased},
		effects:   outbox[sideEffects]{work: (*ownership).runSideEffects},
		behind:    map[job.RunID][]behind{},
		keys:      outbox[[]journal.KeyedRun]{work: (*ownership).putKeys},
		relays:    slices.Repeat([]outbox[letterBatch]{{work: (*ownership).storeLetters}}, bus.MaxPartitions),
	}
}

// maxAhead is by how much a position may be ahead of the clock of another node: both are right.
const maxAhead = 2 * maxOffset

// checkPosition notes when the position begins to be ahead of the clock, and when that has caught up.
// Meanwhile no job of the shard fires.
func (sh *laneShard) checkPosition(now time.Time) {
	ms := now.UnixMilli()
	by := time.Duration(sh.machine.Ahead(ms)) * time.Millisecond
	switch {
	case !sh.ahead && by > maxAhead:
		sh.ahead = true
		sh.machine.StoodStill(shard.Standstill{From: ms, To: now.Add(by).UnixMilli(), Reason: reason.PositionWasAhead.String()})
		why := reason.PositionAhead.With(sh.s.cfg.Node, roughly(by), now.Add(by).UTC())
		sh.s.shards.park(sh.shard, why)
		sh.s.log.Error("shard parked: its jobs do not fire", "shard", sh.shard, "reason", why)
	case sh.ahead && by == 0:
		sh.ahead = false
		sh.s.shards.unpark(sh.shard)
		sh.s.log.Info("shard goes on: the clock has caught up with its position", "shard", sh.shard)
	}
}

// due reports whether the shard's machine has something to do at now.
func (sh *laneShard) due(now int64) bool {
	at, ok := sh.machine.NextAt(now)
	return ok && at <= now
}

// startEvents starts the shard's event feed once its machine needs it.
func (sh *laneShard) startEvents() {
	if !sh.following && sh.machine.NeedsEvents() {
		sh.following = true
		close(sh.needEvents)
	}
}

// submitDeletions deletes deferred items that have had their effect.
func (sh *laneShard) submitDeletions() {
	if seqs := sh.machine.Released(); len(seqs) > 0 && !sh.deletions.busy {
		sh.deletions.submit(sh, slices.Clone(seqs))
	}
}

// publishRevision wakes requests that waited for the versions that the machine has now.
func (sh *laneShard) publishRevision() {
	sh.revision.Store(sh.machine.Heard())
	select {
	case sh.advanced <- struct{}{}:
	default: // a wake-up is pending
	}
}

// passBarrier records that the machine has all events up to a barrier.
func (sh *laneShard) passBarrier(seq uint64) {
	select {
	case <-sh.passed: // an older one, which nobody waits for
	default:
	}
	sh.passed <- seq // there is room for one, and the lane alone sends
}

// refuseAskers answers requests under way after the shard is lost.
func (sh *laneShard) refuseAskers() {
	if sh.letters > 0 {
		sh.s.metrics.letters.Sub(float64(sh.letters))
	}
	for _, waiting := range []map[job.RunID]askers{sh.waiting, sh.cancelling} {
		for id, w := range waiting {
			w.reply(sh.s, nil, fmt.Errorf("%w: shard %d has a new owner, and the outcome of the request for run %s is unknown; retry with the same run id", job.ErrUnavailable, sh.shard, id))
		}
	}
	for _, all := range sh.behind {
		for _, b := range all {
			sh.refuse(b.m, sh.gone())
		}
	}
	for key, w := range sh.filling {
		w.reply(sh.s, nil, fmt.Errorf("%w: shard %d has a new owner, and the outcome of the request for backfill %s is unknown; retry with the same id", job.ErrUnavailable, sh.shard, key.ID))
	}
}
