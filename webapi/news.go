package webapi

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"carillon/bus"
	"carillon/job"
)

const (
	// editionEvery is how often readers are told what has changed since.
	editionEvery = 250 * time.Millisecond
	// editionsKept is how many editions a reader that was away may have missed, a
	// minute of them.
	editionsKept = 240
	// editionsBefore is how many of the last editions a new reader gets: it may have
	// asked for what it shows just before them.
	editionsBefore = 8
	// namesPerTopic is how many jobs, or groups, are named at once; of more it is only
	// said in which groups.
	namesPerTopic = 100
	// newsQueue is how many messages wait for the gatherer. What overflows is made up
	// for by saying that anything may have changed.
	newsQueue = 4096
)

// topic is a kind of thing that changes. The words are those of the contract.
type topic string

// The topics of GET /events.
const (
	topicJobs      topic = "jobs"
	topicRuns      topic = "runs"
	topicExecutors topic = "executors"
	topicCluster   topic = "cluster"
	topicAlerts    topic = "alerts"
)

var topics = []topic{topicJobs, topicRuns, topicExecutors, topicCluster, topicAlerts}

// changed says what of a topic has changed. Its size is bounded whatever happens:
// beyond some names only their groups are known, and a reader that does not keep up
// gets the union of what it has not read yet.
type changed struct {
	names  map[string]struct{} // jobs as group/name, or groups of executors
	groups map[string]struct{} // in which more has changed than is named; "" is any
}

// add notes a name, which belongs to a group.
func (c *changed) add(group, name string) {
	if _, ok := c.groups[""]; ok {
		return
	}
	if len(c.names) >= namesPerTopic {
		if _, known := c.names[name]; !known {
			c.more(group)
		}
		return
	}
	if c.names == nil {
		c.names = map[string]struct{}{}
	}
	c.names[name] = struct{}{}
}

// more notes that something of a group has changed that is not named, of any if the
// group is empty.
func (c *changed) more(group string) {
	if _, ok := c.groups[""]; ok {
		return
	}
	if group == "" || len(c.groups) >= namesPerTopic {
		c.groups = map[string]struct{}{"": {}}
		return
	}
	if c.groups == nil {
		c.groups = map[string]struct{}{}
	}
	c.groups[group] = struct{}{}
}

func (c *changed) merge(other changed) {
	for name := range other.names {
		group, _, _ := strings.Cut(name, "/")
		c.add(group, name)
	}
	for group := range other.groups {
		c.more(group)
	}
}

// news tells open pages what has changed, so that they need not keep asking. It
// listens to the bus only while somebody reads.
//
// An edition is what changed within a quarter of a second. A reader that was cut off
// gets the editions since, if they are still kept, else it is told to load all anew.
type news struct {
	conn *bus.Conn
	log  *slog.Logger

	wanted chan struct{} // has a value while there may be readers and nobody gathers

	mu      sync.Mutex
	since   string // names this gathering: editions of another do not go on with it
	edition uint64
	past    []map[topic]changed // the newest last; its number is edition
	next    map[topic]*changed
	readers map[*reader]struct{}
}

// reader is one open page.
type reader struct {
	topics []topic
	waked  chan struct{} // has a value when there is something to read

	// Guarded by news.mu.
	unread map[topic]*changed
	reload bool
}

func newNews(conn *bus.Conn, log *slog.Logger) *news {
	return &news{conn: conn, log: log, wanted: make(chan struct{}, 1), next: map[topic]*changed{}, readers: map[*reader]struct{}{}}
}

// run gathers while there are readers, until ctx is done.
func (n *news) run(ctx context.Context) error {
	retry := time.NewTicker(rewatch)
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-n.wanted:
		}
		for n.read() && ctx.Err() == nil {
			if err := n.gather(ctx); err != nil && ctx.Err() == nil {
				n.log.WarnContext(ctx, "news interrupted", "error", err)
				select {
				case <-ctx.Done():
				case <-retry.C:
				}
			}
		}
	}
}

// read reports whether anybody reads.
func (n *news) read() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.readers) > 0
}

