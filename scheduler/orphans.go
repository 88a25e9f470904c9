package scheduler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// orphansEvery is how often an owner looks for orphans, and orphanAge how long ago an
	// attempt must have been triggered to be looked at. Together with askWait and barrierWait
	// they end an orphan at its second look, within a minute.
	orphansEvery = 15 * time.Second
	orphanAge    = 12 * time.Second
	// sureAfter is how long after its first look an orphan is ended. At one look, a NATS server that
	// was cut off, and takes itself for the leader, may answer in between: it lacks the newest
	// triggers, and the instances that came last.
	sureAfter = 10 * time.Second
	// barrierWait is how long an owner waits until it has read its own barrier. Then it
	// tries again the next time.
	barrierWait = 15 * time.Second
	// askWait is how long the instances of a group have to say what they have. One that has not
	// answered at either look counts as gone.
	askWait = 2 * time.Second
)

// orphans finds attempts of a shard that can end in no other way. One goroutine uses it.
type orphans struct {
	*ownership
	suspects map[bus.AttemptRef]time.Time // since when they have had neither a trigger nor a holder
}

// end ends attempts that can end in no other way, until ctx is done. A trigger
// stays on TRIG for as long as its attempt lives, so an attempt without a trigger has
// ended, and if no end of it is stored either, none will be: an executor has answered the
// trigger and reported nothing, or nothing that could be read, or a stream has lost
// messages.
func (o *orphans) end(ctx context.Context) error {
	tick := time.NewTicker(orphansEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := o.endOnce(ctx); err != nil && ctx.Err() == nil {
			o.s.log.DebugContext(ctx, "orphans not looked for", "shard", o.shard, "error", err)
		}
	}
}

func (o *orphans) endOnce(ctx context.Context) error {
	out, _ := askShard(ctx, o.ownership, func(sh *laneShard) []*bus.Trigger { return sh.machine.Out(time.Now().Add(-orphanAge).UnixMilli()) })
	if len(out) == 0 {
		clear(o.suspects)
		return nil
	}
	gone, err := o.withoutTrigger(ctx, out)
	if err != nil {
		return err
	}
	if gone, err = o.withoutHolder(ctx, gone); err != nil || len(gone) == 0 {
		return err
	}
	if err := o.catchUp(ctx); err != nil {
		return err
	}
	lost, _ := askShard(ctx, o.ownership, func(sh *laneShard) []*bus.Trigger { return sh.machine.StillOut(gone) })
	var errs []error
	for _, t := range lost {
		o.s.log.inSteps.WarnContext(ctx, "run lost", "executor_group", t.Job.Group(), "job", t.Job, "run_id", t.RunID, "attempt", t.Attempt, "reason", cluster.Orphaned)
		o.s.metrics.orphans.Inc()
		errs = append(errs, o.s.conn.Events().EndRun(ctx, t, job.StatusLost, cluster.Orphaned))
	}
	return errors.Join(errs...)
}

// withoutTrigger returns the attempts that have no trigger on TRIG. It asks a leader that has the
// shard's cursor. While TRIG has a trigger of a later version, which may belong to any of them, it
// returns none.
func (o *orphans) withoutTrigger(ctx context.Context, out []*bus.Trigger) ([]*bus.Trigger, error) {
	there := map[bus.AttemptRef]bool{}
	missing := slices.Clone(out)
	read := func(group string, r jet.Reading) error {
		unread, err := o.s.conn.Bulk().Whereabouts().Triggers(ctx, o.shard, group, r, func(t cluster.StoredTrigger) bool {
			there[t.Ref()] = true
			return true
		})
		if later := errors.Is(unread, cluster.ErrLaterTrigger); err == nil {
			missing = slices.DeleteFunc(missing, func(t *bus.Trigger) bool { return later || there[t.Ref()] })
		}
		return err
	}
	// Any replica will do to find those that are there, and it is read by pages. Mostly
	// that is all of them.
	if err := read("*", jet.Reading{AnyReplica: true}); err != nil {
		return nil, err
	}
	groups := map[string]bool{}
	for _, t := range missing {
		groups[t.Job.Group()] = true
	}
	cursor := o.cursor.Load() // which was stored with the last of them
	for group := range groups {
		if err := read(group, jet.Reading{Known: cursor}); err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// withoutHolder returns those attempts that have been suspects for sureAfter, and that no instance
// of their group says to have.
func (o *orphans) withoutHolder(ctx context.Context, gone []*bus.Trigger) (free []*bus.Trigger, err error) {
	byGroup := map[string][]*bus.Trigger{}
	now, still := time.Now(), map[bus.AttemptRef]bool{}
	for _, t := range gone {
		byGroup[t.Job.Group()] = append(byGroup[t.Job.Group()], t)
		still[t.Ref()] = true
	}
	maps.DeleteFunc(o.suspects, func(r bus.AttemptRef, _ time.Time) bool { return !still[r] })
	for group, attempts := range byGroup {
		refs := make([]bus.AttemptRef, len(attempts))
		for i, t := range attempts {
			refs[i] = t.Ref()
		}
		found, err := o.s.conn.Whereabouts().HoldersInGroup(ctx, group, refs, askWait)
		if err != nil {
			return nil, err
		}
		for _, t := range attempts {
			switch since, known := o.suspects[t.Ref()]; {
			case found.Held[t.Ref()] != "":
				delete(o.suspects, t.Ref()) // it will report
			case !known:
				o.suspects[t.Ref()] = now
			case now.Sub(since) >= sureAfter:
				free = append(free, t)
			}
		}
	}
	return free, nil
}

// catchUp returns once the machine knows all events that were stored when it was called.
func (o *orphans) catchUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, barrierWait, fmt.Errorf("%w: the events of shard %d are not read yet", job.ErrUnavailable, o.shard))
	defer cancel()
	want, err := o.s.conn.Events().PutBarrier(ctx, o.shard)
	if err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case passed := <-o.passed:
			if passed >= want {
				return nil
			}
		}
	}
}
