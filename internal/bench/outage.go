package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/ingest"
)

// benchOutage has ClickHouse be away while a day's history gathers on the bus: o.runs ends,
// and as many messages of ten log lines. Jobs fire at a rate all the time, so that it tells
// how late they are while the store is away, and how late while it takes all of that as fast
// as it can.
func benchOutage(ctx context.Context, o benchOptions) (*benchResult, error) {
	if o.rate < 1 || o.jobs < o.rate || o.runs < 1 || o.runFor < time.Second {
		return nil, cli.Usage(errors.New("--rate and --runs must be at least 1, --jobs at least --rate, and --for at least 1s"))
	}
	w, err := newStoreWorld(ctx, o.store)
	if err != nil {
		return nil, err
	}
	defer w.close(ctx)
	away, err := w.cutOff(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = away.store.Close() }()

	// The node hears of the ends as they come, as it does in an outage.
	node, err := w.startNode(ctx, "bench")
	if err != nil {
		return nil, err
	}
	if err := node.owns(ctx, w.conn.Cluster().Shards); err != nil {
		return nil, err
	}
	past := yesterday(w.benchWorld)
	if err := w.publish(ctx, o.runs, past.end); err != nil {
		return nil, err
	}
	if err := w.publish(ctx, o.runs, past.log); err != nil {
		return nil, err
	}
	in, err := ingest.New(w.conn, away.store, ingest.Config{})
	if err != nil {
		return nil, err
	}
	ingesting, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- in.Run(ingesting) }()

	from := o.readyBy()
	if err := w.seed(ctx, o.jobs, from.Add(-time.Millisecond), everySecond(from, o.jobs/o.rate)); err != nil {
		return nil, err
	}
	if err := pause.For(ctx, time.Until(from.Add(o.runFor))); err != nil {
		return nil, err
	}
	back := time.Now()
	restored, err := away.restore(ctx)
	if err != nil {
		return nil, err
	}
	defer restored()
	took, err := w.caughtUp(ctx, o.runs, back)
	if err != nil {
		return nil, err
	}
	if err := node.close(); err != nil {
		return nil, err
	}
	stop()
	if err := <-ended; err != nil {
		return nil, err
	}
	r := &benchResult{Jobs: o.jobs, HistoryRuns: o.runs, Count: 2 * o.runs, Seconds: took.Seconds(), Rate: float64(2*o.runs) / took.Seconds()}
	before, catching, err := w.latenessAround(ctx, from, back, back.Add(took))
	if err != nil {
		return nil, err
	}
	r.BeforeP50, r.BeforeP99, _ = before.quantiles()
	r.P50, r.P99, r.Max = catching.quantiles()
	counts, err := w.store.Counts(ctx, logstore.RunFilter{To: past.from.Add(oneDay), Statuses: []job.Status{job.StatusSucceeded}})
	if err != nil {
		return nil, err
	}
	r.Lost, r.Doubled = max(0, o.runs-counts[job.StatusSucceeded]), max(0, counts[job.StatusSucceeded]-o.runs)
	return r, nil
}

// caughtUp waits until the store has n ends and n messages of lines, and returns how long
// that took since an instant.
func (w *benchWorld) caughtUp(ctx context.Context, n int, since time.Time) (time.Duration, error) {
	err := poll(ctx, func() (bool, error) {
		if err := pause.For(ctx, 50*time.Millisecond); err != nil {
			return false, err
		}
		if ends, err := w.taken(ctx, bus.StreamEvt, bus.ConsumerEvents, n); err != nil || !ends {
			return false, err
		}
		return w.taken(ctx, bus.StreamLog, bus.ConsumerLogs, n)
	})
	return time.Since(since), err
}

// latenessAround returns how late the fires were from an instant on, and those between two
// others. Nobody runs the triggers, so that all are still on the stream, which knows when
// it got them.
func (w *benchWorld) latenessAround(ctx context.Context, from, back, end time.Time) (away, catching *lateness, err error) {
	away, catching = &lateness{}, &lateness{}
	var wrong error
	err = w.conn.Scan(ctx, bus.StreamTrig, "trig.>", func(m *jet.Stored) bool {
		t, err := bus.DecodeTrigger(m.Header, m.Data)
		if err != nil {
			wrong = fmt.Errorf("read trigger: %w", err)
			return false
		}
		late := float32(m.At.Sub(t.FireTime).Seconds() * 1000)
		switch {
		case t.FireTime.Before(from), !t.FireTime.Before(end):
		case t.FireTime.Before(back):
			away.all = append(away.all, late)
		default:
			catching.all = append(catching.all, late)
		}
		return true
	})
	return away, catching, errors.Join(err, wrong)
}