// subscribe adds a reader that has had the editions up to the one that lastID names,
// if it names one. The reader must be given back to unsubscribe.
func (n *news) subscribe(of []topic, lastID string) *reader {
	r := &reader{topics: of, waked: make(chan struct{}, 1), unread: map[topic]*changed{}}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.readers[r] = struct{}{}
	if lastID != "" {
		n.catchUp(r, lastID)
	} else {
		for _, edition := range n.past[max(0, len(n.past)-editionsBefore):] {
			r.take(edition)
		}
	}
	select {
	case n.wanted <- struct{}{}:
	default:
	}
	return r
}

func (n *news) unsubscribe(r *reader) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.readers, r)
}

// catchUp has r read what it missed, or load all anew.
func (n *news) catchUp(r *reader, lastID string) {
	since, number, _ := strings.Cut(lastID, ".")
	had, err := strconv.ParseUint(number, 10, 64)
	if err != nil || since != n.since || had > n.edition || n.edition-had > uint64(len(n.past)) {
		r.reload = true
		r.wake()
		return
	}
	for _, edition := range n.past[uint64(len(n.past))-(n.edition-had):] {
		r.take(edition)
	}
}

func (r *reader) wake() {
	select {
	case r.waked <- struct{}{}:
	default:
	}
}

// take adds an edition to what r has not read yet.
func (r *reader) take(edition map[topic]changed) {
	for t, c := range edition {
		if !slices.Contains(r.topics, t) {
			continue
		}
		if r.unread[t] == nil {
			r.unread[t] = &changed{}
		}
		r.unread[t].merge(c)
		r.wake()
	}
}

// rest returns what r has not read, and the id after which it goes on; reload is true
// when it is to load all anew.
func (n *news) rest(r *reader) (unread map[topic]*changed, id string, reload bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	unread, reload = r.unread, r.reload
	r.unread, r.reload = map[topic]*changed{}, false
	return unread, n.since + "." + strconv.FormatUint(n.edition, 10), reload
}

// note adds to the next edition.
func (n *news) note(t topic, group, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.readers) == 0 {
		return
	}
	n.at(t).add(group, name)
}

// noteMore adds to the next edition that more has changed in a group, "" for any.
func (n *news) noteMore(t topic, group string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at(t).more(group)
}

func (n *news) at(t topic) *changed {
	if n.next[t] == nil {
		n.next[t] = &changed{}
	}
	return n.next[t]
}

// crowded reports whether what follows of a topic will not be named.
func (n *news) crowded(t topic) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.next[t]
	return c != nil && len(c.names) >= namesPerTopic
}

// publish gives readers the next edition, if there is anything in it.
func (n *news) publish() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.next) == 0 {
		return
	}
	edition := make(map[topic]changed, len(n.next))
	for t, c := range n.next {
		edition[t] = *c
	}
	n.next = map[topic]*changed{}
	n.edition++
	if len(n.past) == editionsKept {
		n.past = slices.Delete(n.past, 0, 1)
	}
	n.past = append(n.past, edition)
	for r := range n.readers {
		r.take(edition)
	}
}

// begin starts another gathering. What was before it nobody has heard, so whoever reads
// by now loads everything anew.
func (n *news) begin(at time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.since, n.edition, n.past = strconv.FormatInt(at.UnixMilli(), 36), 0, nil
	n.next = map[topic]*changed{}
	for r := range n.readers {
		r.reload = true
		r.wake()
	}
}

// gather listens to the bus until nobody reads any more. Jobs are told by the index.
func (n *news) gather(ctx context.Context) error {
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

// hear takes in what an executor, an owner or somebody who marks them says of runs.
func (n *news) hear(m *nats.Msg) {
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
		if e, err := bus.DecodeEvent(m.Subject, m.Header, m.Data, n.conn.Cluster().Shards); err == nil {
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

func (f *follower) hear(n *news, e jetstream.KeyValueEntry) {
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
	var lease bus.Lease
	if e.Operation() != jetstream.KeyValuePut || json.Unmarshal(e.Value(), &lease) != nil {
		return ""
	}
	return lease.Node
}
