package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse"
	"github.com/carillon-scheduler/carillon/logstore/ingest"
)

const (
	benchLines = 10     // of each run's log
	rawBlock   = 20_000 // rows of an insert that the driver makes by itself; of ingest, 20,000 are the most
)

// benchIngest has the ends of o.jobs runs and the lines of their logs wait on the bus,
// and takes the time until ClickHouse has them, first the lines and then the runs, whose
// profile goes to a file of its own. Beside that it inserts as many rows into such tables
// with the driver alone.
func benchIngest(ctx context.Context, o benchOptions) (*benchResult, error) {
	w, err := newStoreWorld(ctx, o.store)
	if err != nil {
		return nil, err
	}
	defer w.close(ctx)

	probe, err := openBenchConn(o.store)
	if err != nil {
		return nil, err
	}
	defer func() { _ = probe.Close() }()

	r := &benchResult{Jobs: o.jobs, Count: o.jobs * benchLines}
	past := yesterday(w.benchWorld)
	before, err := settledCPU(ctx, w.store, probe)
	if err != nil {
		return nil, err
	}
	lines, used, err := w.timeIngest(ctx, o, w.store, bus.StreamLog, bus.ConsumerLogs, past.log)
	if err != nil {
		return nil, err
	}
	r.Seconds, r.Rate, r.CPUMicros = lines.Seconds(), float64(r.Count)/lines.Seconds(), each(used, r.Count)
	between, err := settledCPU(ctx, w.store, probe)
	if err != nil {
		return nil, err
	}
	r.StoreMicros = each(between-before, r.Count)
	if o.profile != "" {
		o.profile += ".ends"
	}
	runs, used, err := w.timeIngest(ctx, o, w.store, bus.StreamEvt, bus.ConsumerEvents, past.end)
	if err != nil {
		return nil, err
	}
	after, err := settledCPU(ctx, w.store, probe)
	if err != nil {
		return nil, err
	}
	r.Runs, r.RunsMicros, r.RunsStoreMicros = float64(o.jobs)/runs.Seconds(), each(used, o.jobs), each(after-between, o.jobs)
	counts, err := w.store.Counts(ctx, logstore.RunFilter{})
	if err != nil {
		return nil, err
	}
	r.Lost, r.Doubled = max(0, o.jobs-counts[job.StatusSucceeded]), max(0, counts[job.StatusSucceeded]-o.jobs)

	raw, err := w.database()
	if err != nil {
		return nil, err
	}
	if err := r.rawInserts(ctx, raw, past, o.jobs); err != nil {
		return nil, err
	}
	r.RunsRatio = r.Runs / r.RawRuns
	r.CPURatio = (r.RawMicros + r.RawStoreMicros) / (r.CPUMicros + r.StoreMicros)
	r.RunsCPURatio = (r.RawRunsMicros + r.RawRunsStoreMicros) / (r.RunsMicros + r.RunsStoreMicros)
	return r, nil
}

