package orphans

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/doubling"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
)

const (
	// minAge is how long ago a run must have been due to be looked at.
	minAge = 30 * time.Second
	// maxRuns bounds how many rows are looked at in one round. The next goes on from there.
	maxRuns = logstore.MaxRuns
	// askWait is how long the instances of a group have to say whether they have a run.
	askWait = 2 * time.Second
)

// Finder ends orphans. One of a cluster should be at work; two do no harm. It is not safe
// for concurrent use.
type Finder struct {
	conn  *cluster.Conn
	store logstore.Store
	log   *slog.Logger // in steps: groups can cause most lines
	ended prometheus.Counter

	cursor   string                          // of the page of rows to look at next
	suspects map[int]map[job.RunID]job.RunID // by shard, with the workflow's run of one that does a step
	mark     cluster.StreamEnds              // of the moment at which nobody had the suspects

	running map[bus.AttemptRef]sighting
	cycle   int // how often all rows have been looked at
}

// New returns a finder. conn must be open, and store must have the history of the whole
// cluster. What it ends goes to log and is counted in reg.
func New(conn *cluster.Conn, store logstore.Store, log *slog.Logger, reg prometheus.Registerer) (*Finder, error) {
	f := &Finder{conn: conn, store: store, log: doubling.Logger(log), running: map[bus.AttemptRef]sighting{}, ended: prometheus.NewCounter(prometheus.CounterOpts{
		Namespace: "carillon", Name: "history_orphans_total", Help: "Runs of the history that were ended as lost because nobody had them any more.",
	})}
	if err := reg.Register(f.ended); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return f, nil
}

// Round suspects each live run that has neither a trigger nor an instance. It ends a run that the last
// round suspected if that is still so, and the history has since read all that the streams had then. If
// ingest keeps up, an orphan ends in the second round.
func (f *Finder) Round(ctx context.Context) error {
	if len(f.suspects) > 0 {
		passed, err := f.conn.Ingest().Passed(ctx, f.mark)
		if err != nil || !passed {
			return err
		}
		if err := f.endSuspects(ctx); err != nil {
			return err
		}
	}
	return f.findSuspects(ctx)
}

// unfinished are the statuses of rows that a trigger or a deferred item must back.
var unfinished = []job.Status{job.StatusPending, job.StatusQueued, job.StatusRunning}

// findSuspects looks at a page of the runs that are alive in the history, and notes those
// without a message on TRIG.
func (f *Finder) findSuspects(ctx context.Context) error {
	// Runs that wait for a later instant are not looked at: there may be very many.
	page, err := f.store.Runs(ctx, logstore.RunFilter{Statuses: unfinished, To: time.Now().UTC(), Limit: maxRuns, Cursor: f.cursor})
	if err != nil {
		f.cursor = "" // it may be of a store that is no more
		return fmt.Errorf("read runs that are alive: %w", err)
	}
	if f.cursor = page.Next; f.cursor == "" {
		defer f.endCycle()
	}
	rows := map[job.RunID]*runlog.Run{}
	shards := map[int]map[job.RunID]job.RunID{}
	before := time.Now().Add(-minAge)
	for i := range page.Runs {
		r := &page.Runs[i]
		if r.FireTime.After(before) || r.CommittedAt.After(before) {
			continue
		}
		shard := r.Job.Shard(f.conn.Cluster().Shards)
		if shards[shard] == nil {
			shards[shard] = map[job.RunID]job.RunID{}
		}
		shards[shard][r.RunID] = ""
		if r.Cause == job.CauseStep {
			shards[shard][r.RunID] = r.Parent
		}
		rows[r.RunID] = r
	}
	now, late := time.Now(), map[*bus.Trigger]string{}
	err = f.removeAllAlive(ctx, shards, func(t *bus.Trigger) {
		if r := rows[t.RunID]; r != nil {
			if why := f.overdue(t, r, now); why != "" {
				late[t] = why
			}
		}
	})
	for t, why := range late {
		f.endOverdue(ctx, t, why)
	}
	if err != nil || len(shards) == 0 {
		return err
	}
	mark, err := f.conn.Ingest().Ends(ctx)
	if err == nil { // without a mark, the end of a suspect may be on its way to the history
		f.suspects, f.mark = shards, mark
	}
	return err
}

