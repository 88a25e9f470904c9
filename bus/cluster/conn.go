package cluster

import (
	"context"
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

	cluster Config     // set by Setup or Open
	tokens  bus.Tokens // the same
	room    room
}

// Connect is [jet.Connect] for a server.
func Connect(cfg jet.Config) (*Conn, error) { return server(jet.Connect(cfg)) }

// Await is [jet.Await] for a server.
func Await(ctx context.Context, cfg jet.Config) (*Conn, error) { return server(jet.Await(ctx, cfg)) }

func server(conn *jet.Conn, err error) (*Conn, error) {
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: conn}, nil
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
