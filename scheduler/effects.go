package scheduler

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

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
	sh.s.groups.noteRouted(b.Routed)
	sh.kills = append(sh.kills, b.Kills...)
	sh.submitEffects()
	sh.storeKeys()
	sh.sendLetters()
}

// submitEffects starts the pending side effects, unless others are under way.
func (sh *laneShard) submitEffects() {
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
		sh.submitEffects()
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
