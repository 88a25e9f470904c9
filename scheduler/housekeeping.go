package scheduler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
)

const (
	floorEvery = 30 * time.Second
	// idleEvents is how far a shard that waits for events of its own may stay behind EVT.
	idleEvents     = 100
	tombstoneEvery = time.Hour
	scriptsEvery   = 6 * time.Hour
	// tombstoneAge is how long a deleted job's versions stay: long enough for any
	// shard to have decided the fires before the deletion.
	tombstoneAge = 30 * 24 * time.Hour
	stopWait     = 2 * time.Second
)

// housekeeper does what need not be done in time.
type housekeeper struct {
	*Scheduler
	measures       *measures
	trim           []trimmer               // by partition
	evts           []*jetstream.StreamInfo // by partition, those that checkEvents saw last; nil: it has not, or they were away
	keep           time.Duration           // trimKeep, which tests shorten
	reportedParked bool                    // the cluster knows of parked shards; of the goroutine that measures
}

// leads reports whether the node does what one node of the cluster has to do: it owns the first shard.
// If two did it, it would do no harm.
func (h *housekeeper) leads() bool {
	o := h.shards.get(0)
	return o != nil && o.ready.Load() && o.valid(time.Now())
}

// run does what need not be done in time, until ctx is done. What the cluster
// needs done once, the owner of the first shard does: its lease elects it.
func (h *housekeeper) run(ctx context.Context) error {
	cron, err := gocron.NewScheduler(
		gocron.WithLocation(time.UTC),
		gocron.WithStopTimeout(stopWait),
	)
	if err != nil {
		return fmt.Errorf("start housekeeping: %w", err)
	}
	for _, chore := range []struct {
		name  string
		every time.Duration
		do    func(context.Context) error
	}{
		{"write floors", floorEvery, h.writeFloors},
		{"check events", floorEvery, h.checkEvents},
		{"check jobs", floorEvery, h.checkJobs},
		{"trim events", trimEvery, h.trimEvents},
		{"find routed triggers", findRoutedEvery, h.findRouted},
		{"remove deleted jobs", tombstoneEvery, h.removeDeleted},
		{"measure", measureEvery, h.measure},
		{"remove unused scripts", scriptsEvery, h.removeScripts},
	} {
		_, err := cron.NewJob(
			gocron.DurationJob(chore.every),
			gocron.NewTask(func() {
				if err := chore.do(ctx); err != nil && ctx.Err() == nil {
					h.log.WarnContext(ctx, "housekeeping", "chore", chore.name, "error", err)
				}
			}),
			gocron.WithName(chore.name),
			gocron.WithSingletonMode(gocron.LimitModeReschedule),
		)
		if err != nil {
			return fmt.Errorf("plan chore %q: %w", chore.name, err)
		}
	}
	cron.Start()
	<-ctx.Done()
	if err := cron.Shutdown(); err != nil {
		return fmt.Errorf("stop housekeeping: %w", err)
	}
	return nil
}

// writeFloors keeps copies of the node's cursors outside of the stream.
func (h *housekeeper) writeFloors(ctx context.Context) error {
	var errs []error
	for _, o := range h.shards.all() {
		if !o.ready.Load() {
			continue
		}
		cursor, seq, err := h.readCursor(ctx, o.shard)
		if err == nil && seq != 0 {
			err = h.conn.Shards().PutFloor(ctx, cursor)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// checkEvents tells the machines that need no events how far those have come, so that
// they need not be read when the machines do. A shard whose position is in an EVT that is
// no more is taken over anew.
func (h *housekeeper) checkEvents(ctx context.Context) error {
	positions := map[*ownership]uint64{}
	for _, l := range h.lanes {
		of, ok := ask(ctx, l, func() map[*ownership]uint64 {
			of := make(map[*ownership]uint64, len(l.shards))
			for _, sh := range l.shards {
				of[sh.ownership] = sh.machine.Events.Seq()
			}
			return of
		})
		if !ok {
			return ctx.Err()
		}
		maps.Copy(positions, of)
	}
	n := h.conn.Cluster().Partitions
	ends := make([]*jetstream.StreamInfo, n.Count())
	errs := make([]error, n.Count())
	for p, stream := range h.conn.Evts() { // after the positions were read, which are not beyond it
		ends[p], errs[p] = h.conn.Info(ctx, stream)
	}
	before := h.evts
	h.evts = ends
	for _, l := range h.lanes {
		l.post(ctx, func() {
			for _, sh := range l.shards {
				seq, known := positions[sh.ownership]
				events := ends[n.Of(sh.shard)]
				if events == nil {
					continue // it is away
				}
				made, last := events.Created.UTC(), events.State.LastSeq
				switch {
				case known && !sh.machine.Events.Knows(seq, made, last):
					sh.lose("EVT was created again, or has lost its last messages", nil)
				case !sh.machine.NeedsEvents():
					// Nobody waits for the end of a run now, so no event that there was the last time concerns one. A later
					// one may be a ping of a job that the machine has not heard of yet.
					if was := before[n.Of(sh.shard)]; was != nil && was.Created.Equal(events.Created) {
						sh.machine.Events.Skip(was.State.LastSeq)
					}
				case last > sh.machine.Events.Seq()+idleEvents:
					// Events of other shards only, or it is behind. A barrier tells, once it is read.
					// One that is lost is made up for by the next.
					_ = h.conn.NC.Publish(bus.SubjectBarrier(sh.shard), nil)
				}
			}
		})
	}
	return errors.Join(errs...)
}

// removeDeleted removes the versions of jobs that were deleted long ago.
func (h *housekeeper) removeDeleted(ctx context.Context) error {
	if !h.leads() {
		return nil
	}
	return h.conn.Jobs().RemoveDeleted(ctx, time.Now().Add(-tombstoneAge))
}

// removeScripts removes the texts of scripts that no version uses any more.
func (h *housekeeper) removeScripts(ctx context.Context) error {
	if !h.leads() {
		return nil
	}
	removed, err := h.conn.Scripts().RemoveUnused(ctx)
	if removed > 0 {
		h.log.InfoContext(ctx, "unused scripts removed", "scripts", removed)
	}
	return err
}

// checkJobs gives up all shards if JOBS was created again, or has lost its last messages: what the node
// has read of it is no longer true.
func (h *housekeeper) checkJobs(ctx context.Context) error {
	f := h.feed.Load()
	select {
	case <-f.ready:
	default:
		return nil
	}
	delivered := f.current() // before the bucket is read, which is not behind it
	bucket, err := h.conn.Jobs().Info(ctx)
	if err != nil || bucket.Created.Equal(f.created) && bucket.State.LastSeq >= delivered {
		return err
	}
	h.feed.Store(newFeed(h.Scheduler))
	close(f.replaced)
	for _, o := range h.shards.all() {
		o.lose("JOBS was created again, or has lost its last messages", nil)
	}
	return nil
}

// findRouted has a consumer made for each group that has routed triggers on a stream and is not
// known as such: the node that stored them has died since.
func (h *housekeeper) findRouted(ctx context.Context) error {
	if !h.leads() {
		return nil
	}
	var errs []error
	for _, stream := range h.conn.Trigs() { // one that is away holds up no other one
		groups, err := h.conn.Groups().Routed(ctx, stream)
		errs = append(errs, err)
		for _, group := range groups {
			h.groups.route(ctx, group)
		}
	}
	return errors.Join(errs...)
}
