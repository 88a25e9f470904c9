package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// keyRestoring is there while a backup is written back: its value names the backup.
const keyRestoring = "restoring"

// Restore marks a cluster on which a backup is being restored.
type Restore struct{ conn *Conn }

// Restore returns the mark of a restore.
func (c *Conn) Restore() Restore { return Restore{c} }

// Running returns the backup whose restore has begun and not ended; "" if there is none.
func (r Restore) Running(ctx context.Context) (backup string, err error) {
	entry, err := r.conn.Entry(ctx, bus.BucketCluster, keyRestoring)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read which restore has begun: %w", err)
	}
	return string(entry.Value()), nil
}

// Begin keeps servers from starting on what is half restored, until [Restore.End]. The error
// is job.ErrConflict when another restore has begun since [Restore.Running] said that none has.
func (r Restore) Begin(ctx context.Context, backup string) error {
	kv, err := r.conn.Bucket(ctx, bus.BucketCluster)
	if err != nil {
		return err
	}
	err = jet.AfterOthers(ctx, func(ctx context.Context) error { // one in flight may get lost
		_, err := kv.Create(ctx, keyRestoring, []byte(backup))
		return err
	})
	if errors.Is(err, jetstream.ErrKeyExists) {
		return fmt.Errorf("%w: another restore has just begun", job.ErrConflict)
	}
	if err != nil {
		return fmt.Errorf("note that a restore begins: %w", jet.Unavailable(err))
	}
	return nil
}

// End lets servers start.
func (r Restore) End(ctx context.Context) error {
	kv, err := r.conn.Bucket(ctx, bus.BucketCluster)
	if err != nil {
		return err
	}
	if err := kv.Purge(ctx, keyRestoring); err != nil {
		return fmt.Errorf("note that the restore has ended: %w", jet.Unavailable(err))
	}
	return nil
}

// checkWhole returns job.ErrConflict while a restore has begun and not ended.
func (r Restore) checkWhole(ctx context.Context) error {
	switch _, err := r.conn.Entry(ctx, bus.BucketCluster, keyRestoring); {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("read cluster configuration: %w", err)
	}
	return fmt.Errorf("%w: a restore has begun and not ended, so a part is missing; run \"carillon restore\" with the same file again", job.ErrConflict)
}
