package scheduler

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// What an executor group may have waiting in a stream of triggers. An absent executor must cost its own
// group its runs, and no other group anything. See docs/adr/022.
const (
	// measureRoomEvery is how often a node looks. In between, a group may exceed its share by what
	// the nodes store in that time.
	measureRoomEvery = time.Second
	// reservedPart is which part of a stream is kept for ends, cancellations and cursors: a tenth.
	reservedPart = 10
	// groupPart is which part of the room that is left a group may have waiting: a third. As each
	// group's share shrinks with what others take, the room never goes to zero.
	groupPart = 3
	// refusedFor is for how long no run begins after NATS has refused a batch for want of room.
	refusedFor = 5 * time.Second
	// largestTrigger is more than most triggers have, in bytes. A group that would be within its
	// share with triggers as large as this is not measured more closely.
	largestTrigger = 256 << 10
	// samples is how many triggers of a group are read to estimate how large they are.
	samples = 16
	// messageOverhead is about what a message takes on a stream beside its body, in bytes.
	messageOverhead = 300
)

// DefaultGroupWaiting is how many runs of an executor group may wait unless configured otherwise.
const DefaultGroupWaiting = 1_000_000

// room is what a node knows of the room in the stream of triggers of one partition.
type room struct {
	mu      sync.Mutex
	begun   int64 // bytes up to which runs begin; 0: no measurement yet, or no limit
	used    int64 // bytes, as last measured
	written int64 // bytes that this node has stored since
	refused time.Time
	groups  map[string]cluster.FullGroup // that are full
	current *shard.Room
}

// get returns which room there is; nil: there is room for everybody.
func (r *room) get(now time.Time) *shard.Room {
	r.mu.Lock()
	defer r.mu.Unlock()
	reserved := r.begun > 0 && r.used+r.written >= r.begun || !r.refused.IsZero() && now.Before(r.refused.Add(refusedFor))
	if !reserved && len(r.groups) == 0 {
		r.current = nil
		return nil
	}
	if c := r.current; c != nil && c.Reserved == reserved && len(c.Full) == len(r.groups) {
		same := true
		for group := range r.groups {
			same = same && c.Full[group]
		}
		if same {
			return c
		}
	}
	r.current = &shard.Room{Full: map[string]bool{}, Reserved: reserved}
	for group := range r.groups {
		r.current.Full[group] = true
	}
	return r.current
}

// wrote notes that messages were stored.
func (r *room) wrote(messages []*nats.Msg) {
	n := int64(0)
	for _, m := range messages {
		n += int64(len(m.Data)) + messageOverhead
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written += n
}

// refuse notes that NATS has refused a batch for want of room.
func (r *room) refuse(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = now
}

// put notes a measurement. before is what written was when it began.
func (r *room) put(used, begun, before int64, groups map[string]cluster.FullGroup) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used, r.begun, r.groups = used, begun, groups
	r.written -= before
}

func (r *room) stored() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.written
}

func (r *room) fullGroups() map[string]cluster.FullGroup {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.groups
}

// rooms are the rooms of all partitions.
type rooms struct {
	*node
	lanes []*lane
	all   []room // by partition
}

// of returns what is known of the room in the stream of a shard's triggers.
func (r *rooms) of(number int) *room {
	return &r.all[r.conn.Cluster().Partitions.Of(number)]
}

