package dispatch

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/doubling"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// expireEvery is the interval of checks for heartbeats that have ceased, and watchAgain
	// how long a watch that could not begin rests.
	expireEvery = time.Second
	watchAgain  = time.Second
)

// Config configures a dispatcher.
type Config struct {
	// Node tells the dispatcher from those of other nodes.
	Node string
	// Logger defaults to none, Registerer to none.
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Dispatcher serves the groups that have live instances.
type Dispatcher struct {
	conn    *cluster.Conn
	node    string
	log     *slog.Logger // in steps: groups can cause most lines
	metrics *metrics
	serving sync.WaitGroup

	searchFor time.Duration // that packs of ends are searched in a round

	presence  presence
	transfers atomic.Int32 // triggers that executors have handed over

	mu     sync.Mutex
	groups map[string]*group        // that have a live instance, or had one that gave something back
	live   int                      // how many have one
	known  map[string]cluster.Group // what is kept of all groups
}

// New returns a dispatcher.
func New(conn *cluster.Conn, cfg Config) (*Dispatcher, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	m, err := newMetrics(cfg.Registerer)
	if err != nil {
		return nil, err
	}
	return &Dispatcher{conn: conn, node: cfg.Node, log: doubling.Logger(cfg.Logger).With("component", "dispatch"), metrics: m, searchFor: searchFor, groups: map[string]*group{}, known: map[string]cluster.Group{}}, nil
}

// Run places triggers until ctx is done; then it gives back what it has. Every
// goroutine that it started has returned by then. It may be called once.
func (d *Dispatcher) Run(ctx context.Context) {
	defer d.serving.Wait()
	sub, err := d.conn.NC.Subscribe(bus.SubjectChosen("*"), d.noteChoice)
	if err != nil {
		d.log.WarnContext(ctx, "choices of other nodes not heard", "error", err)
	} else {
		defer func() { _ = sub.Unsubscribe() }()
	}
	for _, stream := range d.conn.Trigs() {
		sub, err := d.conn.NC.Subscribe(bus.NakAdvisories(stream), d.noteNak)
		if err != nil {
			d.log.WarnContext(ctx, "triggers that are given back not heard of", "stream", stream, "error", err)
			continue
		}
		defer func() { _ = sub.Unsubscribe() }()
	}
	groups := d.watch(ctx, d.conn.Groups().Watch)
	if groups == nil {
		return
	}
	defer func() { _ = groups.Stop() }()
	if !d.readGroups(ctx, groups) { // no group may be served as what it is not
		return
	}
	watch := d.watch(ctx, d.conn.Bulk().Instances().Watch)
	if watch == nil {
		return
	}
	defer func() { _ = watch.Stop() }()
	tick := time.NewTicker(expireEvery)
	defer tick.Stop()
	handed := make(chan *nats.Msg, maxTransfers)
	hands, err := d.conn.NC.ChanQueueSubscribe(bus.SubjectHand("*"), "dispatchers", handed)
	if err != nil {
		d.log.WarnContext(ctx, "triggers that executors hand over not heard of", "error", err)
	} else {
		defer func() { _ = hands.Unsubscribe() }()
	}
	known := false // what there is has been told
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case e := <-groups.Updates():
			d.applyGroup(ctx, e)
		case e := <-watch.Updates():
			if e == nil {
				known = true
				continue
			}
			d.presence.noteRevision(e.Revision())
			heard := time.Now()
			if !known && e.Created().Before(heard) {
				heard = e.Created() // by somebody else, perhaps long ago
			}
			d.applyHeartbeat(ctx, e, heard)
		case m := <-handed:
			d.answerTransfer(ctx, m)
		case now := <-tick.C:
			d.probe(ctx)
			d.tick(ctx, now)
		}
	}
}

// consumers returns the durable consumers of that name on all streams of triggers.
func (d *Dispatcher) consumers(name string) []bus.Consumer {
	return d.conn.Cluster().Partitions.Consumers(name)
}

// readGroups reads the groups that there are. It returns false when ctx is done.
func (d *Dispatcher) readGroups(ctx context.Context, groups jetstream.KeyWatcher) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case e := <-groups.Updates():
			if e == nil {
				return ctx.Err() == nil
			}
			d.applyGroup(ctx, e)
		}
	}
}

