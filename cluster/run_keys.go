package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/journal"
)

// RunKeys are the keys for which jobs have made runs, in the bucket KEY, each until it expires.
type RunKeys struct{ conn *Conn }

// RunKeysOf returns the keys for which the jobs of a cluster have made runs.
func RunKeysOf(conn *Conn) RunKeys { return RunKeys{conn} }

// kindRunKey is that of keys with so long to live.
func kindRunKey(ttl time.Duration) *jet.Kind[journal.KeyedRun] {
	return &jet.Kind[journal.KeyedRun]{Bucket: bus.BucketKey, TTL: ttl, Name: func(key string) string { return "key " + key }}
}

// Get returns the run that stands for a key, as the leader of the bucket knows it, or nil if there is none.
func (ks RunKeys) Get(ctx context.Context, key string) (*journal.KeyedRun, error) {
	k, _, err := kindRunKey(0).On(ks.conn.Conn).Read(ctx, key)
	if errors.Is(err, job.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &k, nil
}

// Put stores a run, unless its key stands for a later one. Until it expires, KEY has it when Put returns nil.
func (ks RunKeys) Put(ctx context.Context, k *journal.KeyedRun) error {
	ttl := time.Until(k.Until).Truncate(time.Second) + time.Second // NATS takes whole ones
	if ttl <= time.Second {
		return nil
	}
	records := kindRunKey(ttl).On(ks.conn.Conn)
	_, err := records.Write(ctx, k.Key, *k, 0)
	if !errors.Is(err, job.ErrConflict) {
		return err
	}
	_, err = records.Edit(ctx, k.Key, func(stored *journal.KeyedRun, _ uint64) (write bool, err error) {
		write = stored.Since.Before(k.Since)
		*stored = *k
		return write, nil
	})
	return err
}

// CheckRoom returns job.ErrTooMany when the jobs of a group remember as many keys as they may, see [bus.ShareOfKeys].
func (ks RunKeys) CheckRoom(ctx context.Context, group string) error {
	return ks.check(ctx, bus.ShareOfKeys(), group)
}

func (ks RunKeys) check(ctx context.Context, share bus.Share, group string) error {
	kept, full := ks.conn.rooms.used(ctx, ks.conn, share, group)
	if !full {
		return nil
	}
	return fmt.Errorf("%w: %s", job.ErrTooMany, refusal.GroupKeepsKeys.With(group, int(kept.Keys))) //nolint:gosec // at most some 100,000
}
