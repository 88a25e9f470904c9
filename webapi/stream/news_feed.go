package stream

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// newsQueue is how many messages wait for the gatherer. What overflows is made up for by
// saying that anything may have changed.
const newsQueue = 4096

// gather listens to the bus until nobody reads any more. Jobs are told by the index.
func (n *News) gather(ctx context.Context) error {
	defer n.end()
	heard := make(chan *nats.Msg, newsQueue)
	var subs subscriptions
	defer func() { subs.stop() }()
	for _, subject := range []string{bus.SubjectEvents("*"), bus.SubjectMarks("*"), bus.SubjectRecords} {
		sub, err := n.conn.NC.ChanSubscribe(subject, heard)
		if err != nil {
			return fmt.Errorf("%w: subscribe to %s: %w", job.ErrUnavailable, subject, err)
		}
		subs = append(subs, sub)
	}
	var watches []jetstream.KeyWatcher
	defer func() {
		for _, w := range watches {
			_ = w.Stop()
		}
	}()
	watch := func(w jetstream.KeyWatcher, err error) (<-chan jetstream.KeyValueEntry, error) {
		if err != nil {
			return nil, err
		}
		watches = append(watches, w)
		return w.Updates(), nil
	}
	instances, err := watch(n.conn.WatchInstances(ctx))
	if err != nil {
		return err
	}
	leases, err := watch(n.conn.WatchLeases(ctx))
	if err != nil {
		return err
	}
	alerts, err := watch(n.conn.WatchAlerts(ctx, ">"))
	if err != nil {
		return err
	}
	hold, err := watch(n.conn.WatchHold(ctx))
	if err != nil {
		return err
	}
	held := follower{topic: topicCluster, last: map[string]string{}}
	beats := follower{topic: topicExecutors}
	rung := follower{topic: topicAlerts}
	switched := follower{topic: topicCluster}
	tick := time.NewTicker(editionEvery)
	defer tick.Stop()
	var dropped int
	begun := false
	for {
		// Before that, a watch tells of what there was.
		if !begun && held.begun && beats.begun && rung.begun && switched.begun {
			begun = true
			n.begin(time.Now())
		}
		select {
		case <-ctx.Done():
			return nil
		case m := <-heard:
			n.hear(m)
		case e, ok := <-instances:
			if !ok {
				return fmt.Errorf("%w: the watch on instances ended", job.ErrUnavailable)
			}
			beats.hear(n, e)
		case e, ok := <-leases:
			if !ok {
				return fmt.Errorf("%w: the watch on leases ended", job.ErrUnavailable)
			}
			held.hear(n, e)
		case e, ok := <-alerts:
			if !ok {
				return fmt.Errorf("%w: the watch on alerts ended", job.ErrUnavailable)
			}
			rung.hear(n, e)
		case e, ok := <-hold:
			if !ok {
				return fmt.Errorf("%w: the watch on the switch ended", job.ErrUnavailable)
			}
			switched.hear(n, e)
			if e != nil && switched.begun {
				n.notePause(cluster.GroupOfHold(e.Key()))
			}
		case <-tick.C:
			if lost := subs.dropped(); lost != dropped {
				dropped = lost
				n.noteMore(topicRuns, "")
			}
			if begun {
				n.publish()
			}
			if !n.read() {
				return nil
			}
		}
	}
}

// notePause says that a group has been paused or resumed, and with it its jobs.
func (n *News) notePause(group string) {
	if group != "" {
		n.note(topicExecutors, group, group)
		n.noteMore(topicJobs, group)
	}
}

// hear takes in what an executor, an owner or somebody who marks them says of runs.
func (n *News) hear(m *nats.Msg) {
	if bus.IsMark(m.Subject) {
		if mark, err := bus.DecodeMark(m.Header, m.Data); err == nil {
			n.note(topicRuns, mark.Job.Group(), string(mark.Job))
		}
		return
	}
	if _, group, ok := bus.ParseSubjectEvent(m.Subject); ok {
		if n.crowded(topicRuns) {
			n.noteMore(topicRuns, group)
			return
		}
		if e, err := n.conn.DecodeEvent(m.Subject, m.Header, m.Data, time.Now()); err == nil {
			n.note(topicRuns, e.Job.Group(), string(e.Job))
		}
		return
	}
	if n.crowded(topicRuns) {
		n.noteMore(topicRuns, "")
		return
	}
	// What cannot be read is of somebody else's making; ingest counts it.
	record, err := bus.DecodeRecord(m.Header, m.Data)
	if err != nil {
		return
	}
	for _, o := range record.Outcomes {
		for _, j := range o.Jobs {
			name, _, _ := strings.Cut(j, "@")
			n.note(topicRuns, job.Name(name).Group(), name)
		}
	}
}

// follower tells of the changes of a bucket: of all that come after what there was.
type follower struct {
	topic topic
	begun bool
	// last has the values of keys that are written again and again without a change.
	// Nil tells of every write.
	last map[string]string
}

func (f *follower) hear(n *News, e jetstream.KeyValueEntry) {
	if e == nil {
		f.begun = true
		return
	}
	if f.last != nil {
		holder := holderOf(e)
		if f.last[e.Key()] == holder {
			return // renewed
		}
		f.last[e.Key()] = holder
	}
	if !f.begun {
		return
	}
	if f.topic == topicExecutors {
		group, _, _ := strings.Cut(e.Key(), ".")
		n.note(f.topic, group, group)
		return
	}
	n.noteMore(f.topic, "")
}

// holderOf returns who holds the lease that an entry is of, "" when it has ended.
func holderOf(e jetstream.KeyValueEntry) string {
	var lease jet.Lease
	if e.Operation() != jetstream.KeyValuePut || json.Unmarshal(e.Value(), &lease) != nil {
		return ""
	}
	return lease.Node
}
