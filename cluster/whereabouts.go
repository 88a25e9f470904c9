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

// StoredTrigger is a trigger on its stream.
type StoredTrigger struct {
	*bus.Trigger
	Seq uint64
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
		t, err := bus.DecodeTrigger(m.Header, m.Data)
		switch {
		case bus.UnknownTrigger(m.Header):
			unreadable = ErrLaterTrigger // whatever else there is
		case err == nil:
			return yield(StoredTrigger{t, m.Seq})
		case unreadable == nil:
			unreadable = err
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

// Ends returns the ends and starts of attempts that were stored since an instant, up to now, on the subjects
// of shards, which are of one partition, and in packs. A barrier says how far who answers must have come: a
// NATS server that was cut off may lack an end, and take itself for the leader. The error is
// job.ErrUnavailable.
func (w Whereabouts) Ends(ctx context.Context, shards []int, group string, since time.Time) (Ends, error) {
	known, err := w.conn.Events().PutBarrier(ctx, shards[0])
	if err != nil {
		return Ends{}, err
	}
	ends := Ends{Ended: map[bus.AttemptRef]bool{}, Begun: map[bus.AttemptRef]Begin{}, Known: known}
	filters := []string{bus.SubjectEnds(w.conn.Cluster().Partitions.Of(shards[0]), group)}
	for _, shard := range shards {
		filters = append(filters, bus.SubjectEvent(shard, group))
	}
	for _, filter := range filters {
		err = w.conn.Read(ctx, jet.Reading{Stream: w.conn.EvtOf(shards[0]), Filter: filter, Since: since, Known: known}, func(m *jet.Stored) bool {
			ends.add(w.conn.Events().Decode(m.Subject, m.Header, m.Data, m.At))
			return true
		})
		if err != nil {
			return ends, err
		}
	}
	return ends, nil
}

// add enters the events of a message. One that is refused here is refused by every reader: it ends
// nothing.
func (es *Ends) add(all iter.Seq2[*bus.Event, error]) {
	for e, err := range all {
		switch {
		case err != nil:
		case e.Kind == bus.EventFinished:
			es.Ended[e.Ref()] = true
		case e.Kind == bus.EventStarted:
			es.Begun[e.Ref()] = Begin{e.Instance, e.Delivery}
		}
	}
}
