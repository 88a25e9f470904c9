package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"carillon/job"
)

// StoreDisk is how full the disk of the log store is, as whoever writes to the store has
// measured it: of several disks the fullest. Sizes are in bytes.
type StoreDisk struct {
	Total int64     `json:"total"`
	Free  int64     `json:"free"`
	At    time.Time `json:"at"`
}

// Used returns how much is used up, in percent.
func (d *StoreDisk) Used() float64 {
	if d.Total <= 0 {
		return 0
	}
	return 100 * (1 - float64(d.Free)/float64(d.Total))
}

const keyStoreDisk = "store-disk"

// PutStoreDisk keeps the newest measurement. The error is job.ErrUnavailable.
func (c *Conn) PutStoreDisk(ctx context.Context, d *StoreDisk) error {
	kv, err := c.kv(ctx, BucketCluster)
	if err != nil {
		return err
	}
	data, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encode disk of the log store: %w", err)
	}
	if _, err := kv.Put(ctx, keyStoreDisk, data); err != nil {
		return fmt.Errorf("write disk of the log store: %w", Unavailable(err))
	}
	return nil
}

// GetStoreDisk returns the newest measurement. Errors: job.ErrNotFound when there is none,
// job.ErrUnavailable.
func (c *Conn) GetStoreDisk(ctx context.Context) (*StoreDisk, error) {
	kv, err := c.kv(ctx, BucketCluster)
	if err != nil {
		return nil, err
	}
	e, err := kv.Get(ctx, keyStoreDisk)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, fmt.Errorf("%w: the disk of the log store was not measured yet", job.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read disk of the log store: %w", Unavailable(err))
	}
	d := &StoreDisk{}
	if err := json.Unmarshal(e.Value(), d); err != nil {
		return nil, fmt.Errorf("decode disk of the log store: %w", err)
	}
	return d, nil
}
