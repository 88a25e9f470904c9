package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// members is what a node knows of the cluster, and what it does about it: it keeps
// its own lease, takes shards that it should own and nobody does, and gives back
// those that another should own. One goroutine uses it.
type members struct {
	s      *Scheduler
	self   *jet.Lease        // on the node's name; nil: not held
	info   NodeInfo          // what the node says of itself
	nodes  map[string]member // by name
	owners map[int]owner     // of each shard that has one
	gaveUp map[int]string    // of shards whose last owner gave them up for its clock: what was wrong with that
	wg     sync.WaitGroup    // of the shards' and standbys' goroutines
	slots  chan struct{}     // bounds takeovers under way

	standbys map[int]*standby // of shards of other nodes
	readings chan struct{}    // bounds those that read at the beginning
	ahead    *readAhead       // for shards that nobody owns and that the node begins to own
	later    *readAhead       // for those that it begins to stand by for

	nats bool // the clock of NATS is wrong

	lastCount, loggedCount int // how many shards the node fired for at the last renewal, and when that was last logged
}

// member is what a node says in its lease, and when that was heard of.
type member struct {
	heard time.Time
	info  NodeInfo
}

// owner is who holds a shard's lease, and when it was last heard of.
type owner struct {
	node  string
	heard time.Time
}

const (
	// silence is how long after its last sign of life a lease has surely ended. Its end
	// is told, but not for ever: a node that was cut off for minutes does not hear of it.
	silence = jet.LeaseTTL + jet.LeaseRenew
	// takeovers is how many shards a node takes over at once: each reads all its jobs.
	takeovers = 8
	// failurePause is how long a node leaves a shard alone that it could not take over
	// or has lost, so that what is wrong for good is not tried without end.
	failurePause = time.Second
	// leaveWait is how long a stopping node waits for batches under way.
	leaveWait = 2 * time.Second
)

// holdShards holds what is the node's, until ctx is done; then it lets go of it,
// with the help of stopLanes should that take long.
func (s *Scheduler) holdShards(ctx context.Context, stopLanes func()) {
	m := &members{
		s: s, nodes: map[string]member{}, owners: map[int]owner{}, gaveUp: map[int]string{}, slots: make(chan struct{}, takeovers),
		standbys: map[int]*standby{}, readings: make(chan struct{}, readings), ahead: newReadAhead(s), later: newReadAhead(s),
	}
	watch := s.watch(ctx, s.conn.WatchLeases)
	if watch == nil {
		return
	}
	defer func() { _ = watch.Stop() }()
	host, _ := os.Hostname()
	m.info = NodeInfo{Version: s.cfg.Version, Host: host, PID: os.Getpid(), StartedAt: time.Now().UTC().Truncate(time.Millisecond)}
	m.checkClock(ctx)
	m.renew(ctx)
	renew := time.NewTicker(jet.LeaseRenew)
	defer renew.Stop()
	known := false // what there is has been told
	for ctx.Err() == nil {
		news := true
		select {
		case <-ctx.Done():
		case e := <-watch.Updates():
			if e != nil {
				news = m.apply(e)
			} else {
				known = true
			}
		case <-renew.C:
			m.checkClock(ctx)
			m.renew(ctx)
			m.expire(time.Now())
			m.logShards(ctx)
			m.later = m.startPass(ctx, m.later)
		}
		if news {
			m.countOthers()
		}
		if known && news && ctx.Err() == nil {
			m.assign(ctx)
		}
	}
	m.leave(ctx, stopLanes)
}

// logShards logs which shards the node fires for, and which it has lost, once that has settled:
// a start, or another node that joins or leaves, moves many of them at about the same time.
func (m *members) logShards(ctx context.Context) {
	m.logLosses(ctx, false)
	owned := m.s.shards.firing()
	now := len(owned)
	if now == m.lastCount && now != m.loggedCount {
		m.s.log.InfoContext(ctx, "shards owned", "count", now, "before", m.loggedCount, "of", m.s.conn.Cluster().Shards, "shards", ranges(owned))
		m.loggedCount = now
	}
	m.lastCount = now
}

