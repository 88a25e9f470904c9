package targets

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// atOnce is for how many jobs the reports are read together.
const atOnce = 500

// Finder finds jobs that miss their targets. One of a cluster should be at work; two do no harm.
// It is not safe for concurrent use.
type Finder struct {
	conn  *cluster.Conn
	store logstore.Store
	// targets are those of the jobs, by their versions up to a revision of the JOBS that was made then.
	targets map[job.Name]*job.Target
	known   uint64
	made    time.Time
}

// New returns a finder. conn must be open, and store must have the history of the whole cluster.
func New(conn *cluster.Conn, store logstore.Store) *Finder {
	return &Finder{conn: conn, store: store}
}

// Round compares all jobs that have a target with it, and keeps on the bus which of them miss it.
func (f *Finder) Round(ctx context.Context) error {
	if err := f.read(ctx); err != nil {
		return fmt.Errorf("read targets: %w", err)
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	end := now.Truncate(logstore.Day).Add(logstore.Day) // whole days in UTC, as a job's page has them
	missed := []cluster.MissedTarget{}
	for names := range slices.Chunk(slices.Sorted(maps.Keys(f.targets)), atOnce) {
		report, err := f.store.Report(ctx, logstore.ReportFilter{
			From: end.Add(-job.TargetWindow), To: end, Jobs: names, By: []runlog.Dimension{runlog.ByJob}, Limit: len(names), Times: []runlog.Timing{runlog.TimeStarted},
		})
		if err != nil {
			return err
		}
		for i := range report.Rows {
			row := &report.Rows[i]
			if v := row.Against(f.targets[row.Job]); v != nil && !v.Met {
				missed = append(missed, cluster.MissedTarget{Job: row.Job, Runs: row.Scheduled, Failures: row.Scheduled - row.ScheduledSucceeded, StartDelay: job.Duration(row.Started.P95), Verdict: *v})
			}
		}
	}
	slices.SortStableFunc(missed, func(a, b cluster.MissedTarget) int { return cmp.Compare(a.Budget, b.Budget) })
	return f.conn.Targets().PutMissed(ctx, &cluster.MissedTargets{At: now, Jobs: missed})
}

// read takes in what has changed in the jobs since the round before.
func (f *Finder) read(ctx context.Context) error {
	bucket, err := f.conn.Jobs().Info(ctx)
	if err != nil {
		return err
	}
	if !bucket.Created.Equal(f.made) {
		f.made, f.known, f.targets = bucket.Created, 0, map[job.Name]*job.Target{}
	}
	if bucket.State.LastSeq < f.known {
		// A server that was cut off has answered, or JOBS has lost its end. The next round reads everything again.
		f.made = time.Time{}
	}
	return f.conn.Jobs().ReadAll(ctx, f.known, f.known, func(e jetstream.KeyValueEntry) {
		f.known = e.Revision()
		name, ok := bus.JobOfKey(e.Key())
		if !ok {
			return
		}
		delete(f.targets, name)
		if e.Operation() != jetstream.KeyValuePut {
			return
		}
		if v, err := cluster.DecodeJobEntry(e); err == nil && !v.Deleted && v.Target != nil {
			f.targets[name] = v.Target
		}
	})
}
