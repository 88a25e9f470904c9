package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/backfill"
)

// BackfillTTL is how long a backfill of many jobs is kept after it changed last.
const BackfillTTL = 90 * 24 * time.Hour

var kindBackfill = jet.Kind[backfill.Bulk]{
	Bucket: bus.BucketLedger, Prefix: "backfill.", TTL: BackfillTTL,
	Name: func(key string) string { return "backfill " + key },
	Decode: func(key string, data []byte) (b backfill.Bulk, err error) {
		if err := json.Unmarshal(data, &b); err != nil {
			return b, &job.InvalidError{Field: "backfill " + key, Reason: fmt.Sprintf("is damaged: %v", err)}
		}
		return b, b.Validate()
	},
}

// Backfills are the backfills of many jobs.
type Backfills struct{ conn *Conn }

// BackfillsOf returns the backfills of many jobs.
func BackfillsOf(c *Conn) Backfills { return Backfills{c} }

// Create stores a new backfill. Errors: job.ErrConflict when there is one with its id, job.ErrUnavailable.
func (bs Backfills) Create(ctx context.Context, b *backfill.Bulk) error {
	_, err := kindBackfill.On(bs.conn.Conn).Write(ctx, b.ID, *b, 0)
	return err
}

// Get returns a backfill. Errors: job.ErrNotFound, job.ErrUnavailable.
func (bs Backfills) Get(ctx context.Context, id string) (*backfill.Bulk, error) {
	b, _, err := kindBackfill.On(bs.conn.Conn).Read(ctx, id)
	if err != nil {
		return nil, err
	}
	return &b, nil
}

// All returns all backfills that can be read, in no order. The error is job.ErrUnavailable.
func (bs Backfills) All(ctx context.Context) ([]backfill.Bulk, error) {
	list, err := kindBackfill.On(bs.conn.Conn).List(ctx)
	if err != nil {
		return nil, fmt.Errorf("read backfills: %w", err)
	}
	all := make([]backfill.Bulk, len(list))
	for i := range list {
		all[i] = list[i].Value
	}
	return all, nil
}

// Edit stores what change makes of a backfill, if it reports a change, and returns the backfill. change may be called
// several times. Errors: job.ErrNotFound, job.ErrUnavailable, those of change.
func (bs Backfills) Edit(ctx context.Context, id string, change func(*backfill.Bulk) (changed bool, err error)) (*backfill.Bulk, error) {
	var kept backfill.Bulk
	_, err := kindBackfill.On(bs.conn.Conn).Edit(ctx, id, func(b *backfill.Bulk, revision uint64) (bool, error) {
		if revision == 0 {
			return false, fmt.Errorf("%w: %s", job.ErrNotFound, kindBackfill.Name(id))
		}
		changed, err := change(b)
		kept = *b
		return changed, err
	})
	if err != nil {
		return nil, err
	}
	return &kept, nil
}
