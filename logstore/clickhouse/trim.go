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
		ended, err := s.drop(ctx, "runs", "", runsBefore)
		if err != nil {
			return trimmed, fmt.Errorf("trim runs: %w", err)
		}
		open, err := s.drop(ctx, "run_open", fmt.Sprintf("toInt8(status) < %d", firstFinal), runsBefore)
		if err != nil {
			return trimmed, fmt.Errorf("trim runs: %w", err)
		}
		if _, err := s.drop(ctx, "run_events", "", runsBefore); err != nil {
			return trimmed, fmt.Errorf("trim events: %w", err)
		}
		trimmed.Runs = ended + open
	}
	if !linesBefore.IsZero() {
		var err error
		if trimmed.Lines, err = s.drop(ctx, "run_logs", "", linesBefore); err != nil {
			return trimmed, fmt.Errorf("trim log lines: %w", err)
		}
	}
	return trimmed, nil
}

// drop drops the partitions of a table that end before an instant, and returns how
// many of their rows counted: those of which condition is true, or all.
func (s *Store) drop(ctx context.Context, table, condition string, before time.Time) (int64, error) {
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
	count := "SELECT count() FROM " + table + " FINAL WHERE fire_time < ?"
	if condition != "" {
		count += " AND " + condition
	}
	var n uint64
	if err := s.conn.QueryRow(ctx, count, day).Scan(&n); err != nil {
		return 0, fmt.Errorf("count rows of %s: %w", table, explain(err))
	}
	for _, id := range ids {
		if err := s.conn.Exec(ctx, "ALTER TABLE "+s.layout.Local(table)+" "+s.layout.OnCluster()+" DROP PARTITION ID '"+id+"'"); err != nil {
			return 0, fmt.Errorf("drop day %s of %s: %w", id, table, explain(err))
		}
	}
	return int64(n), nil
}