// watch measures the room in the streams of triggers until ctx is done.
func (r *rooms) watch(ctx context.Context) {
	tick := time.NewTicker(measureRoomEvery)
	defer tick.Stop()
	for {
		for partition, stream := range r.conn.Trigs() {
			if err := r.measure(ctx, partition, stream); err != nil && ctx.Err() == nil {
				r.log.DebugContext(ctx, "room in stream not measured", "stream", stream, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// measure measures the room in the stream of one partition. The groups are looked at only when
// one of them may have more than its share.
func (r *rooms) measure(ctx context.Context, partition int, stream string) error {
	of := &r.all[partition]
	before := of.stored()
	info, err := r.conn.Info(ctx, stream)
	if err != nil {
		return err
	}
	used, most := int64(info.State.Bytes), info.Config.MaxBytes //nolint:gosec // a stream has fewer
	limit := cluster.FullGroup{MaxRuns: max(r.cfg.GroupWaiting/r.conn.Cluster().Partitions.Count(), 1)}
	begun := int64(0)
	if limit.MaxBytes = math.MaxInt64; most > 0 {
		begun = most - most/reservedPart
		limit.MaxBytes = max(begun-used, 0) / groupPart
	}
	full := map[string]cluster.FullGroup{}
	if used > limit.MaxBytes || info.State.Msgs*bus.MaxTriggers > uint64(limit.MaxRuns) { //nolint:gosec // not negative
		if full, err = r.measureShares(ctx, partition, stream, limit); err != nil {
			return err
		}
	}
	r.logFull(ctx, of.fullGroups(), full)
	of.put(used, begun, before, full)
	return nil
}

// logFull logs which groups have become full, and which have room again.
func (r *rooms) logFull(ctx context.Context, was, is map[string]cluster.FullGroup) {
	for group, f := range is {
		if _, known := was[group]; !known {
			r.log.inSteps.WarnContext(ctx, "too many runs wait: further ones of the group are missed", "executor_group", group, "runs", f.Runs, "bytes", f.Bytes, "max_bytes", f.MaxBytes, "max_runs", f.MaxRuns)
		}
	}
	for group := range was {
		if _, still := is[group]; !still {
			r.log.inSteps.InfoContext(ctx, "room for runs of the group again", "executor_group", group)
		}
	}
}

// measureShares returns the groups that have more waiting in a stream than they may.
func (r *rooms) measureShares(ctx context.Context, partition int, stream string, limit cluster.FullGroup) (map[string]cluster.FullGroup, error) {
	runs, err := r.waitingMessages(ctx, stream)
	if err != nil {
		return nil, err
	}
	sizes, err := r.waitingElsewhere(ctx, partition)
	if err != nil {
		return nil, err
	}
	full := map[string]cluster.FullGroup{}
	for group, n := range runs {
		size := int64(n) * largestTrigger
		if sizes[group]+size > limit.MaxBytes || n*bus.MaxTriggers >= limit.MaxRuns {
			mean, err := r.meanMessage(ctx, stream, group)
			if err != nil {
				return nil, err
			}
			size, runs[group] = int64(n)*mean.bytes, n*mean.sampledRuns/max(mean.samples, 1)
		}
		sizes[group] += size
	}
	for group, size := range sizes {
		if n := runs[group]; size > limit.MaxBytes || n >= limit.MaxRuns {
			f := limit
			f.Group, f.Runs, f.Bytes = group, n, size
			full[group] = f
		}
	}
	return full, nil
}

// waitingMessages returns how many messages with triggers of each group are on a stream.
func (r *rooms) waitingMessages(ctx context.Context, stream string) (map[string]int, error) {
	counts, err := r.conn.Bulk().CountBySubject(ctx, stream, bus.SubjectAllTriggers)
	if err != nil {
		return nil, err
	}
	runs := map[string]int{}
	for subject, n := range counts {
		runs[subject[strings.LastIndexByte(subject, '.')+1:]] += int(n) //nolint:gosec // a stream has fewer
	}
	return runs, nil
}

// waitingElsewhere returns how many bytes each group keeps on the stream of a partition beside
// triggers, in the node's shards.
func (r *rooms) waitingElsewhere(ctx context.Context, partition int) (map[string]int64, error) {
	sizes := map[string]int64{}
	for _, l := range r.lanes {
		of, ok := ask(ctx, l, func() map[string]int64 {
			of := map[string]int64{}
			for _, sh := range l.shards {
				if r.conn.Cluster().Partitions.Of(sh.shard) == partition {
					sh.machine.Waiting(of)
				}
			}
			return of
		})
		if !ok {
			return nil, context.Cause(ctx)
		}
		for group, n := range of {
			sizes[group] += n
		}
	}
	return sizes, nil
}

// meanMessage is what some of a group's messages with triggers have.
type meanMessage struct {
	bytes                int64 // each
	sampledRuns, samples int   // in all of them
}

// meanMessage estimates how many bytes and runs a group's messages with triggers on a stream have, by some of
// them.
func (r *rooms) meanMessage(ctx context.Context, stream, group string) (mean meanMessage, err error) {
	subject := bus.SubjectTriggersOf(group)
	total := int64(0)
	add := func(m *jet.Stored) {
		mean.samples++
		mean.sampledRuns += runsIn(m)
		total += sizeOf(m)
		mean.bytes = total / int64(mean.samples)
	}
	last, err := r.conn.Last(ctx, stream, subject)
	if err == nil {
		var first *jet.Stored
		if first, err = r.conn.Next(ctx, stream, subject, 1); err == nil {
			add(first)
			add(last)
			for i := range uint64(samples) {
				from := first.Seq + (last.Seq-first.Seq)*i/samples
				m, err := r.conn.Next(ctx, stream, subject, from+rand.Uint64N((last.Seq-first.Seq)/samples+1)) //nolint:gosec // a sample
				if err == nil {
					add(m)
				} else if !errors.Is(err, jet.ErrNoMessage) {
					return mean, err
				}
			}
			return mean, nil
		}
	}
	if errors.Is(err, jet.ErrNoMessage) {
		return mean, nil // the last one has been taken meanwhile
	}
	return mean, err
}

// runsIn returns how many triggers a message has.
func runsIn(m *jet.Stored) int {
	if !bus.IsPack(m.Header) {
		return 1
	}
	return bytes.Count(m.Data, []byte{'\n'}) + 1
}

// sizeOf returns about how many bytes a message has on a stream.
func sizeOf(m *jet.Stored) int64 { return int64(len(m.Data)) + messageOverhead }
