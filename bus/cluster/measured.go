package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// measured names something that one process measures for all, of which the newest figures
// are kept.
type measured struct{ key, what string }

// putMeasured keeps the newest figures. The error is job.ErrUnavailable.
func putMeasured(ctx context.Context, c *Conn, m measured, figures any) error {
	kv, err := c.Bucket(ctx, bus.BucketCluster)
	if err != nil {
		return err
	}
	data, err := json.Marshal(figures)
	if err != nil {
		return fmt.Errorf("encode %s: %w", m.what, err)
	}
	if _, err := kv.Put(ctx, m.key, data); err != nil {
		return fmt.Errorf("write %s: %w", m.what, jet.Unavailable(err))
	}
	return nil
}

// getMeasured reads the newest figures. Errors: job.ErrNotFound when there are none,
// job.ErrUnavailable.
func getMeasured(ctx context.Context, c *Conn, m measured, into any) error {
	e, err := c.Entry(ctx, bus.BucketCluster, m.key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return fmt.Errorf("%w: %s: not measured yet", job.ErrNotFound, m.what)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", m.what, err)
	}
	if err := json.Unmarshal(e.Value(), into); err != nil {
		return fmt.Errorf("decode %s: %w", m.what, err)
	}
	return nil
}

// newestMeasured returns the newest value of each key of CLUSTER that begins with prefix, by
// subject. It leaves out a value that this version cannot read. The error is
// job.ErrUnavailable, and names what was to be read.
func newestMeasured[T any](ctx context.Context, c *Conn, prefix, what string) (map[string]T, error) {
	newest := map[string]T{}
	err := c.Scan(ctx, bucketPrefix+bus.BucketCluster, "$KV."+bus.BucketCluster+"."+prefix+"*", func(m *jet.Stored) bool {
		var v T
		if json.Unmarshal(m.Data, &v) == nil {
			newest[m.Subject] = v
		} else {
			delete(newest, m.Subject) // an older value holds no longer
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return newest, nil
}
