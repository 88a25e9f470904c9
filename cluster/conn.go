package cluster

import (
	"context"
	"log/slog"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

// Config is what is fixed when a cluster is made.
type Config struct {
	Shards     int            `json:"shards"`
	Partitions bus.Partitions `json:"partitions,omitempty"`
	CreatedAt  time.Time      `json:"created_at"`
}

// Conn is a server's connection. It is safe for concurrent use.
type Conn struct {
	*jet.Conn
	*shared

	bulk *Conn // see Bulk; nil: itself
}

// shared is what a connection and its bulk connection have in common.
type shared struct {
	first   *jet.Conn  // has the leases
	cluster Config     // set by Setup or Open
	tokens  bus.Tokens // the same
	room    room
	fleet   *fleetReader
	tallies tallies
	rooms   shareRooms
}

// Connect is [jet.Connect] for a server.
func Connect(cfg jet.Config) (*Conn, error) { return server(jet.Connect(cfg)) }

// Await is [jet.Await] for a server.
func Await(ctx context.Context, cfg jet.Config) (*Conn, error) { return server(jet.Await(ctx, cfg)) }

func server(conn *jet.Conn, err error) (*Conn, error) {
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: conn, shared: &shared{first: conn, fleet: &fleetReader{slot: make(chan struct{}, 1)}}}, nil
}

// OpenBulk opens the connection that [Conn.Bulk] returns, with the configuration of this one. Call it
// before others use c. Errors as Connect.
func (c *Conn) OpenBulk(cfg jet.Config) error {
	cfg.Name += " bulk"
	conn, err := jet.Connect(cfg)
	if err != nil {
		return err
	}
	c.bulk = &Conn{Conn: conn, shared: c.shared}
	return nil
}

// Bulk returns the connection for reads whose size others decide: of whole buckets and streams, and
// for requests of people. NATS closes a connection on which too much waits to be sent, and answers
// come in their turn. So what such reads take does not delay leases and batches, which are on c: also
// those that are acquired through Bulk. It is c itself if OpenBulk was not called.
func (c *Conn) Bulk() *Conn {
	if c.bulk == nil {
		return c
	}
	return c.bulk
}

// Close closes the connection, and its bulk connection.
func (c *Conn) Close() {
	if c.bulk != nil {
		c.bulk.NC.Close()
	}
	c.NC.Close()
}

// AcquireLease is that of the connection for leases; see [jet.Conn.AcquireLease].
func (c *Conn) AcquireLease(ctx context.Context, key, node string, extra any) (*jet.Lease, error) {
	return c.first.AcquireLease(ctx, key, node, extra)
}

// Lead is that of the connection for leases; see [jet.Conn.Lead].
func (c *Conn) Lead(ctx context.Context, key, node string, log *slog.Logger, do func(ctx context.Context, held *jet.Lease) error) {
	c.first.Lead(ctx, key, node, log, do)
}

// Cluster returns the cluster's fixed configuration. Setup or Open must have
// returned.
func (c *Conn) Cluster() Config { return c.cluster }

// TrigOf returns the name of the stream that has a shard's triggers; see [bus.Partitions].
func (c *Conn) TrigOf(shard int) string { return c.cluster.Partitions.TrigOf(shard) }

// EvtOf returns the name of the stream that has a shard's events.
func (c *Conn) EvtOf(shard int) string { return c.cluster.Partitions.EvtOf(shard) }

// Trigs returns the names of all streams of triggers.
func (c *Conn) Trigs() []string { return c.cluster.Partitions.Trigs() }

// Evts returns the names of all streams of events.
func (c *Conn) Evts() []string { return c.cluster.Partitions.Evts() }
