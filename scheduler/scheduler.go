package scheduler

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/scheduler/dispatch"
	"github.com/carillon-scheduler/carillon/scheduler/start"
)

// Config configures a node.
type Config struct {
	// Node names the node; no two live nodes may share a name. Defaults to the host's
	// name and a random number.
	Node string
	// Lanes is how many batches the node may have under way at once. Defaults to 2.
	Lanes int
	// GroupWaiting is how many runs of an executor group may wait. Defaults to [DefaultGroupWaiting].
	GroupWaiting int
	// Version is shown with the node.
	Version string
	// Logger defaults to none, Registerer to none.
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	// Tracer takes a span for each trigger. Defaults to none.
	Tracer trace.TracerProvider
}

func (c Config) withDefaults() Config {
	if c.Node == "" {
		c.Node = NodeName()
	}
	if c.Lanes == 0 {
		c.Lanes = 2
	}
	if c.GroupWaiting == 0 {
		c.GroupWaiting = DefaultGroupWaiting
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Registerer == nil {
		c.Registerer = prometheus.NewRegistry()
	}
	return c
}

// NodeName returns a name for a node that was given none: the host's, and a random
// number, so that two on one host differ.
func NodeName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "node"
	}
	return job.Slug(host, 40) + "-" + strconv.FormatUint(uint64(rand.Uint32()), 36) //nolint:gosec // a name, not a secret
}

// NodeInfo is what a node says of itself in its lease.
type NodeInfo struct {
	Version   string    `json:"version,omitempty"`
	Host      string    `json:"host"`
	PID       int       `json:"pid"`
	StartedAt time.Time `json:"started_at"`
	// ClockOffset is by how many seconds its clock is ahead of that of NATS, as last measured.
	ClockOffset float64 `json:"clock_offset_seconds"`
	// ClockWrong says that its clock is out of line, NATSClockWrong that most nodes agree and the
	// clock of NATS is out of line.
	ClockWrong     bool `json:"clock_wrong,omitempty"`
	NATSClockWrong bool `json:"nats_clock_wrong,omitempty"`
	// Yields says why the node owns no shards; "": it may.
	Yields string `json:"yields,omitempty"`
}

// node is what all parts of a node use. It does not change after New.
type node struct {
	conn    *cluster.Conn
	cfg     Config
	log     logs
	metrics *metrics
	tracer  trace.Tracer // nil: nobody traces
	planner *job.Planner
	clock   *clock
}

// Scheduler is one node.
type Scheduler struct {
	*node

	shards   *shards
	cluster  *clusterState
	feed     atomic.Pointer[feed]
	events   []*events // by partition
	lanes    []*lane   // each has shards of one partition only
	commits  *committer
	rooms    *rooms
	deferred *deferredItems
	groups   *groups
	routes   *dispatch.Dispatcher
	house    *housekeeper
}

