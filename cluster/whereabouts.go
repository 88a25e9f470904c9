package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// Whereabouts answers what became of attempts, by three questions: is the trigger of an attempt on its
// stream, does an instance have the attempt, is its end stored? If the answer to all three is no, the
// attempt is lost. Instances are asked before ends are read: an end may be stored in between.
type Whereabouts struct{ conn *Conn }

// Whereabouts answers over c. Reads are long, so most callers use [Conn.Bulk].
func (c *Conn) Whereabouts() Whereabouts { return Whereabouts{c} }

// StoredTrigger is a trigger on its stream, in a message of its own or in a pack.
type StoredTrigger struct {
	*bus.Trigger
	Seq    uint64
	Packed bool
}

// ErrLaterTrigger is that there is a trigger of a later version, which may belong to any attempt.
var ErrLaterTrigger = fmt.Errorf("%w: a trigger of a later version is stored; upgrade all servers first", job.ErrUnavailable)

// Triggers calls yield with the triggers of a shard for a group, or for all groups if that is "*", until
// yield returns false. read says who may answer, as [jet.Reading] does; its stream and filter are not
// used. unreadable is why some could not be decoded: [ErrLaterTrigger], or an *InvalidError. err is
// job.ErrUnavailable; what was yielded is void then.
func (w Whereabouts) Triggers(ctx context.Context, shard int, group string, read jet.Reading, yield func(StoredTrigger) bool) (unreadable, err error) {
	read.Stream, read.Filter = w.conn.TrigOf(shard), bus.SubjectTriggers(shard, group)
	err = w.conn.Read(ctx, read, func(m *jet.Stored) bool {
		all, err := bus.DecodeTriggers(m.Header, m.Data)
		if bus.UnknownTrigger(m.Header) {
			unreadable = ErrLaterTrigger // whatever else there is
			return true
		}
		if err != nil && unreadable == nil {
			unreadable = err
		}
		for _, t := range all {
			if !yield(StoredTrigger{t, m.Seq, bus.IsPack(m.Header)}) {
				return false
			}
		}
		return true
	})
	return unreadable, err
}

// Holders is what the instances of a group say of attempts.
type Holders struct {
	// Held and Reported tell which instance said so.
	Held, Reported map[bus.AttemptRef]string
	// Silent are the instances that have not answered, though they may be alive: any of them may have
	// an attempt that no other has.
	Silent []string
}