// timeIngest publishes what say tells of each run, and then takes the time that
// ingest needs for it.
func (w *benchWorld) timeIngest(ctx context.Context, o benchOptions, store logstore.Store, stream, consumer string, say func(i int) (*nats.Msg, error)) (took, cpu time.Duration, err error) {
	if err := w.publish(ctx, o.jobs, say); err != nil {
		return 0, 0, err
	}
	in, err := ingest.New(w.conn, store, ingest.Config{Logger: warnings()})
	if err != nil {
		return 0, 0, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	meter, err := startMeter(o.profile)
	if err != nil {
		return 0, 0, err
	}
	defer meter.stop()
	ended := make(chan error, 1)
	go func() { ended <- in.Run(ctx) }()
	err = poll(ctx, func() (bool, error) {
		if err := pause.For(ctx, 10*time.Millisecond); err != nil {
			return false, err
		}
		return w.taken(ctx, stream, consumer, o.jobs)
	})
	if err != nil {
		return 0, 0, err
	}
	took, cpu = meter.stop()
	stop()
	return took, cpu, <-ended
}

// taken reports whether the store has the first n messages of a stream.
func (w *benchWorld) taken(ctx context.Context, stream, consumer string, n int) (bool, error) {
	c, err := w.conn.JS.Consumer(ctx, stream, consumer)
	return err == nil && c.CachedInfo().AckFloor.Stream >= uint64(n), err //nolint:gosec // a count is positive
}

// publish publishes n messages, and returns when the streams have them.
func (w *benchWorld) publish(ctx context.Context, n int, say func(i int) (*nats.Msg, error)) error {
	js, err := jetstream.New(w.conn.NC, jetstream.WithPublishAsyncMaxPending(4000))
	if err != nil {
		return err
	}
	for i := range n {
		m, err := say(i)
		if err != nil {
			return err
		}
		if _, err := js.PublishMsgAsync(m, jetstream.WithStallWait(time.Minute)); err != nil {
			return err
		}
	}
	select {
	case <-js.PublishAsyncComplete():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// benchPast is what an ingest bench makes up: 500 runs in each second of a day that is not
// long ago, so that nothing of it is old enough to be deleted instead of merged.
type benchPast struct {
	from   time.Time
	shards int
	tokens *bus.Tokens
}

func yesterday(w *benchWorld) *benchPast {
	return &benchPast{from: time.Now().UTC().Add(-oneDay).Truncate(oneDay), shards: w.conn.Cluster().Shards, tokens: w.conn.Tokens()}
}

// fired is when run i fired, and of which job it is.
func (p *benchPast) fired(i int) (time.Time, job.Name) {
	return p.from.Add(time.Duration(i/500) * time.Second), benchJob(i % 500)
}

// trigger is what run i was triggered with.
func (p *benchPast) trigger(i int) *bus.Trigger {
	fire, name := p.fired(i)
	return &bus.Trigger{
		RunID: job.FireRunID(name, fire.UnixMilli(), job.CauseSchedule), Job: name, Version: 1, Shard: name.Shard(p.shards), Attempt: 1,
		Cause: job.CauseSchedule, FireTime: fire, CommittedAt: fire.Add(5 * time.Millisecond),
	}
}

func (p *benchPast) log(i int) (*nats.Msg, error) {
	t := p.trigger(i)
	fire := t.FireTime
	l := &bus.Log{RunID: t.RunID, Job: t.Job, Attempt: 1, Instance: "worker-1"}
	for seq := range benchLines {
		l.Lines = append(l.Lines, bus.LogLine{
			Seq: int64(seq + 1), At: fire.Add(time.Duration(seq) * time.Millisecond), Level: bus.LevelInfo, Output: bus.OutputStdout, Text: benchText(i, seq),
		})
	}
	return l.Msg(p.tokens.Trigger(t, false, fire))
}

// benchText is a line as programs write them, about 76 bytes long.
func benchText(i, seq int) string {
	return fmt.Sprintf("request %08x handled for customer %d in %d ms, cache hit, %d rows written", i*7919+seq*104729, i%5000, seq*13%97, i%311)
}

func (p *benchPast) end(i int) (*nats.Msg, error) {
	t := p.trigger(i)
	fire := t.FireTime
	e := bus.EventOf(t, bus.EventFinished, fire.Add(time.Second))
	e.Status, e.Instance, e.Delivery, e.FinishedAt, e.LogLines = job.StatusSucceeded, "worker-1", 1, e.At, benchLines
	e.DeliveredAt, e.StartedAt = fire.Add(7*time.Millisecond), fire.Add(8*time.Millisecond)
	return e.Msg(p.tokens.Trigger(t, false, fire))
}

// settledCPU waits until parts are merged, and returns what ClickHouse has used of its
// processors by then, for queries and merges: those of the lines must neither take them
// from the runs that come next, nor be counted as theirs.
func settledCPU(ctx context.Context, store *clickhouse.Store, conn driver.Conn) (time.Duration, error) {
	if err := store.Settle(ctx); err != nil {
		return 0, err
	}
	var micros uint64
	err := conn.QueryRow(ctx, "SELECT sum(value) FROM system.events WHERE event = 'OSCPUVirtualTimeMicroseconds'").Scan(&micros)
	return time.Duration(micros) * time.Microsecond, err
}

// rawInserts takes how many lines and runs the driver inserts a second into the store's own
// tables, with the views that make the reports, in blocks of columns that are ready.
func (r *benchResult) rawInserts(ctx context.Context, address string, past *benchPast, jobs int) error {
	store, err := openBenchStore(ctx, address) // makes the tables
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	conn, err := openBenchConn(address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	insert := func(atLeast int, query string, block func(from int) []any) (rate, micros, storeMicros float64, err error) {
		rows := (atLeast + rawBlock - 1) / rawBlock * rawBlock
		before, err := settledCPU(ctx, store, conn)
		if err != nil {
			return 0, 0, 0, err
		}
		var took, used time.Duration
		for from := 0; from < rows; from += rawBlock {
			columns := block(from)
			begun, cpu := time.Now(), cpuTime()
			batch, err := conn.PrepareBatch(ctx, query)
			if err != nil {
				return 0, 0, 0, err
			}
			for i, values := range columns {
				if err := batch.Column(i).Append(values); err != nil {
					return 0, 0, 0, err
				}
			}
			if err := batch.Send(); err != nil {
				return 0, 0, 0, err
			}
			took, used = took+time.Since(begun), used+cpuTime()-cpu
		}
		after, err := settledCPU(ctx, store, conn)
		return float64(rows) / took.Seconds(), each(used, rows), each(after-before, rows), err
	}
	r.RawRate, r.RawMicros, r.RawStoreMicros, err = insert(jobs*benchLines, "INSERT INTO run_logs (group, job, run_id, attempt, seq, fire_time, at, level, output, text, retention_days, precedence)", past.rawLines)
	if err != nil {
		return err
	}
	r.RawRuns, r.RawRunsMicros, r.RawRunsStoreMicros, err = insert(jobs, "INSERT INTO runs (run_id, attempt, group, job, version, status, run_status, reported, cause, fire_time, committed_at, delivered_at, started_at, finished_at, instance, delivery, exit_code, log_lines, sign, revision, measured, batch)", past.rawEnds)
	return err
}

func (p *benchPast) rawLines(from int) []any {
	var c struct {
		group, name, level, output, text []string
		id                               []uuid.UUID
		attempt                          []uint32
		seq                              []uint64
		fire, at, precedence             []int64
		days                             []uint16
	}
	now := time.Now().UnixNano() // lines are kept from when they were written
	for n := from; n < from+rawBlock; n++ {
		i, seq := n/benchLines, n%benchLines
		fire, name := p.fired(i)
		c.group, c.name, c.level, c.output = append(c.group, name.Group()), append(c.name, string(name)), append(c.level, "info"), append(c.output, "stdout")
		c.text = append(c.text, benchText(i, seq))
		c.id = append(c.id, uuid.MustParse(string(job.FireRunID(name, fire.UnixMilli(), job.CauseSchedule))))
		c.attempt, c.seq = append(c.attempt, 1), append(c.seq, uint64(seq+1)) //nolint:gosec // is positive
		c.fire, c.at, c.precedence = append(c.fire, fire.UnixMilli()), append(c.at, fire.UnixMilli()+int64(seq)), append(c.precedence, -now)
		c.days = append(c.days, 365)
	}
	return []any{c.group, c.name, c.id, c.attempt, c.seq, c.fire, c.at, c.level, c.output, c.text, c.days, c.precedence}
}

// rawEnds are rows as the store makes them, so that the views of the reports have as much
// to do.
func (p *benchPast) rawEnds(from int) []any {
	var c struct {
		id                                     []uuid.UUID
		attempt, version, delivery, lines, rev []uint32
		group, name, instance, batch           []string
		status, cause, sign                    []int8
		fire, committed, delivered             []int64
		started, finished                      []int64
		exit                                   []*int32
		measured                               []bool
	}
	for i := from; i < from+rawBlock; i++ {
		fire, name := p.fired(i)
		ms := fire.UnixMilli()
		c.id = append(c.id, uuid.MustParse(string(job.FireRunID(name, ms, job.CauseSchedule))))
		c.attempt, c.version, c.delivery, c.lines, c.rev = append(c.attempt, 1), append(c.version, 1), append(c.delivery, 1), append(c.lines, benchLines), append(c.rev, 1)
		c.group, c.name, c.instance, c.batch = append(c.group, name.Group()), append(c.name, string(name)), append(c.instance, "worker-1"), append(c.batch, "EVT:1-10000")
		c.status, c.cause, c.sign, c.measured, c.exit = append(c.status, 10), append(c.cause, 1), append(c.sign, 1), append(c.measured, true), append(c.exit, nil)
		c.fire, c.committed, c.delivered, c.started, c.finished = append(c.fire, ms), append(c.committed, ms+5), append(c.delivered, ms+7), append(c.started, ms+8), append(c.finished, ms+1000)
	}
	return []any{
		c.id, c.attempt, c.group, c.name, c.version, c.status, c.status, c.status, c.cause, c.fire, c.committed, c.delivered, c.started, c.finished,
		c.instance, c.delivery, c.exit, c.lines, c.sign, c.rev, c.measured, c.batch,
	}
}
