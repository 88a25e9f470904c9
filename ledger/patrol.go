package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

const (
	// firstLook is how far back a patrol begins that has no predecessor.
	firstLook = 24 * time.Hour
	// longestLook bounds what one round looks at; the next one goes on from there.
	longestLook = 6 * time.Hour
	// atOnce is for how many jobs the history is read together.
	atOnce = 100
	// manyFires is from how many fires on a job is judged by itself.
	manyFires = 2000
)

// Patrol audits the ledger as time goes on: each fire once, as soon as it can be judged. The steps of workflows'
// runs, and runs that are done elsewhere, it judges again and again, for eight days.
// How far it has come is kept on the bus, and so are the discrepancies that it finds,
// as [outcome.Finding]. One patrol of a cluster should be at work; two do no harm.
type Patrol struct {
	conn    *cluster.Conn
	store   logstore.Store
	ledger  *Ledger
	log     *slog.Logger
	metrics *metrics

	lasting []Evidence // the jobs whose runs are judged again, as a round has read them
	again   cursor     // from where on the next round looks at their runs again
}

// NewPatrol returns a patrol. conn must be open; store must have the history of the
// whole cluster, and keep is as of [New]. Discrepancies go to log and are counted in reg.
func NewPatrol(conn *cluster.Conn, store logstore.Store, keep job.Retention, log *slog.Logger, reg prometheus.Registerer) (*Patrol, error) {
	m, err := newMetrics(reg)
	if err != nil {
		return nil, err
	}
	return &Patrol{conn: conn, store: store, ledger: New(conn, store, keep), log: log, metrics: m}, nil
}

// Round judges what has come to be decided since the last round, and again runs of workflows, runs
// that are done elsewhere and the discrepancies that were found. While the history
// lacks records it does nothing: what it lacks may be anything.
func (p *Patrol) Round(ctx context.Context) error {
	audited, err := p.conn.Findings().Audited(ctx)
	if err != nil {
		return err
	}
	at, err := p.ledger.readPosition(ctx, -1, ingestWait)
	if err != nil {
		return err
	}
	if !at.ingested {
		return nil
	}
	p.lasting = nil
	for shard := range p.conn.Cluster().Shards {
		done := at.cursors[shard].Done
		from, known := audited[shard]
		if !known {
			from = latest(p.conn.Cluster().CreatedAt, done.Add(-firstLook))
		}
		to := earliest(done, from.Add(longestLook))
		if !to.After(from) {
			continue
		}
		if to, err = p.patrolShard(ctx, at, shard, from, to); err != nil {
			return fmt.Errorf("audit shard %d: %w", shard, err)
		}
		audited[shard] = to
	}
	if err := p.conn.Findings().PutAudited(ctx, audited); err != nil {
		return err
	}
	p.metrics.audited(audited)
	if err := p.lookAgain(ctx); err != nil {
		return fmt.Errorf("judge runs again that last: %w", err)
	}
	return p.recheck(ctx, at)
}

// patrolShard judges what was due in (from, to] in a shard, and returns up to where it
// could.
func (p *Patrol) patrolShard(ctx context.Context, at *position, shard int, from, to time.Time) (time.Time, error) {
	jobs, err := p.readVersions(ctx, shard)
	if err != nil {
		return from, err
	}
	for some := range slices.Chunk(jobs, atOnce) {
		var together []Evidence
		window := from
		for _, versions := range some {
			v := p.ledger.evidenceOf(at, versions[0].Job.Job, versions)
			if together = append(together, v); v.lasts() {
				p.lasting = append(p.lasting, v)
			}
			// What is spread was due later than it fired.
			window = earliest(window, from.Add(-v.reach()))
		}
		short, err := p.prefetch(ctx, together, window, to)
		if err != nil {
			return from, err
		}
		for _, v := range together {
			v.Store = short
			if to, err = p.patrolJob(ctx, v, from, to); err != nil {
				return from, err
			}
		}
	}
	return to, nil
}

// readVersions returns the versions of each job of a shard. The error may be a *[cluster.FormatError].
func (p *Patrol) readVersions(ctx context.Context, shard int) ([][]*bus.JobEntry, error) {
	index := map[string]int{}
	var jobs [][]*bus.JobEntry
	var newer error
	err := p.conn.Jobs().Read(ctx, shard, 0, 0, func(e jetstream.KeyValueEntry) {
		i, known := index[e.Key()]
		if !known {
			i = len(jobs)
			index[e.Key()] = i
			jobs = append(jobs, nil)
		}
		if e.Operation() != jetstream.KeyValuePut {
			jobs[i] = nil
			return
		}
		v, err := cluster.DecodeJobEntry(e)
		if _, ok := errors.AsType[*cluster.FormatError](err); ok {
			newer = err
		}
		if err == nil { // else schedulers pass over it, too
			jobs[i] = append(jobs[i], v)
		}
	})
	return slices.DeleteFunc(jobs, func(versions []*bus.JobEntry) bool { return len(versions) == 0 }), cmp.Or(err, newer)
}