// Holders asks instances of a group which of the attempts they have, all at once and
// for no longer than timeout. Only they know: what has been delivered to whom is told by
// nothing else. There may be any number of attempts.
func (w Whereabouts) Holders(ctx context.Context, instances []bus.Address, attempts []bus.AttemptRef, timeout time.Duration) Holders {
	found := Holders{Held: map[bus.AttemptRef]string{}, Reported: map[bus.AttemptRef]string{}}
	if len(attempts) == 0 {
		return found
	}
	var mu sync.Mutex // guards found
	var asking sync.WaitGroup
	for _, instance := range instances {
		asking.Go(func() {
			for from := 0; from < len(attempts); from += bus.MaxAttemptsAsked {
				batch := attempts[from:min(from+bus.MaxAttemptsAsked, len(attempts))]
				said, err := w.ask(ctx, instance, batch, timeout)
				mu.Lock()
				if err != nil {
					found.Silent = append(found.Silent, instance.Instance())
				}
				for i, custody := range said {
					switch custody {
					case fleet.CustodyHeld:
						found.Held[batch[i]] = instance.Instance()
					case fleet.CustodyReported:
						found.Reported[batch[i]] = instance.Instance()
					case fleet.CustodyNone:
					}
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	asking.Wait()
	return found
}

// HoldersInGroup is [Whereabouts.Holders] of all instances of a group that have been heard of
// lately, those included that may be gone.
func (w Whereabouts) HoldersInGroup(ctx context.Context, group string, attempts []bus.AttemptRef, timeout time.Duration) (Holders, error) {
	instances, err := w.conn.Instances().addresses(ctx, group)
	if err != nil {
		return Holders{}, err
	}
	return w.Holders(ctx, instances, attempts, timeout), nil
}

// ask asks one instance.
func (w Whereabouts) ask(ctx context.Context, instance bus.Address, attempts []bus.AttemptRef, timeout time.Duration) ([]fleet.Custody, error) {
	body, err := json.Marshal(bus.AttemptsRequest{Attempts: attempts})
	if err != nil {
		return nil, fmt.Errorf("encode question about attempts: %w", err)
	}
	reply, err := w.conn.AskInstance(ctx, instance, bus.VerbAttempts, nil, body, timeout)
	if err != nil {
		return nil, err
	}
	if len(reply.Attempts) != len(attempts) {
		return nil, fmt.Errorf("ask instance %s about attempts: it answered for %d of %d", instance, len(reply.Attempts), len(attempts))
	}
	return reply.Attempts, nil
}

// Ends is what is stored of the attempts of a group.
type Ends struct {
	Ended map[bus.AttemptRef]bool
	// Begun has the last start of each attempt.
	Begun map[bus.AttemptRef]Begin
	// Known is the sequence of the stream of events up to which this is so.
	Known uint64
}

// Begin is the start of an attempt, as its instance has reported it.
type Begin struct {
	Instance string
	Delivery int
}

// Ends returns the ends and starts of attempts that were stored as events since an instant, up to now. The
// attempts are of one group and partition, and one at least. Of a trigger that names a subject for reports,
// the end may be in a pack instead: see [Whereabouts.SearchPacks]. A barrier says how far who answers must
// have come: a NATS server that was cut off may lack an end, and take itself for the leader. The error is
// job.ErrUnavailable.
func (w Whereabouts) Ends(ctx context.Context, attempts []*bus.Trigger, since time.Time) (Ends, error) {
	first := attempts[0].Shard
	known, err := w.conn.Events().PutBarrier(ctx, first)
	if err != nil {
		return Ends{}, err
	}
	ends := Ends{Ended: map[bus.AttemptRef]bool{}, Begun: map[bus.AttemptRef]Begin{}, Known: known}
	refs, shards := map[bus.AttemptRef]bool{}, map[int]bool{}
	for _, t := range attempts {
		refs[t.Ref()], shards[t.Shard] = true, true
	}
	of := seek(refs)
	for shard := range shards {
		read := jet.Reading{Stream: w.conn.EvtOf(first), Filter: bus.SubjectEvent(shard, attempts[0].Job.Group()), Since: since, Known: known}
		err := w.conn.Read(ctx, read, func(m *jet.Stored) bool {
			for e := range w.events(m, of) {
				switch e.Kind {
				case bus.EventFinished:
					ends.Ended[e.Ref()] = true
				case bus.EventStarted:
					ends.Begun[e.Ref()] = Begin{e.Instance, e.Delivery}
				case bus.EventProgress, bus.EventHeld:
				}
			}
			return true
		})
		if err != nil {
			return ends, err
		}
	}
	return ends, nil
}

// AllEnds is [Whereabouts.Ends] with those in packs. It reads all packs of that time.
func (w Whereabouts) AllEnds(ctx context.Context, attempts []*bus.Trigger, since time.Time) (Ends, error) {
	ends, err := w.Ends(ctx, attempts, since)
	if err != nil {
		return ends, err
	}
	inPacks := map[bus.AttemptRef]bool{}
	for _, t := range attempts {
		if t.Report != "" {
			inPacks[t.Ref()] = true
		}
	}
	if len(inPacks) == 0 {
		return ends, nil
	}
	packs := Packs{w.conn.cluster.Partitions.Of(attempts[0].Shard), attempts[0].Job.Group(), ends.Known}
	first, err := w.FirstPack(ctx, packs, since)
	if err != nil {
		return ends, err
	}
	next, err := w.SearchPacks(ctx, packs, first, time.Time{}, inPacks, func(ref bus.AttemptRef) { ends.Ended[ref] = true })
	if err == nil && next <= ends.Known {
		err = fmt.Errorf("%w: packs of ends of group %s: a replica that lags behind has answered", job.ErrUnavailable, packs.Group)
	}
	return ends, err
}

// events returns what a message says of attempts. What is refused here is refused by every reader: it
// ends nothing.
func (w Whereabouts) events(m *jet.Stored, of sought) iter.Seq[*bus.Event] {
	return func(yield func(*bus.Event) bool) {
		for e, err := range w.conn.Events().DecodeAbout(m, func(run []byte) bool { return of.runs[job.RunID(run)] }) {
			if err == nil && of.attempts[e.Ref()] && !yield(e) {
				return
			}
		}
	}
}

// sought is attempts that are looked for, and their runs.
type sought struct {
	attempts map[bus.AttemptRef]bool
	runs     map[job.RunID]bool
}

func seek(attempts map[bus.AttemptRef]bool) sought {
	runs := make(map[job.RunID]bool, len(attempts))
	for ref := range attempts {
		runs[ref.RunID] = true
	}
	return sought{attempts, runs}
}

// Packs are packs of ends of a group, in a partition.
type Packs struct {
	Partition int
	Group     string
	// Known is the sequence of a message on the stream of events that is stored after them: [Ends.Known].
	Known uint64
}

// FirstPack returns the sequence of the first of packs that was stored since an instant, or that of the
// message after them all. The error is job.ErrUnavailable.
func (w Whereabouts) FirstPack(ctx context.Context, in Packs, since time.Time) (uint64, error) {
	first := in.Known
	read := jet.Reading{Stream: w.conn.cluster.Partitions.Evt(in.Partition), Filter: bus.SubjectEnds(in.Partition, in.Group), Since: since, Known: in.Known}
	err := w.conn.Read(ctx, read, func(m *jet.Stored) bool {
		first = min(first, m.Seq)
		return false
	})
	return first, err
}

// SearchPacks calls found for attempts whose ends are in packs from a sequence on, until an instant, or to
// the end if that is zero. It returns the sequence at which to continue: after Known, it has searched all.
// Of a long time there may be gigabytes. The error is job.ErrUnavailable; what was found is true all the
// same.
func (w Whereabouts) SearchPacks(ctx context.Context, in Packs, from uint64, until time.Time, attempts map[bus.AttemptRef]bool, found func(bus.AttemptRef)) (next uint64, err error) {
	stream, filter, of := w.conn.cluster.Partitions.Evt(in.Partition), bus.SubjectEnds(in.Partition, in.Group), seek(attempts)
	err = w.conn.Read(ctx, jet.Reading{Stream: stream, Filter: filter, From: from, AnyReplica: true}, func(m *jet.Stored) bool {
		if m.Seq > in.Known {
			return false
		}
		for e := range w.events(m, of) {
			found(e.Ref())
		}
		from = m.Seq + 1
		return until.IsZero() || time.Now().Before(until)
	})
	if err != nil {
		return from, err
	}
	switch left, err := w.conn.NextSeq(ctx, stream, []string{filter}, from, in.Known); {
	case err != nil:
		return from, err
	case left == 0 || left > in.Known:
		return in.Known + 1, nil
	}
	return from, nil
}