// logLosses logs which shards the node has lost, at once if now.
func (m *members) logLosses(ctx context.Context, now bool) {
	if l := m.s.shards.takeLosses(now); len(l.shards) > 0 {
		m.s.log.WarnContext(ctx, "shards lost", "count", len(l.shards), "shards", ranges(l.shards), "reason", strings.Join(l.reasons, "; "), "error", l.err)
	}
}

// countOthers counts the shards whose lease another live node holds.
func (m *members) countOthers() {
	n := 0
	for shard, o := range m.owners {
		if _, alive := m.nodes[o.node]; alive && o.node != m.s.cfg.Node {
			n++
			m.s.shards.unpark(shard)
		}
	}
	m.s.shards.others.Store(int32(n))
}

// apply applies a change of the LEASE bucket. It reports whether it was more than a renewal.
func (m *members) apply(e jetstream.KeyValueEntry) bool {
	holder := ""
	var l jet.LeaseRecord
	if e.Operation() == jetstream.KeyValuePut {
		if json.Unmarshal(e.Value(), &l) == nil {
			holder = l.Node
		}
	}
	kind, rest, _ := strings.Cut(e.Key(), ".")
	switch kind {
	case "node":
		was, known := m.nodes[rest]
		if holder == "" {
			delete(m.nodes, rest)
			return known
		}
		is := member{heard: time.Now()}
		_ = json.Unmarshal(l.Info, &is.info) // another version's may say something else
		m.nodes[rest] = is
		return !known || was.info.Yields != is.info.Yields
	case "shard":
		n, err := strconv.Atoi(rest)
		if err != nil {
			return false
		}
		was := m.owners[n].node
		if holder != "" {
			m.owners[n] = owner{node: holder, heard: time.Now()}
			delete(m.gaveUp, n)
		} else {
			if info := m.nodes[was].info; info.ClockWrong {
				m.gaveUp[n] = outOfLine(was, seconds(info.ClockOffset))
			}
			delete(m.owners, n)
		}
		return was != holder
	}
	return false
}

// expire drops holders whose lease has not been renewed for too long.
func (m *members) expire(now time.Time) {
	maps.DeleteFunc(m.nodes, func(_ string, n member) bool { return now.Sub(n.heard) > silence })
	maps.DeleteFunc(m.owners, func(_ int, o owner) bool { return now.Sub(o.heard) > silence })
}

// renew keeps the node's lease and those on its shards.
func (m *members) renew(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, jet.LeaseRenew, errors.New("renewing leases took too long"))
	defer cancel()
	m.renewSelf(ctx)
	var g errgroup.Group
	g.SetLimit(16)
	for _, o := range m.s.shards.all() {
		held := o.held()
		if held == nil {
			continue
		}
		g.Go(func() error {
			err := held.Renew(ctx)
			if errors.Is(err, job.ErrStale) || !held.Valid(time.Now()) {
				o.lose("its lease ended", err)
			}
			return nil // one shard's trouble is not another's
		})
	}
	_ = g.Wait()
}

func (m *members) renewSelf(ctx context.Context) {
	s := m.s
	if m.self != nil {
		err := errors.Join(m.self.SetInfo(m.info), m.self.Renew(ctx))
		if errors.Is(err, job.ErrStale) {
			s.log.WarnContext(ctx, "node lease lost", "error", err)
			m.self = nil
		}
		return
	}
	held, err := s.conn.AcquireLease(ctx, "node."+s.cfg.Node, s.cfg.Node, m.info)
	switch {
	case errors.Is(err, job.ErrConflict):
		s.log.WarnContext(ctx, "another node has this name, or an earlier life of this one has just ended; waiting for its lease to end")
	case err != nil:
		s.log.WarnContext(ctx, "node lease not acquired", "error", err)
	default:
		m.self = held
	}
}

