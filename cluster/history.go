package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// kindHistory has the log store that keeps the cluster's history.
var kindHistory = jet.Kind[History]{Bucket: bus.BucketCluster, Prefix: "history", Name: func(string) string { return "the binding of the history" }}

// History says which log store keeps the history of a cluster.
type History struct {
	Store string    `json:"store"` // its identity
	Node  string    `json:"node"`  // the server that was the first to use it
	Host  string    `json:"host"`  // where that ran
	Since time.Time `json:"since"`
}

// Stores is which log store keeps the history of the cluster.
type Stores struct{ conn *Conn }

// Stores returns which log store keeps the history.
func (c *Conn) Stores() Stores { return Stores{c} }

// Bind notes that h keeps the cluster's history, unless another log store does: then the
// error is job.ErrConflict. Two stores would each have a part, and each take the other's runs for lost.
func (ss Stores) Bind(ctx context.Context, h History) error {
	if err := createThe(ctx, ss.conn, &kindHistory, h); err != nil {
		return err
	}
	is, err := readThe(ctx, ss.conn, &kindHistory)
	if err != nil {
		return err
	}
	if is.Store == h.Store {
		return nil
	}
	return fmt.Errorf("%w: the history of this cluster is in another log store, which server %s on host %s has used since %s. "+
		"Start this server with --roles scheduler,alert; or give all servers one ClickHouse with --store; "+
		"or, if that log store is gone or replaced, run \"carillon history release\" first",
		job.ErrConflict, is.Node, is.Host, is.Since.Format(time.RFC3339))
}

// Release lets the next log store that a server brings keep the cluster's history.
func (ss Stores) Release(ctx context.Context) error {
	return kindHistory.On(ss.conn.Conn).Remove(ctx, the, 0)
}
