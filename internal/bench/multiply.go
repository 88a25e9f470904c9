package bench

import (
	"context"
	"fmt"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
)

// Each day of the lines is written as one sorted part, so that there is nothing to merge,
// as far as this much memory allows.
const (
	multiplyRows  = 4_000_000
	multiplyBytes = 1 << 30
)

// shiftedID is a run's id whose time is by days earlier.
const shiftedID = "toUUID(UUIDNumToString(toFixedString(concat(" +
	"reverse(substring(reinterpretAsString(toUInt64(toUnixTimestamp64Milli(fire_time) - 86400000 * days)), 1, 6)), substring(UUIDStringToNum(toString(run_id)), 7, 10)), 16)))"

// multiply makes the other days of a history of its last one, which the database at where
// has: each run with its lines once more, some days earlier. Each day is one insert.
func (s *seeding) multiply(ctx context.Context, where string, say func(runs, lines int)) error {
	conn, err := openBenchConn(where)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	ctx = ch.Context(ctx, ch.WithSettings(ch.Settings{
		"max_insert_threads": 1, "min_insert_block_size_rows": multiplyRows, "min_insert_block_size_bytes": multiplyBytes, "max_insert_block_size": multiplyRows,
	}))
	last := s.end.Truncate(oneDay)
	for age := 1; age <= seedDays; age++ {
		day := last.AddDate(0, 0, -age)
		// Of the last day's rows those that lie on such a day when they are moved by whole days.
		source := fmt.Sprintf("dateDiff('day', toDate('%s'), toDate(fire_time)) AS days, addDays(fire_time, -days) AS fire_at", day.Format(time.DateOnly))
		from := fmt.Sprintf("fire_time >= fromUnixTimestamp64Milli(%d, 'UTC') AND toDate(fire_time) > toDate('%s') AND days < %d", s.end.Add(-oneDay).UnixMilli(), day.Format(time.DateOnly), seedDays)
		moved := func(column string) string {
			return fmt.Sprintf("if(toUnixTimestamp64Milli(%[1]s) = 0, %[1]s, addDays(%[1]s, -days))", column)
		}
		version := 1 + (seedDays-age)*3/seedDays
		err := conn.Exec(ctx, fmt.Sprintf("INSERT INTO runs (run_id, attempt, group, job, version, status, run_status, cause, fire_time, committed_at, delivered_at, started_at, finished_at, instance, delivery, "+
			"exit_code, message, log_lines, reported, retry, sign, revision, measured, batch) "+
			"WITH %s SELECT %s, attempt, group, job, %d, status, run_status, cause, fire_at, %s, %s, %s, %s, instance, delivery, exit_code, message, log_lines, reported, retry, sign, revision, "+
			"duration_ms >= 0, batch FROM runs FINAL WHERE sign = 1 AND %s", source, shiftedID, version, moved("committed_at"), moved("delivered_at"), moved("started_at"), moved("finished_at"), from))
		if err != nil {
			return fmt.Errorf("make runs of %s: %w", day.Format(time.DateOnly), err)
		}
		err = conn.Exec(ctx, fmt.Sprintf("INSERT INTO run_logs (group, job, run_id, attempt, seq, fire_time, at, level, output, text, retention_days, precedence) "+
			"WITH %s SELECT group, job, %s, attempt, seq, fire_at, addDays(at, -days), level, output, text, retention_days, precedence FROM run_logs WHERE %s", source, shiftedID, from))
		if err != nil {
			return fmt.Errorf("make lines of %s: %w", day.Format(time.DateOnly), err)
		}
		say(s.runs/seedDays*min(age+1, seedDays), s.lines/seedDays*min(age+1, seedDays))
	}
	return nil
}
