package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
)

// figuresAt returns the kind of figures that one process measures for all, in the bucket CLUSTER: those at
// one key, or the newest of each key that begins with it.
func figuresAt[T any](key, name string) *jet.Kind[T] {
	return &jet.Kind[T]{Bucket: bus.BucketCluster, Prefix: key, Name: func(string) string { return name }}
}

// the is the key of the record of a kind that has one.
const the = ""

// readThe returns the record of a kind that has one.
func readThe[T any](ctx context.Context, c *Conn, kind *jet.Kind[T]) (*T, error) {
	v, _, err := kind.On(c.Conn).Read(ctx, the)
	if err != nil {
		return nil, err
	}
	return &v, nil
}

// writeThe replaces the record of a kind that has one.
func writeThe[T any](ctx context.Context, c *Conn, kind *jet.Kind[T], v *T) error {
	_, err := kind.On(c.Conn).Put(ctx, the, *v)
	return err
}

// newest returns the newest value of each key of a kind, as the leader of the bucket knows it. It leaves out
// a value that this version cannot read. The error is job.ErrUnavailable.
func newest[T any](ctx context.Context, c *Conn, kind *jet.Kind[T]) (map[string]T, error) {
	found := map[string]T{}
	err := c.Scan(ctx, bucketPrefix+kind.Bucket, "$KV."+kind.Bucket+"."+kind.Prefix+"*", func(m *jet.Stored) bool {
		var v T
		if json.Unmarshal(m.Data, &v) == nil {
			found[m.Subject] = v
		} else {
			delete(found, m.Subject) // an older value holds no longer
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", kind.Name(the), err)
	}
	return found, nil
}
