package clickhouse

import (
	"context"
	"fmt"

	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// Settle merges the parts of each day of runs, lines and reports into one, and returns when
// that is done. A server does so by itself, in hours; a measurement cannot wait for it.
func (t *trimmer) Settle(ctx context.Context) error {
	if err := t.Prepare(ctx); err != nil {
		return err
	}
	for _, table := range []string{"runs", "run_events", "run_logs", "report_minute", "report_hour", "report_day", "report_instance"} {
		err := t.conn.Exec(ctx, "OPTIMIZE TABLE "+t.db.Layout.Local(table)+" "+t.db.Layout.OnCluster()+" FINAL SETTINGS optimize_skip_merged_partitions = 1")
		if err != nil {
			return fmt.Errorf("merge parts of %s: %w", table, database.Explain(err))
		}
	}
	return nil
}

// Size is what a table takes on the server that answers.
type Size struct {
	Rows  uint64
	Bytes uint64
}

// Sizes returns the size of each table by its name.
func (t *trimmer) Sizes(ctx context.Context) (map[string]Size, error) {
	if err := t.Prepare(ctx); err != nil {
		return nil, err
	}
	rows, err := t.conn.Query(ctx, "SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database = ? GROUP BY table", t.db.Layout.Database)
	if err != nil {
		return nil, fmt.Errorf("measure tables: %w", database.Explain(err))
	}
	defer func() { _ = rows.Close() }()
	sizes := map[string]Size{}
	for rows.Next() {
		var name string
		var size Size
		if err := rows.Scan(&name, &size.Rows, &size.Bytes); err != nil {
			return nil, fmt.Errorf("measure tables: %w", err)
		}
		sizes[name] = size
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("measure tables: %w", database.Explain(err))
	}
	return sizes, nil
}

// disk returns the fullest disk of all servers. What keeps objects elsewhere has no end,
// and is left out.
func (s *server) disk(ctx context.Context) (logstore.Disk, error) {
	rows, err := s.conn.Query(ctx, "SELECT total_space, free_space FROM "+s.db.Layout.Everyone("system.disks")+
		" WHERE type = 'Local' AND total_space > 0 ORDER BY free_space / total_space LIMIT 1")
	if err != nil {
		return logstore.Disk{}, fmt.Errorf("measure disks: %w", database.Explain(err))
	}
	defer func() { _ = rows.Close() }()
	var total, free uint64
	for rows.Next() {
		if err := rows.Scan(&total, &free); err != nil {
			return logstore.Disk{}, fmt.Errorf("measure disks: %w", err)
		}
	}
	const most = 1 << 62
	return logstore.Disk{Total: int64(min(total, most)), Free: int64(min(free, most))}, database.Explain(rows.Err())
}