// removeAllAlive is removeAlive of all shards, which calls alive with the triggers that it finds. It leaves those that have runs.
func (f *Finder) removeAllAlive(ctx context.Context, shards map[int]map[job.RunID]job.RunID, alive func(*bus.Trigger)) error {
	for shard, runs := range shards {
		if err := f.removeAlive(ctx, shard, runs, alive); err != nil {
			return err
		}
		if len(runs) == 0 {
			delete(shards, shard)
		}
	}
	return nil
}

// removeAlive removes from runs those that have a trigger or a deferred item on TRIG, by the
// word of its leader, and the steps of a workflow's run that has one: some wait, or are to be begun again, and the
// owner knows. It removes all while there is a trigger of a later version, which may
// belong to any of them.
func (f *Finder) removeAlive(ctx context.Context, shard int, runs map[job.RunID]job.RunID, alive func(*bus.Trigger)) error {
	unread, err := f.conn.Whereabouts().Triggers(ctx, shard, "*", jet.Reading{}, func(t cluster.StoredTrigger) bool {
		delete(runs, t.RunID)
		alive(t.Trigger)
		return len(runs) > 0
	})
	if errors.Is(unread, cluster.ErrLaterTrigger) {
		clear(runs)
	}
	if err != nil || len(runs) == 0 {
		return err
	}
	return f.conn.Scan(ctx, f.conn.TrigOf(shard), bus.SubjectDeferred(shard), func(m *jet.Stored) bool {
		d, err := journal.DecodeDeferred(m.Header, m.Data)
		if err != nil {
			return true
		}
		delete(runs, d.RunID)
		if d.Kind == journal.DeferredSteps {
			maps.DeleteFunc(runs, func(_, of job.RunID) bool { return of == d.RunID })
		}
		if len(d.Trigger) > 0 {
			if t, err := bus.DecodeTrigger(nil, d.Trigger); err == nil {
				delete(runs, t.RunID)
			}
		}
		return len(runs) > 0
	})
}

// endSuspects ends those of the suspects that the history still has as alive, and TRIG still has not: in
// the round before, a server may have said so that was cut off and still believed that it leads.
func (f *Finder) endSuspects(ctx context.Context) error {
	if err := f.removeAllAlive(ctx, f.suspects, func(*bus.Trigger) {}); err != nil {
		return err
	}
	var errs []error
	for _, runs := range f.suspects {
		for id := range runs {
			errs = append(errs, f.endSuspect(ctx, id))
		}
	}
	f.suspects = nil
	return errors.Join(errs...)
}

func (f *Finder) endSuspect(ctx context.Context, id job.RunID) error {
	attempts, err := f.store.Run(ctx, id)
	if errors.Is(err, job.ErrNotFound) {
		return nil // retention has taken it
	}
	if err != nil {
		return fmt.Errorf("read run %s: %w", id, err)
	}
	r := &attempts[0]
	if !slices.Contains(unfinished, r.RunStatus()) {
		return nil
	}
	t := &bus.Trigger{
		RunID: r.RunID, Job: r.Job, Version: r.Version, Shard: r.Job.Shard(f.conn.Cluster().Shards), Attempt: r.Attempt,
		Cause: r.Cause, FireTime: r.FireTime, CommittedAt: r.CommittedAt, ParentRun: r.Parent,
	}
	said, err := f.conn.Whereabouts().HoldersInGroup(ctx, r.Job.Group(), []bus.AttemptRef{t.Ref()}, askWait)
	if err != nil || said.Held[t.Ref()] != "" {
		return err // who has it will report
	}
	f.log.WarnContext(ctx, "run lost", "executor_group", r.Job.Group(), "job", r.Job, "run_id", r.RunID, "attempt", r.Attempt, "reason", cluster.Orphaned)
	f.ended.Inc()
	return f.conn.Events().EndRun(ctx, t, job.StatusLost, cluster.Orphaned)
}
