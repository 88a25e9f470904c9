package bus

import (
	"context"
	"time"
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

var measuredDisk = measured{key: "store-disk", what: "the disk of the log store"}

// PutStoreDisk keeps the newest measurement. The error is job.ErrUnavailable.
func (c *Conn) PutStoreDisk(ctx context.Context, d *StoreDisk) error {
	return c.putMeasured(ctx, measuredDisk, d)
}

// GetStoreDisk returns the newest measurement. Errors: job.ErrNotFound when there is none,
// job.ErrUnavailable.
func (c *Conn) GetStoreDisk(ctx context.Context) (*StoreDisk, error) {
	d := &StoreDisk{}
	if err := c.getMeasured(ctx, measuredDisk, d); err != nil {
		return nil, err
	}
	return d, nil
}
