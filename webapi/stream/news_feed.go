package stream

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
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
	w := n.watches()
	defer w.stop()
	if err := w.start(ctx); err != nil {
		return err
	}
	tick := time.NewTicker(editionEvery)
	defer tick.Stop()
	var dropped int
	begun := false
	for {
		// Before that, a watch tells of what there was.
		if !begun && w.begun() {
			begun = true
			n.begin(time.Now())
		}
		var err error
		select {
		case <-ctx.Done():
			return nil
		case m := <-heard:
			n.hear(m)
		case e, ok := <-w.instances.updates:
			err = w.instances.hear(n, e, ok)
		case e, ok := <-w.leases.updates:
			err = w.leases.hear(n, e, ok)
		case e, ok := <-w.alerts.updates:
			err = w.alerts.hear(n, e, ok)
		case e, ok := <-w.hold.updates:
			err = w.hold.hear(n, e, ok)
			if e != nil && w.hold.begun {
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
		if err != nil {
			return err
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

// hear notes the runs in a message of an executor, of a shard's owner or of the API.
func (n *News) hear(m *nats.Msg) {
	if bus.IsMark(m.Subject) {
		if mark, err := bus.DecodeMark(m.Header, m.Data); err == nil {
			n.note(topicRuns, mark.Job.Group(), string(mark.Job))
		}
		return
	}
	if group, ok := bus.GroupOfEvents(m.Subject); ok {
		if n.crowded(topicRuns) {
			n.noteMore(topicRuns, group)
			return
		}
		for e, err := range n.conn.Events().Decode(m.Subject, m.Header, m.Data, time.Now()) {
			if err == nil {
				n.note(topicRuns, e.Job.Group(), string(e.Job))
			}
		}
		return
	}
	if n.crowded(topicRuns) {
		n.noteMore(topicRuns, "")
		return
	}
	// What cannot be read is of somebody else's making; ingest counts it.
	record, err := journal.DecodeRecord(m.Header, m.Data)
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

// watches are the buckets whose changes are news.
type watches struct{ instances, leases, alerts, hold follower }

func (n *News) watches() *watches {
	return &watches{
		instances: follower{topic: topicExecutors, what: "instances", open: n.conn.Instances().Watch},
		leases:    follower{topic: topicCluster, what: "leases", open: n.conn.WatchLeases, last: map[string]string{}},
		alerts: follower{topic: topicAlerts, what: "alerts", open: func(ctx context.Context) (jetstream.KeyWatcher, error) {
			return n.conn.WatchAll(ctx, bus.BucketAlert)
		}},
		hold: follower{topic: topicCluster, what: "the switch", open: n.conn.Pauses().Watch},
	}
}

func (w *watches) all() []*follower {
	return []*follower{&w.instances, &w.leases, &w.alerts, &w.hold}
}

func (w *watches) start(ctx context.Context) error {
	for _, f := range w.all() {
		watcher, err := f.open(ctx)
		if err != nil {
			return err
		}
		f.stop, f.updates = watcher.Stop, watcher.Updates()
	}
	return nil
}

func (w *watches) stop() {
	for _, f := range w.all() {
		if f.stop != nil {
			_ = f.stop()
		}
	}
}

// begun reports whether all watches have told what there was before they started.
func (w *watches) begun() bool {
	return !slices.ContainsFunc(w.all(), func(f *follower) bool { return !f.begun })
}

// follower notes the changes of a bucket, but not what the bucket had before the watch.
type follower struct {
	topic   topic
	what    string // the bucket has, for errors
	open    func(context.Context) (jetstream.KeyWatcher, error)
	stop    func() error // nil before the watch has started
	updates <-chan jetstream.KeyValueEntry
	begun   bool
	// last has the values of keys that are written again and again without a change.
	// If it is nil, each write counts as a change.
	last map[string]string
}

// hear notes an entry. With open false, the watch has ended, which is an error.
func (f *follower) hear(n *News, e jetstream.KeyValueEntry, open bool) error {
	if !open {
		return fmt.Errorf("%w: the watch on %s ended", job.ErrUnavailable, f.what)
	}
	f.note(n, e)
	return nil
}

func (f *follower) note(n *News, e jetstream.KeyValueEntry) {
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
	var lease jet.LeaseRecord
	if e.Operation() != jetstream.KeyValuePut || json.Unmarshal(e.Value(), &lease) != nil {
		return ""
	}
	return lease.Node
}
