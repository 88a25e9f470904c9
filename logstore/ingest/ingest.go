package ingest

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus/doubling"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

// LeaseKey is the role that one ingester of a cluster has.
const LeaseKey = "role.ingest"

// Config says how to ingest. The zero value works.
type Config struct {
	// Node names this process in the lease. Defaults to "ingest".
	Node string
	// MaxBatch bounds the messages of one write. Twice as many take ClickHouse three
	// quarters of the time for each. Defaults to 20000.
	MaxBatch int
	// Linger is how long the first message of a batch waits for others, and so what
	// ingest adds to the time until an event shows. Defaults to 250ms: with
	// less, writing the first runs of a burst takes time from starting the others.
	Linger time.Duration
	// Logger hears of taking over, and of what is refused. Defaults to none.
	Logger *slog.Logger
	// Metrics takes the collectors. Defaults to a registry that nobody reads.
	Metrics prometheus.Registerer
}

func (c Config) withDefaults() Config {
	if c.Node == "" {
		c.Node = "ingest"
	}
	if c.MaxBatch == 0 {
		c.MaxBatch = 20_000
	}
	if c.Linger == 0 {
		c.Linger = 250 * time.Millisecond
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Metrics == nil {
		c.Metrics = prometheus.NewRegistry()
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.MaxBatch < 0:
		return &job.InvalidError{Field: "MaxBatch", Reason: "must be 1 or more"}
	case c.Linger < 0:
		return &job.InvalidError{Field: "Linger", Reason: "must not be negative"}
	}
	return nil
}

// Ingest fills a store from the bus.
type Ingest struct {
	conn    *cluster.Conn
	store   logstore.Store
	cfg     Config
	log     *slog.Logger
	inSteps *slog.Logger // log, for lines that executors can cause
	metrics *metrics
	refused *refusals
	teller  *teller
}

// New returns an ingester that has not begun. conn's Setup or Open must have
// returned.
func New(conn *cluster.Conn, store logstore.Store, cfg Config) (*Ingest, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	in := &Ingest{conn: conn, store: store, cfg: cfg, log: cfg.Logger, inSteps: doubling.Logger(cfg.Logger), teller: newTeller(conn)}
	var err error
	if in.metrics, err = newMetrics(cfg.Metrics, in.streams()); err != nil {
		return nil, err
	}
	in.refused = newRefusals(cfg.Logger, in.metrics)
	return in, nil
}

// Run ingests whenever it holds the lease, until ctx is done. It returns nil after
// an orderly stop; no trouble of the bus or the store ends it.
func (in *Ingest) Run(ctx context.Context) error {
	in.conn.Lead(ctx, LeaseKey, in.cfg.Node, in.log, in.lead)
	return nil
}

// Bind notes that a store keeps the cluster's history. The error is job.ErrConflict when another
// does: it must not be filled, or each would have a part.
func Bind(ctx context.Context, conn *cluster.Conn, store logstore.Store, node string) error {
	id, err := store.Identity(ctx)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return conn.Stores().Bind(ctx, cluster.History{Store: id, Node: node, Host: host, Since: time.Now().UTC().Truncate(time.Second)})
}

// bind waits until it is known that the store keeps the cluster's history, or that it does not.
func (in *Ingest) bind(ctx context.Context) error {
	for again := newBackoff(); ; {
		err := Bind(ctx, in.conn, in.store, in.cfg.Node)
		switch {
		case err == nil, ctx.Err() != nil:
			return err
		case errors.Is(err, job.ErrConflict):
			in.log.ErrorContext(ctx, "nothing ingested", "error", err)
			return err
		}
		in.log.WarnContext(ctx, "log store not identified", "error", err)
		_ = again.Wait(ctx)
	}
}

// lead ingests for as long as the lease lasts.
func (in *Ingest) lead(ctx context.Context, _ *jet.Lease) error {
	if err := in.bind(ctx); err != nil {
		return err
	}
	in.metrics.active.Set(1)
	defer in.metrics.active.Set(0)
	g, feeding := errgroup.WithContext(ctx)
	g.Go(func() error { in.measure(feeding); return nil })
	g.Go(func() error { in.measurePace(feeding); return nil })
	g.Go(func() error { return in.teller.run(feeding) })
	ofRuns := map[*seenRuns][]*feed{} // those of each partition, which has its runs to itself
	for _, f := range in.feeds() {
		if f.lock != nil {
			ofRuns[f.seen] = append(ofRuns[f.seen], f)
			continue
		}
		g.Go(func() error { return f.run(feeding) })
	}
	for _, feeds := range ofRuns {
		g.Go(func() error {
			if err := in.settle(feeding, feeds); err != nil {
				return err
			}
			for _, f := range feeds {
				g.Go(func() error { return f.run(feeding) })
			}
			return nil
		})
	}
	return g.Wait()
}