// reach is by how much the job's fires may be due later than they are.
func (v Evidence) reach() time.Duration {
	var most time.Duration
	for _, version := range v.Versions {
		most = max(most, version.Schedule.Spread.Std())
	}
	return most
}

// patrolJob judges what was due in (from, to], and returns up to where it could.
func (p *Patrol) patrolJob(ctx context.Context, v Evidence, from, to time.Time) (time.Time, error) {
	var tally outcome.Tally
	var found []*outcome.Entry
	_, err := v.Judge(ctx, from.Add(-v.reach()), to.Add(time.Millisecond), func(e *outcome.Entry) bool {
		switch {
		case !e.Due.After(from) || e.Due.After(to):
			return true
		case e.Outcome == outcome.Undecided: // of a version that its shard has not heard of yet
			to = e.Due.Add(-time.Millisecond)
			return false
		}
		tally.Add(e)
		if e.Outcome == outcome.Discrepancy {
			found = append(found, e)
		}
		return true
	})
	if err != nil {
		return from, err
	}
	p.metrics.count(&tally)
	for _, e := range found {
		if err := p.report(ctx, v.Job, e); err != nil {
			return from, err
		}
	}
	return latest(from, to), nil
}

func (p *Patrol) report(ctx context.Context, name job.Name, e *outcome.Entry) error {
	f := &outcome.Finding{Job: name, FireTime: e.FireTime, RunID: e.RunID, Version: e.Version, Reason: e.Reason, FoundAt: time.Now().UTC().Truncate(time.Millisecond)}
	isNew, err := p.conn.Findings().Put(ctx, f)
	if err != nil || !isNew {
		return err
	}
	p.metrics.discrepancies.Inc()
	p.log.ErrorContext(ctx, "discrepancy in the ledger", "job", name, "fire_time", e.FireTime, "run_id", e.RunID, "version", e.Version, "reason", e.Reason)
	return nil
}

// prefetched is a history that has the rows of some jobs in a short range at hand.
type prefetched struct {
	logstore.Store
	from, to time.Time
	rows     map[job.Name][]runlog.Run // newest first
}

// prefetch reads what the history has of the jobs' fires with fire times in [from, to],
// unless that is much.
func (p *Patrol) prefetch(ctx context.Context, jobs []Evidence, from, to time.Time) (logstore.Store, error) {
	short := &prefetched{Store: p.store, from: from, to: to.Add(time.Millisecond), rows: map[job.Name][]runlog.Run{}}
	names := make([]job.Name, len(jobs))
	for i, v := range jobs {
		names[i] = v.Job
		short.rows[v.Job] = nil
	}
	filter := ofSchedule(names, short.from, short.to)
	for n := 0; n < atOnce*manyFires; {
		page, err := p.store.Runs(ctx, filter)
		if err != nil {
			return nil, fmt.Errorf("%w: read the history: %w", job.ErrUnavailable, err)
		}
		for _, r := range page.Runs {
			short.rows[r.Job] = append(short.rows[r.Job], r)
		}
		if n += len(page.Runs); page.Next == "" {
			return short, nil
		}
		filter.Cursor = page.Next
	}
	return p.store, nil
}

// Runs implements [logstore.Store].
func (s *prefetched) Runs(ctx context.Context, f logstore.RunFilter) (logstore.RunPage, error) {
	if len(f.Jobs) != 1 || f.From.Before(s.from) || f.To.After(s.to) || !reflect.DeepEqual(f, ofSchedule(f.Jobs, f.From, f.To)) {
		return s.Store.Runs(ctx, f)
	}
	rows, known := s.rows[f.Jobs[0]]
	if !known {
		return s.Store.Runs(ctx, f)
	}
	var page logstore.RunPage
	for _, r := range rows {
		if !r.FireTime.Before(f.From) && r.FireTime.Before(f.To) {
			page.Runs = append(page.Runs, r)
		}
	}
	return page, nil
}

// ofSchedule returns the filter for all runs of the jobs that their schedules owe for [from, to).
func ofSchedule(jobs []job.Name, from, to time.Time) logstore.RunFilter {
	return logstore.RunFilter{Jobs: jobs, Causes: job.ScheduledCauses, From: from, To: to, Limit: logstore.MaxRuns}
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
