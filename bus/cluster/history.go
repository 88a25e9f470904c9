package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// keyHistory has the log store that keeps the cluster's history, as a [History].
const keyHistory = "history"

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
	kv, err := ss.conn.Bucket(ctx, bus.BucketCluster)
	if err != nil {
		return err
	}
	data, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("encode history: %w", err)
	}
	if err := createOnce(ctx, kv, keyHistory, data); err != nil {
		return fmt.Errorf("note which log store has the history: %w", err)
	}
	entry, err := ss.conn.Entry(ctx, bus.BucketCluster, keyHistory)
	if err != nil {
		return fmt.Errorf("read which log store has the history: %w", err)
	}
	var is History
	if err := json.Unmarshal(entry.Value(), &is); err != nil {
		return &job.InvalidError{Field: keyHistory, Reason: fmt.Sprintf("in bucket %s is damaged: %v", bus.BucketCluster, err)}
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
	kv, err := ss.conn.Bucket(ctx, bus.BucketCluster)
	if err != nil {
		return err
	}
	if err := kv.Purge(ctx, keyHistory); err != nil {
		return fmt.Errorf("release the history: %w", jet.Unavailable(err))
	}
	return nil
}