// New returns a node. conn.Setup must have returned.
func New(conn *cluster.Conn, cfg Config) (*Scheduler, error) {
	cfg = cfg.withDefaults()
	if err := job.CheckSlug("node", cfg.Node); err != nil {
		return nil, err
	}
	if cfg.Lanes < 1 || cfg.Lanes > 64 {
		return nil, &job.InvalidError{Field: "lanes", Reason: fmt.Sprintf("%d must be between 1 and 64", cfg.Lanes)}
	}
	if cfg.GroupWaiting < 1 {
		return nil, &job.InvalidError{Field: "group-waiting", Reason: fmt.Sprintf("%d must be at least 1", cfg.GroupWaiting)}
	}
	m, err := newMetrics(cfg.Registerer)
	if err != nil {
		return nil, err
	}
	n := &node{
		conn: conn, cfg: cfg, metrics: m, planner: &job.Planner{}, clock: &clock{node: cfg.Node},
		log: newLogs(cfg.Logger.With("component", "scheduler", "node", cfg.Node)),
	}
	if cfg.Tracer != nil {
		n.tracer = cfg.Tracer.Tracer(traceName)
	}
	s := &Scheduler{node: n, shards: newShards()}
	if s.routes, err = dispatch.New(conn, dispatch.Config{Node: cfg.Node, Logger: cfg.Logger.With("node", cfg.Node), Registerer: cfg.Registerer}); err != nil {
		return nil, err
	}
	measures, err := newMeasures(s, cfg.Registerer)
	if err != nil {
		return nil, err
	}
	s.cluster = newClusterState(s)
	s.feed.Store(newFeed(s))
	partitions := conn.Cluster().Partitions.Count()
	for p, stream := range conn.Evts() {
		s.events = append(s.events, newEvents(s, p, stream))
	}
	// A lane stores the batches of its shards as one, which cannot be on two streams. Shards take
	// turns to belong to lanes, as to partitions, so that a multiple of these keeps them apart.
	for range (cfg.Lanes + partitions - 1) / partitions * partitions {
		s.lanes = append(s.lanes, newLane(s))
	}
	s.rooms = &rooms{node: n, lanes: s.lanes, all: make([]room, partitions)}
	s.commits = &committer{node: n, rooms: s.rooms}
	s.deferred = &deferredItems{node: n, newest: make([]atomic.Uint64, partitions)}
	s.groups = &groups{node: n, cluster: s.cluster, first: make(chan string, 64)}
	s.house = &housekeeper{
		Scheduler: s, measures: measures, trim: make([]trimmer, partitions), keep: trimKeep, evts: make([]*jetstream.StreamInfo, partitions),
	}
	return s, nil
}

// eventsOf returns what tells a shard of its events.
func (s *Scheduler) eventsOf(shard int) *events {
	return s.events[s.conn.Cluster().Partitions.Of(shard)]
}

// Owned returns how many shards the node fires for.
func (s *Scheduler) Owned() int { return len(s.shards.firing()) }

// Parked returns the shards of the node that do not fire, and why.
func (s *Scheduler) Parked() []cluster.ParkedShard { return s.shards.parkedShards() }

// Served returns how many of the cluster's shards have a node: this one, which fires for
// them, or another, which holds their leases.
func (s *Scheduler) Served() int { return s.Owned() + int(s.shards.others.Load()) }

// leastPayload is what max_payload of NATS should be; nats.conf has more.
const leastPayload = 4 << 20

// Run schedules until ctx is done, then releases its shards, so that other nodes go
// on at once. It returns nil after an orderly stop; every goroutine that it started
// has returned by then. JetStream may come and go meanwhile, for any time. Run may be
// called once.
func (s *Scheduler) Run(ctx context.Context) error {
	// Lanes work on until the shards are given back: whoever waits for a batch under
	// way, an asker or the next owner, is served best by its end.
	working, stopLanes := context.WithCancel(context.WithoutCancel(ctx))
	defer stopLanes()
	if n := s.conn.NC.MaxPayload(); n > 0 && n < leastPayload {
		s.log.WarnContext(ctx, "NATS takes small messages only: raise its max_payload, or a shard with large jobs may be parked", "max_payload", n, "want", leastPayload)
	}
	g, gctx := errgroup.WithContext(ctx)
	for _, l := range s.lanes {
		g.Go(func() error { l.run(working); return nil })
	}
	g.Go(func() error { s.cluster.follow(gctx); return nil })
	g.Go(func() error { s.followJobs(gctx); return nil })
	for _, v := range s.events {
		g.Go(func() error { v.run(gctx); return nil })
	}
	g.Go(func() error { s.groups.setup(gctx); return nil })
	g.Go(func() error { s.routes.Run(gctx); return nil })
	g.Go(func() error { s.deferred.watch(gctx); return nil })
	g.Go(func() error { return s.conn.Bulk().Bridges().Serve(gctx) })
	g.Go(func() error { return start.New(s.conn, s.cfg.Logger).Run(gctx) })
	g.Go(func() error { s.rooms.watch(gctx); return nil })
	g.Go(func() error { return s.house.run(gctx) })
	g.Go(func() error {
		defer stopLanes()
		s.holdShards(gctx, stopLanes)
		return nil
	})
	return g.Wait()
}