// applyGroup applies an entry of the bucket of groups.
func (d *Dispatcher) applyGroup(ctx context.Context, e jetstream.KeyValueEntry) {
	if e == nil || e.Operation() != jetstream.KeyValuePut {
		return
	}
	known, err := cluster.DecodeGroup(e.Value())
	if err != nil {
		d.log.ErrorContext(ctx, "group unusable", "executor_group", e.Key(), "error", err)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known[e.Key()] = known
	if g := d.groups[e.Key()]; g != nil {
		g.as = known
		d.settleLocked(ctx, g)
	}
}

// watch begins to follow a bucket. It returns nil when ctx is done.
func (d *Dispatcher) watch(ctx context.Context, begin func(context.Context) (jetstream.KeyWatcher, error)) jetstream.KeyWatcher {
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		w, err := begin(ctx)
		if err == nil {
			return w
		}
		d.log.DebugContext(ctx, "bucket not watched yet", "error", err)
		rest.Reset(watchAgain)
		select {
		case <-ctx.Done():
			return nil
		case <-rest.C:
		}
	}
}

// applyHeartbeat applies a heartbeat, or the deletion of one when an instance leaves.
func (d *Dispatcher) applyHeartbeat(ctx context.Context, e jetstream.KeyValueEntry, heard time.Time) {
	name, instance, ok := strings.Cut(e.Key(), ".")
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	g := d.groups[name]
	if e.Operation() != jetstream.KeyValuePut {
		if g != nil {
			g.forget(instance)
			d.settleLocked(ctx, g)
		}
		return
	}
	beat, err := bus.ParseHeartbeat(e.Key(), e.Value())
	if err != nil {
		return // not one of ours
	}
	if g == nil {
		g = newGroup(d, name)
		g.as = d.known[name]
		d.groups[name] = g
	}
	g.applyHeartbeat(beat, heard)
	g.direct(ctx, instance)
	d.settleLocked(ctx, g)
}

// tick drops instances whose heartbeat has ceased.
func (d *Dispatcher) tick(ctx context.Context, now time.Time) {
	since, current := d.presence.sinceWhen()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, g := range d.groups {
		if current { // else a heartbeat that is missing says nothing
			g.expire(now, since)
		}
		d.settleLocked(ctx, g)
	}
}

// settleLocked begins or ends serving a group, as it has live instances or not.
func (d *Dispatcher) settleLocked(ctx context.Context, g *group) {
	known, open := g.count()
	if !g.as.Routed() {
		open = 0 // its executors pull all that it has
	}
	if g.stop != nil && (open == 0 || g.as.Routed() != g.served.Routed() || g.as.Governed() != g.served.Governed() || g.as.GroupLimits != g.served.GroupLimits) {
		g.stop()
		g.stop = nil
	}
	if open > 0 && g.stop == nil {
		serving, stop := context.WithCancel(ctx)
		g.stop, g.served = stop, g.as
		as := g.as
		d.serving.Go(func() { defer stop(); g.serve(serving, as) })
	}
	if live := known > 0; live != g.live {
		if g.live = live; live {
			d.live++
		} else {
			d.live--
		}
		d.metrics.groups.Set(float64(d.live))
	}
	if known == 0 && open == 0 && !g.naks.any() { // what was given back must not count as a death
		delete(d.groups, g.name)
	}
}

// choice is what dispatchers tell each other, for routes that look back.
type choice struct {
	Node     string   `json:"node"`
	Job      job.Name `json:"job"`
	Instance string   `json:"instance"`
}

// publishChoice informs the dispatchers of other nodes which instance got a run.
func (d *Dispatcher) publishChoice(group string, name job.Name, instance string) {
	data, err := json.Marshal(choice{Node: d.node, Job: name, Instance: instance})
	if err == nil {
		err = d.conn.NC.Publish(bus.SubjectChosen(group), data)
	}
	if err != nil {
		d.log.Debug("choice not told", "error", err)
	}
}

// noteChoice notes which instance another node has chosen.
func (d *Dispatcher) noteChoice(m *nats.Msg) {
	var c choice
	if json.Unmarshal(m.Data, &c) != nil || c.Node == d.node {
		return
	}
	d.mu.Lock()
	g := d.groups[c.Job.Group()]
	d.mu.Unlock()
	if g != nil {
		g.note(c.Job, c.Instance)
	}
}
