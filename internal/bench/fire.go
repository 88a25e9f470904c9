package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// benchFire has many jobs fire on a grid of seconds, and nobody to run them.
//
// With a rate, the jobs are spread so that so many fire each second, and lateness is
// what counts. Without, every job fires every second, more than the bus can take,
// and the rate is what counts.
func benchFire(ctx context.Context, o benchOptions) (*benchResult, error) {
	w, err := o.world(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	raw, err := w.rawBatches(ctx, sampleTrigger(), 3*time.Second)
	if err != nil {
		return nil, err
	}
	period := 1
	if o.rate > 0 {
		if o.jobs < o.rate {
			return nil, &job.InvalidError{Field: "rate", Reason: fmt.Sprintf("%d needs at least as many jobs; each fires at most once a second", o.rate)}
		}
		period = o.jobs / o.rate
	}
	// The jobs begin to fire when the node is ready for all of them.
	from := o.readyBy()
	schedule := everySecond(from, period)
	if err := w.seed(ctx, o.jobs, from.Add(-time.Millisecond), schedule); err != nil {
		return nil, err
	}
	before := heapMB()
	node, err := w.startNode(ctx, "bench")
	if err != nil {
		return nil, err
	}
	if err := node.owns(ctx, w.conn.Cluster().Shards); err != nil {
		return nil, err
	}
	r := &benchResult{Jobs: o.jobs, RawRate: raw, HeapMB: heapMB() - before, Shards: w.conn.Cluster().Shards}
	if err := begin(ctx, from, 50*time.Millisecond); err != nil {
		return nil, err
	}
	meter, err := startMeter(o.profile)
	if err != nil {
		return nil, err
	}
	defer meter.stop()
	if err := pause.For(ctx, o.runFor); err != nil {
		return nil, err
	}
	elapsed, used := meter.stop()
	if err := node.close(); err != nil {
		return nil, err
	}
	r.Seconds = elapsed.Seconds()
	if r.Count, r.Lost, r.Doubled, err = w.audit(ctx, o.jobs, from.Add(-time.Millisecond), schedule); err != nil {
		return nil, err
	}
	r.Rate = float64(r.Count) / elapsed.Seconds()
	r.CPUMicros = each(used, r.Count)
	if o.rate > 0 {
		late, err := w.lateness(ctx)
		if err != nil {
			return nil, err
		}
		r.P50, r.P99, r.Max = late.quantiles()
	}
	return r, nil
}

// lateness collects, for each trigger, the time from its fire until its batch was
// stored.
type lateness struct {
	all []float32 // milliseconds
}

func (l *lateness) quantiles() (p50, p99, most float64) {
	if len(l.all) == 0 {
		return 0, 0, 0
	}
	slices.Sort(l.all)
	at := func(q float64) float64 { return float64(l.all[int(q*float64(len(l.all)-1))]) }
	return at(.5), at(.99), at(1)
}

// lateness reads the shards' records: one says which fires its batch held, and the
// stream when the batch was stored.
func (w *benchWorld) lateness(ctx context.Context) (*lateness, error) {
	l := &lateness{}
	for _, stream := range w.conn.Trigs() {
		err := w.conn.Scan(ctx, stream, "rec.*", func(m *jet.Stored) bool {
			rec, err := journal.DecodeRecord(m.Header, m.Data)
			if err != nil {
				return true // not a fire of ours; the audit counts it as lost
			}
			for _, o := range rec.Outcomes {
				late := float32(m.At.Sub(o.FireTime).Seconds() * 1000)
				for range o.Jobs {
					l.all = append(l.all, late)
				}
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}
