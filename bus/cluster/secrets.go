package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// Secrets are the sealed secrets of executor groups.
type Secrets struct{ conn *Conn }

// Secrets returns the secrets of groups.
func (c *Conn) Secrets() Secrets { return Secrets{c} }

// Put creates or replaces a secret. What it was before is gone.
func (ss Secrets) Put(ctx context.Context, s *bus.Secret) error {
	kv, err := ss.conn.Bucket(ctx, bus.BucketSecret)
	if err != nil {
		return err
	}
	data, err := json.Marshal(s) //nolint:gosec // it is sealed
	if err != nil {
		return fmt.Errorf("encode secret %s of group %s: %w", s.Secret, s.Group, err)
	}
	if _, err := kv.Put(ctx, s.Group+"."+s.Secret, data); err != nil {
		return fmt.Errorf("write secret %s of group %s: %w", s.Secret, s.Group, jet.Unavailable(err))
	}
	return nil
}

// Delete removes a secret. Errors: job.ErrNotFound, job.ErrUnavailable.
func (ss Secrets) Delete(ctx context.Context, group, name string) error {
	kv, err := ss.conn.Bucket(ctx, bus.BucketSecret)
	if err != nil {
		return err
	}
	if _, err := ss.conn.Entry(ctx, bus.BucketSecret, group+"."+name); errors.Is(err, jetstream.ErrKeyNotFound) {
		return fmt.Errorf("%w: secret %s of group %s", job.ErrNotFound, name, group)
	} else if err != nil {
		return fmt.Errorf("read secret %s of group %s: %w", name, group, err)
	}
	if err := kv.Purge(ctx, group+"."+name); err != nil {
		return fmt.Errorf("delete secret %s of group %s: %w", name, group, jet.Unavailable(err))
	}
	return nil
}

// Of returns the secrets of a group, by name.
func (ss Secrets) Of(ctx context.Context, group string) ([]bus.Secret, error) {
	all, err := collect[bus.Secret](ctx, ss.conn, bus.BucketSecret, group)
	slices.SortFunc(all, func(a, b bus.Secret) int { return strings.Compare(a.Secret, b.Secret) })
	return all, err
}

// collect returns the values that a bucket has for a group. Those that are not ours are
// passed over.
func collect[T any](ctx context.Context, c *Conn, bucket, group string) ([]T, error) {
	var all []T
	err := c.Entries(ctx, bucket, group+".*", false, func(e jetstream.KeyValueEntry) error {
		var v T
		if e.Operation() == jetstream.KeyValuePut && json.Unmarshal(e.Value(), &v) == nil {
			all = append(all, v)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s of group %s: %w", bucket, group, err)
	}
	return all, nil
}
