package cluster

import (
	"context"
	"fmt"
	"strings"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

var kindSecret = jet.Kind[bus.Secret]{
	Bucket: bus.BucketSecret,
	Name: func(key string) string {
		group, secret, _ := strings.Cut(key, ".")
		return "secret " + secret + " of group " + group
	},
}

// Secrets are the sealed secrets of executor groups.
type Secrets struct{ conn *Conn }

// Secrets returns the secrets of groups.
func (c *Conn) Secrets() Secrets { return Secrets{c} }

// Put creates or replaces a secret. What it was before is gone.
func (ss Secrets) Put(ctx context.Context, s *bus.Secret) error {
	_, err := kindSecret.On(ss.conn.Conn).Put(ctx, s.Group+"."+s.Secret, *s)
	return err
}

// PutValue is Put of a new value: an existing secret keeps its description, which s has then, too.
func (ss Secrets) PutValue(ctx context.Context, s *bus.Secret) error {
	_, err := kindSecret.On(ss.conn.Conn).Edit(ctx, s.Group+"."+s.Secret, func(stored *bus.Secret, _ uint64) (bool, error) {
		s.Description = stored.Description
		*stored = *s
		return true, nil
	})
	return err
}

// Delete removes a secret. Errors: job.ErrNotFound, job.ErrUnavailable.
func (ss Secrets) Delete(ctx context.Context, group, name string) error {
	secrets, key := kindSecret.On(ss.conn.Conn), group+"."+name
	if _, err := secrets.Revision(ctx, key); err != nil { // one that is damaged can be deleted, too
		return err
	}
	return secrets.Remove(ctx, key, 0)
}

// Of returns the secrets of a group, by name. Those that are damaged are passed over.
func (ss Secrets) Of(ctx context.Context, group string) ([]bus.Secret, error) {
	return ofGroup(ctx, kindSecret.On(ss.conn.Conn), group)
}

// ofGroup returns the records whose keys begin with a group, in the order of the rest of their keys.
func ofGroup[T any](ctx context.Context, records jet.Records[T], group string) ([]T, error) {
	list, err := records.Match(ctx, group+".*")
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", records.Name(group+".*"), err)
	}
	all := make([]T, len(list))
	for i, r := range list {
		all[i] = r.Value
	}
	return all, nil
}