// checkClock compares the node's clock with that of NATS and with the other nodes', and notes
// what comes of it.
func (m *members) checkClock(ctx context.Context) {
	c, s := m.s.clock, m.s
	var others []time.Duration
	for name, n := range m.nodes {
		if name != s.cfg.Node {
			others = append(others, seconds(n.info.ClockOffset))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, maxAsking)
	defer cancel()
	c.measure(ctx, s.conn.ServerTime, others)
	offset, wrong, nats := c.state()
	was := m.info.Yields
	m.info.ClockOffset, m.info.NATSClockWrong, m.info.ClockWrong, m.info.Yields = offset.Seconds(), nats, false, ""
	switch usable := c.usable(); {
	case usable:
	case !wrong:
		m.info.Yields = "its clock has not been compared with that of NATS yet"
	case offset.Abs() > maxOffset:
		m.info.ClockWrong, m.info.Yields = true, "its clock is "+apart(offset)+" that of NATS"
	default:
		m.info.ClockWrong, m.info.Yields = true, "its clock is out of line with that of most servers"
	}
	switch {
	case was == "" && m.info.ClockWrong:
		s.log.ErrorContext(ctx, "clock out of line: the node owns no shards until it is right", "offset", offset)
	case was != "" && m.info.Yields == "":
		s.log.InfoContext(ctx, "clock in line", "offset", offset)
	}
	if nats != m.nats {
		m.nats = nats
		if nats {
			s.log.ErrorContext(ctx, "the clock of the NATS server that leads TRIG is wrong: most nodes agree on another time, and go on", "offset", offset)
		}
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// assign takes free shards that should be the node's, and drops those that should not.
func (m *members) assign(ctx context.Context) {
	if _, known := m.nodes[m.s.cfg.Node]; m.self == nil || !known {
		return // the others do not count on this node yet
	}
	if m.info.Yields != "" {
		for _, o := range m.s.shards.all() {
			o.cancel()
		}
	}
	var nodes []string // that may own shards
	for name, n := range m.nodes {
		if n.info.Yields == "" {
			nodes = append(nodes, name)
		}
	}
	if !slices.Contains(nodes, m.s.cfg.Node) {
		return
	}
	slices.Sort(nodes)
	for shard := range m.s.conn.Cluster().Shards {
		mine := preferred(shard, nodes) == m.s.cfg.Node
		o := m.s.shards.get(shard)
		switch {
		case mine && o == nil && m.owners[shard].node == "":
			m.own(ctx, shard)
		case !mine && o != nil:
			o.cancel() // another node's share: hand over
		case o == nil:
			m.standBy(ctx, shard, nodes)
		}
	}
	m.ahead = m.startPass(ctx, m.ahead)
}

// startPass starts a pass if a shard waits for it, and returns the next one to join. Standbys can join
// theirs until the next renewal, because shards move to another node one by one.
func (m *members) startPass(ctx context.Context, pass *readAhead) *readAhead {
	if len(pass.shards) == 0 {
		return pass
	}
	m.wg.Go(func() { pass.run(ctx) })
	return newReadAhead(m.s)
}

// own begins to own a shard.
func (m *members) own(ctx context.Context, shard int) {
	owning, cancel := context.WithCancel(ctx)
	o := newOwnership(m.s, shard, cancel)
	m.dropReplaced(shard)
	t := &takeover{ownership: o, standstill: m.gaveUp[shard], standby: m.standbys[shard]}
	if t.standby != nil {
		t.jobs, t.ahead = t.standby.jobs, closed // its owner is gone, so it cannot wait for a pass
		delete(m.standbys, shard)
	} else {
		t.jobs, t.ahead = m.ahead.join(shard)
	}
	m.s.shards.add(o)
	m.wg.Go(func() {
		defer cancel()
		defer m.s.shards.remove(shard)
		if o.run(owning, t, m.slots) {
			return
		}
		pause := time.NewTimer(o.pauseAfter())
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-ctx.Done():
		}
	})
}

// leave waits until all shards are given back, then gives up the node's name.
func (m *members) leave(ctx context.Context, stopLanes func()) {
	// JetStream may be away, and a lane would repeat its batch for as long as it
	// believes in a lease.
	patience := time.AfterFunc(leaveWait, stopLanes)
	defer patience.Stop()
	m.wg.Wait()
	m.logLosses(ctx, true)
	m.s.log.InfoContext(ctx, "shards released", "count", m.loggedCount)
	if m.self == nil {
		return
	}
	// The node's context is done, but others need not wait for the lease to end.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := m.self.Release(ctx); err != nil {
		m.s.log.WarnContext(ctx, "node lease not released", "error", err)
	}
}
