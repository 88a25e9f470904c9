package clickhouse

import (
	"context"
	"fmt"
	"time"

	"carillon/logstore"
)

// Trim implements [logstore.Store]. It drops whole days, in UTC, which takes no time
// whatever they hold. A day of which a part is to stay stays.
func (s *Store) Trim(ctx context.Context, runsBefore, linesBefore time.Time) (logstore.Trimmed, error) {
	var trimmed logstore.Trimmed
	if err := s.Prepare(ctx); err != nil {
		return trimmed, err
	}
	if !runsBefore.IsZero() {
		var err error
		if trimmed.Runs, err = s.drop(ctx, "runs", "sumIf(sign, broadcast_index = -1)", runsBefore); err != nil {
			return trimmed, fmt.Errorf("trim runs: %w", err)
		}
		if _, err = s.drop(ctx, "run_events", "toInt64(count())", runsBefore); err != nil {
			return trimmed, fmt.Errorf("trim events: %w", err)
		}
	}
	if !linesBefore.IsZero() {
		var err error
		if trimmed.Lines, err = s.drop(ctx, "run_logs", "toInt64(uniqExact(run_id, attempt, broadcast_index, seq))", linesBefore); err != nil {
			return trimmed, fmt.Errorf("trim log lines: %w", err)
		}
	}
	return trimmed, nil
}

// drop drops the partitions of a table that end before an instant, and returns what
// count, an expression, says of their rows.
func (s *Store) drop(ctx context.Context, table, count string, before time.Time) (int64, error) {
	day := before.UTC().Truncate(24 * time.Hour)
	rows, err := s.conn.Query(ctx, "SELECT DISTINCT partition_id FROM system.parts WHERE active AND database = ? AND table = ? AND toUInt32(substring(partition_id, 1, 8)) < toYYYYMMDD(?) ORDER BY partition_id",
		s.layout.Database, s.layout.Local(table), day)
	if err != nil {
		return 0, fmt.Errorf("list days of %s: %w", table, explain(err))
	}
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return 0, fmt.Errorf("list days of %s: %w", table, err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("list days of %s: %w", table, explain(err))
	}
	if len(ids) == 0 {
		return 0, nil
	}
	var n int64
	if err := s.conn.QueryRow(ctx, "SELECT "+count+" FROM "+table+" WHERE fire_time < ?", day).Scan(&n); err != nil {
		return 0, fmt.Errorf("count rows of %s: %w", table, explain(err))
	}
	for _, id := range ids {
		if err := s.conn.Exec(ctx, "ALTER TABLE "+s.layout.Local(table)+" "+s.layout.OnCluster()+" DROP PARTITION ID '"+id+"'"); err != nil {
			return 0, fmt.Errorf("drop day %s of %s: %w", id, table, explain(err))
		}
	}
	return n, nil
}
