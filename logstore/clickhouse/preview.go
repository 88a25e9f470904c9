package clickhouse

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// Preview implements [logstore.Store].
func (t *trimmer) Preview(ctx context.Context, now time.Time, r job.Retention) (runlog.Effect, error) {
	var effect runlog.Effect
	if err := t.Prepare(ctx); err != nil {
		return effect, err
	}
	var runBytes, lineBytes int64
	for _, table := range runTables {
		days, err := t.partitions(ctx, table.name)
		if err != nil {
			return effect, err
		}
		for _, p := range days {
			runBytes += p.bytes
		}
	}
	if err := t.conn.QueryRow(ctx, "SELECT sumIf(sign, broadcast_index = -1) FROM runs").Scan(&effect.Now.Runs); err != nil {
		return effect, fmt.Errorf("count runs: %w", database.Explain(err))
	}
	lines, err := t.partitions(ctx, "run_logs")
	if err != nil {
		return effect, err
	}
	for _, p := range lines {
		effect.Now.Lines += p.rows
		lineBytes += p.bytes
	}
	effect.Now.Bytes = runBytes + lineBytes
	bytesOfRun := float64(runBytes) / float64(max(effect.Now.Runs, 1))

	if effect.Frees.Runs, err = t.countOld(ctx, now, &r); err != nil {
		return effect, err
	}
	effect.Frees.Bytes = int64(float64(effect.Frees.Runs) * bytesOfRun)
	due, err := t.dueLines(ctx, now, &r)
	if err != nil {
		return effect, err
	}
	for _, p := range due {
		effect.Frees.Lines += p.rows
		effect.Frees.Bytes += p.bytes
	}
	rates := logstore.NewRates(now, &r)
	if err := t.addRates(ctx, rates); err != nil {
		return effect, err
	}
	effect.Expected = rates.Expected(bytesOfRun, float64(lineBytes)/float64(max(effect.Now.Lines, 1)))
	return effect, nil
}

// addRates adds what each job has written of late.
func (t *trimmer) addRates(ctx context.Context, rates *logstore.Rates) error {
	const recent = "WHERE fire_time >= fromUnixTimestamp64Milli(?, 'UTC') GROUP BY job"
	from := rates.From().UnixMilli()
	rows, err := t.conn.Query(ctx, "SELECT toString(job), sum(runs), sum(lines), min(oldest) FROM ("+
		"SELECT job, sumIf(sign, broadcast_index = -1) AS runs, 0 AS lines, min(fire_time) AS oldest FROM runs "+recent+
		" UNION ALL SELECT job, 0, toInt64(count()), min(fire_time) FROM run_logs "+recent+") GROUP BY job", from, from)
	if err != nil {
		return fmt.Errorf("count what jobs write: %w", database.Explain(err))
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		var runs, lines int64
		var oldest time.Time
		if err := rows.Scan(&name, &runs, &lines, &oldest); err != nil {
			return fmt.Errorf("count what jobs write: %w", err)
		}
		rates.Add(job.Name(name), runs, lines, oldest)
	}
	return database.Explain(rows.Err())
}
