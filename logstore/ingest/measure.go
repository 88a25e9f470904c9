package ingest

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/pause"
)

// measureEvery is how often the store is asked how large it is.
const measureEvery = time.Minute

// measure tells how large the store is, and how full its disk, until ctx is done: as
// metrics, and on the bus for whoever raises the alarm. What the store does not know is
// not told.
func (in *Ingest) measure(ctx context.Context) {
	for {
		if err := in.measureOnce(ctx); err != nil && ctx.Err() == nil {
			in.log.DebugContext(ctx, "log store not measured", "error", err)
		}
		if pause.For(ctx, measureEvery) != nil {
			return
		}
	}
}

func (in *Ingest) measureOnce(ctx context.Context) error {
	stats, err := in.store.Stats(ctx)
	if err != nil {
		return err
	}
	in.metrics.storeBytes.Set(float64(stats.Bytes))
	if stats.Disk.Total == 0 {
		return nil
	}
	in.metrics.diskTotal.Set(float64(stats.Disk.Total))
	in.metrics.diskFree.Set(float64(stats.Disk.Free))
	return in.conn.Ingest().PutStoreDisk(ctx, &cluster.StoreDisk{Total: stats.Disk.Total, Free: stats.Disk.Free, At: time.Now().UTC().Truncate(time.Millisecond)})
}
