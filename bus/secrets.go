package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"carillon/job"
)

// Secret is a secret of a group, sealed: see package internal/seal.
type Secret struct {
	Group       string    `json:"executor_group"`
	Secret      string    `json:"secret"` // its name
	Description string    `json:"description,omitempty"`
	UpdatedAt   time.Time `json:"updated_at"`
	Author      string    `json:"author,omitempty"`
	KeyID       string    `json:"key_id"` // of the group's key with which it is sealed
	Sealed      []byte    `json:"sealed"`
}

// PutSecret creates or replaces a secret. What it was before is gone.
func (c *Conn) PutSecret(ctx context.Context, s *Secret) error {
	kv, err := c.kv(ctx, BucketSecret)
	if err != nil {
		return err
	}
	data, err := json.Marshal(s) //nolint:gosec // it is sealed
	if err != nil {
		return fmt.Errorf("encode secret %s of group %s: %w", s.Secret, s.Group, err)
	}
	if _, err := kv.Put(ctx, s.Group+"."+s.Secret, data); err != nil {
		return fmt.Errorf("write secret %s of group %s: %w", s.Secret, s.Group, Unavailable(err))
	}
	return nil
}

// DeleteSecret removes a secret. Errors: job.ErrNotFound, job.ErrUnavailable.
func (c *Conn) DeleteSecret(ctx context.Context, group, name string) error {
	kv, err := c.kv(ctx, BucketSecret)
	if err != nil {
		return err
	}
	if _, err := kv.Get(ctx, group+"."+name); errors.Is(err, jetstream.ErrKeyNotFound) {
		return fmt.Errorf("%w: secret %s of group %s", job.ErrNotFound, name, group)
	} else if err != nil {
		return fmt.Errorf("read secret %s of group %s: %w", name, group, Unavailable(err))
	}
	if err := kv.Purge(ctx, group+"."+name); err != nil {
		return fmt.Errorf("delete secret %s of group %s: %w", name, group, Unavailable(err))
	}
	return nil
}

// Secrets returns the secrets of a group, by name.
func (c *Conn) Secrets(ctx context.Context, group string) ([]Secret, error) {
	all, err := collect[Secret](ctx, c, BucketSecret, group)
	slices.SortFunc(all, func(a, b Secret) int { return strings.Compare(a.Secret, b.Secret) })
	return all, err
}

// Secret returns a secret. It needs no more than the permissions of one of the group's
// executors. Errors: job.ErrNotFound, job.ErrUnavailable.
func (c *Conn) Secret(ctx context.Context, group, name string) (*Secret, error) {
	m, err := c.direct(ctx, "KV_"+BucketSecret, "$KV."+BucketSecret+"."+group+"."+name)
	if errors.Is(err, ErrNoMessage) {
		return nil, fmt.Errorf("%w: secret %s of group %s", job.ErrNotFound, name, group)
	}
	if err != nil {
		return nil, err
	}
	s := &Secret{}
	if err := json.Unmarshal(m.Data, s); err != nil {
		return nil, &job.InvalidError{Field: "secret", Reason: fmt.Sprintf("%s of group %s is damaged: %v", name, group, err)}
	}
	return s, nil
}

// collect returns the values that a bucket has for a group. Those that are not ours are
// passed over.
func collect[T any](ctx context.Context, c *Conn, bucket, group string) ([]T, error) {
	w, err := c.watch(ctx, bucket, []string{group + ".*"}, false, 0)
	if err != nil {
		return nil, fmt.Errorf("list %s of group %s: %w", bucket, group, err)
	}
	defer func() { _ = w.Stop() }()
	var all []T
	for e := range w.Updates() {
		if e == nil {
			return all, nil
		}
		var v T
		if e.Operation() == jetstream.KeyValuePut && json.Unmarshal(e.Value(), &v) == nil {
			all = append(all, v)
		}
	}
	return nil, fmt.Errorf("%w: list %s of group %s", job.ErrUnavailable, bucket, group)
}
