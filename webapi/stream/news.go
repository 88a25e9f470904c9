package stream

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
)

const (
	// editionEvery is how often readers are told what has changed since.
	editionEvery = 250 * time.Millisecond
	// editionsKept is how many editions a reader that was away may have missed, a
	// minute of them.
	editionsKept = 240
	// regather is how long to wait before gathering again after the bus went away.
	regather = time.Second
)

// News tells open pages what has changed, so that they need not keep asking. It
// listens to the bus only while somebody reads.
//
// An edition is what changed within a quarter of a second. A reader that was cut off
// gets the editions since then. If they are not kept any more, it is told to load
// everything again.
type News struct {
	conn *cluster.Conn
	log  *slog.Logger

	wanted chan struct{} // has a value while there may be readers and nobody gathers

	mu      sync.Mutex
	gathers bool   // a new reader misses nothing from now on
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

// NewNews returns news of what happens on a bus, once Run runs.
func NewNews(conn *cluster.Conn, log *slog.Logger) *News {
	return &News{conn: conn, log: log, wanted: make(chan struct{}, 1), next: map[topic]*changed{}, readers: map[*reader]struct{}{}}
}

// Run gathers while there are readers, until ctx is done. It begins when jobs is closed: from
// then on, JobChanged hears of each change of a job. A reader that loads everything earlier would
// miss the changes in between.
func (n *News) Run(ctx context.Context, jobs <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return nil
	case <-jobs:
	}
	retry := time.NewTicker(regather)
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
func (n *News) read() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.readers) > 0
}

// subscribe adds a reader that has had the editions up to the one that lastID names. A reader that has
// had none is told to load everything again, because what it shows may be older than the stream.
// The reader must be given back to unsubscribe.
func (n *News) subscribe(of []topic, lastID string) *reader {
	r := &reader{topics: of, waked: make(chan struct{}, 1), unread: map[topic]*changed{}}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.readers[r] = struct{}{}
	switch {
	case lastID != "":
		n.catchUp(r, lastID)
	case n.gathers:
		r.reload = true
		r.wake()
	}
	select {
	case n.wanted <- struct{}{}:
	default:
	}
	return r
}

func (n *News) unsubscribe(r *reader) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.readers, r)
}

// catchUp gives r what it missed, or tells it to load everything again.
func (n *News) catchUp(r *reader, lastID string) {
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
// if it must load everything again.
func (n *News) rest(r *reader) (unread map[topic]*changed, id string, reload bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	unread, reload = r.unread, r.reload
	r.unread, r.reload = map[topic]*changed{}, false
	return unread, n.since + "." + strconv.FormatUint(n.edition, 10), reload
}

// note adds to the next edition.
func (n *News) note(t topic, group, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.readers) == 0 {
		return
	}
	n.at(t).add(group, name)
}

// noteMore adds to the next edition that more has changed in a group, "" for any.
func (n *News) noteMore(t topic, group string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at(t).more(group)
}

func (n *News) at(t topic) *changed {
	if n.next[t] == nil {
		n.next[t] = &changed{}
	}
	return n.next[t]
}

// crowded reports whether what follows of a topic will not be named.
func (n *News) crowded(t topic) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.next[t]
	return c != nil && len(c.names) >= namesPerTopic
}

// publish gives readers the next edition, if there is anything in it.
func (n *News) publish() {
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

// end says that nobody gathers until the next begin.
func (n *News) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gathers = false
}

// begin starts another gathering. Changes before it were missed, so the present readers
// load everything again.
func (n *News) begin(at time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gathers = true
	n.since, n.edition, n.past = strconv.FormatInt(at.UnixMilli(), 36), 0, nil
	n.next = map[topic]*changed{}
	for r := range n.readers {
		r.reload = true
		r.wake()
	}
}
