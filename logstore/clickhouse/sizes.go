package clickhouse

import (
	"context"
	"fmt"
)

// Size is what a table takes on the server that answers.
type Size struct {
	Rows  uint64
	Bytes uint64
}

// Sizes returns the size of each table by its name.
func (s *Store) Sizes(ctx context.Context) (map[string]Size, error) {
	if err := s.Prepare(ctx); err != nil {
		return nil, err
	}
	rows, err := s.conn.Query(ctx, "SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND database = ? GROUP BY table", s.layout.Database)
	if err != nil {
		return nil, fmt.Errorf("measure tables: %w", explain(err))
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
		return nil, fmt.Errorf("measure tables: %w", explain(err))
	}
	return sizes, nil
}
