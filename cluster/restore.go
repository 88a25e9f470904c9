package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

// kindRestore has the name of the backup that is being written back.
var kindRestore = jet.Kind[string]{Bucket: bus.BucketCluster, Prefix: "restoring", Name: func(string) string { return "the mark of a restore" }}

// Restore marks a cluster on which a backup is being restored.
type Restore struct{ conn *Conn }

// Restore returns the mark of a restore.
func (c *Conn) Restore() Restore { return Restore{c} }

// Running returns the backup whose restore has begun and not ended; "" if there is none.
func (r Restore) Running(ctx context.Context) (backup string, err error) {
	backup, _, err = kindRestore.On(r.conn.Conn).Read(ctx, the)
	if errors.Is(err, job.ErrNotFound) {
		return "", nil
	}
	return backup, err
}

// Begin keeps servers from starting on what is half restored, until [Restore.End]. The error
// is job.ErrConflict when another restore has begun since [Restore.Running] said that none has.
func (r Restore) Begin(ctx context.Context, backup string) error {
	_, err := kindRestore.On(r.conn.Conn).Write(ctx, the, backup, 0)
	if errors.Is(err, job.ErrConflict) {
		return fmt.Errorf("%w: another restore has just begun", job.ErrConflict)
	}
	return err
}

// End lets servers start.
func (r Restore) End(ctx context.Context) error {
	return kindRestore.On(r.conn.Conn).Remove(ctx, the, 0)
}

// checkWhole returns job.ErrConflict while a restore has begun and not ended.
func (r Restore) checkWhole(ctx context.Context) error {
	switch _, err := kindRestore.On(r.conn.Conn).Revision(ctx, the); {
	case errors.Is(err, job.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%w: a restore has begun and not ended, so a part is missing; run \"carillon restore\" with the same file again", job.ErrConflict)
}
