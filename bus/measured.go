package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"carillon/job"
)

// measured names something that one process measures for all, of which the newest figures
// are kept.
type measured struct{ key, what string }

// putMeasured keeps the newest figures. The error is job.ErrUnavailable.
func (c *Conn) putMeasured(ctx context.Context, m measured, figures any) error {
	kv, err := c.kv(ctx, BucketCluster)
	if err != nil {
		return err
	}
	data, err := json.Marshal(figures)
	if err != nil {
		return fmt.Errorf("encode %s: %w", m.what, err)
	}
	if _, err := kv.Put(ctx, m.key, data); err != nil {
		return fmt.Errorf("write %s: %w", m.what, Unavailable(err))
	}
	return nil
}

// getMeasured reads the newest figures. Errors: job.ErrNotFound when there are none,
// job.ErrUnavailable.
func (c *Conn) getMeasured(ctx context.Context, m measured, into any) error {
	kv, err := c.kv(ctx, BucketCluster)
	if err != nil {
		return err
	}
	e, err := kv.Get(ctx, m.key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return fmt.Errorf("%w: %s: not measured yet", job.ErrNotFound, m.what)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", m.what, Unavailable(err))
	}
	if err := json.Unmarshal(e.Value(), into); err != nil {
		return fmt.Errorf("decode %s: %w", m.what, err)
	}
	return nil
}
