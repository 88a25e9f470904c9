package scheduler

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// scanEvery is how often a node asks whether there are new deferred items, and its owners look for those
// that others have left for their shards if so. Mostly they are nudged to; this is for nudges that were
// lost.
const scanEvery = time.Second

// sideEffects is what an owner has to do for its machine beyond the stream. All of it is
// found again by the next owner, should this one die before it is done.
type sideEffects struct {
	kills  []shard.Kill
	pauses []*shard.Pause
}

// afterCommit does what a stored batch asks for beyond the stream.
func (sh *laneShard) afterCommit(ctx context.Context, b *shard.Batch) {
	for _, n := range b.Nudges {
		sh.nudge(ctx, n)
	}
	sh.s.noteRouted(b.Routed)
	sh.kills = append(sh.kills, b.Kills...)
	sh.sendOut()
	sh.relayWords()
}

// sendOut hands over the side effects that have come up, unless some are being run.
func (sh *laneShard) sendOut() {
	e := sideEffects{kills: sh.kills, pauses: sh.machine.Failures.Pauses()}
	if sh.effects.busy || len(e.kills)+len(e.pauses) == 0 {
		return
	}
	sh.kills = nil
	sh.effects.submit(sh, e)
}

// runSideEffects ends runs and pauses jobs.
func (o *ownership) runSideEffects(ctx context.Context, e sideEffects) (done func(*laneShard)) {
	var kills errgroup.Group
	kills.SetLimit(maxCancels)
	for _, k := range e.kills {
		kills.Go(func() error { o.replace(ctx, k); return nil })
	}
	paused := o.pauseJobs(ctx, e.pauses)
	_ = kills.Wait()
	if wait := (pause.Backoff{Least: time.Second, Most: time.Second, Jitter: true}); len(paused) < len(e.pauses) && wait.Wait(ctx) != nil {
		return nil
	}
	return func(sh *laneShard) {
		for _, p := range paused {
			sh.machine.Failures.Paused(p)
		}
		sh.sendOut()
	}
}

// replace ends a run in whose place another waits, as often as that takes.
func (o *ownership) replace(ctx context.Context, k shard.Kill) {
	wait := pause.Backoff{Least: 100 * time.Millisecond, Most: 5 * time.Second, Jitter: true}
	for {
		_, err := o.cancelRun(ctx, bus.CancelRequest{RunID: k.RunID, Job: k.Job, Reason: k.Reason})
		if err == nil || errors.Is(err, job.ErrNotFound) {
			return
		}
		o.s.log.DebugContext(ctx, "run not replaced yet", "job", k.Job, "run_id", k.RunID, "error", err)
		if wait.Wait(ctx) != nil {
			return
		}
	}
}

// pauseJobs pauses jobs whose runs have failed too often. It returns those that need
// no further try.
func (o *ownership) pauseJobs(ctx context.Context, pauses []*shard.Pause) (done []*shard.Pause) {
	for _, p := range pauses {
		edit := cluster.Edit{At: time.Now(), Author: cluster.AuthorSelf, Note: p.Reason}
		_, err := o.s.conn.Jobs().Edit(ctx, p.Job, edit, func(v *job.Version) {
			// A job that somebody has edited since is not what failed.
			if v.Version == p.Version {
				v.Paused, v.PausedUntil = true, nil
			}
		})
		if err != nil && !errors.Is(err, job.ErrNotFound) {
			o.s.log.inSteps.WarnContext(ctx, "job not paused yet", "executor_group", p.Job.Group(), "job", p.Job, "error", err)
			continue
		}
		o.s.log.inSteps.InfoContext(ctx, "job paused", "executor_group", p.Job.Group(), "job", p.Job, "reason", p.Reason)
		done = append(done, p)
	}
	return done
}

// watchDeferred keeps s.deferred, until ctx is done: one question for all shards of the node and
// of a partition.
func (s *Scheduler) watchDeferred(ctx context.Context) {
	look := time.NewTicker(scanEvery)
	defer look.Stop()
	for {
		for p, stream := range s.conn.Trigs() {
			switch m, err := s.conn.Last(ctx, stream, bus.SubjectAllDeferred); {
			case err == nil:
				s.deferred[p].Store(m.Seq)
			case errors.Is(err, jet.ErrNoMessage):
				s.deferred[p].Store(0)
			case ctx.Err() == nil:
				s.log.DebugContext(ctx, "newest deferred item not read", "stream", stream, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

// scanDeferred tells the machine of deferred items that others have left for the shard, and reports
// whether it knows of all.
func (o *ownership) scanDeferred(ctx context.Context) bool {
	from, ok := askShard(ctx, o, func(sh *laneShard) uint64 { return sh.machine.LastItem() + 1 })
	if !ok {
		return false
	}
	var found []*jet.Stored
	err := o.s.conn.Read(ctx, jet.Reading{Stream: o.s.conn.TrigOf(o.shard), Filter: bus.SubjectDeferred(o.shard), From: from}, func(m *jet.Stored) bool {
		found = append(found, m)
		return true
	})
	if err != nil && ctx.Err() == nil {
		o.s.log.DebugContext(ctx, "deferred items not read", "shard", o.shard, "error", err)
	}
	if len(found) == 0 {
		return err == nil
	}
	return o.post(ctx, func(sh *laneShard) {
		for _, m := range found {
			if err := putDeferred(sh.machine, m); err != nil {
				o.s.log.ErrorContext(ctx, "deferred item unusable", "shard", o.shard, "error", err)
				o.s.metrics.unusable.Inc()
			}
		}
	}) && err == nil
}
