package clickhouse

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// column is some values of one column, as a slice of the type that the driver takes.
type column struct {
	name   string
	values any
}

// insert adds a block to a table, once for each token. An empty token is none.
func (w *writer) insert(ctx context.Context, table, token string, columns []column) error {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].name
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(insertSettings(token)))
	batch, err := w.conn.PrepareBatch(ctx, "INSERT INTO "+table+" ("+strings.Join(names, ", ")+")")
	if err != nil {
		return fmt.Errorf("insert into %s: %w", table, database.Explain(err))
	}
	defer func() { _ = batch.Close() }() // of one that was not sent
	for i := range columns {
		if err := batch.Column(i).Append(columns[i].values); err != nil {
			return fmt.Errorf("insert into %s: column %s: %w", table, columns[i].name, err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("insert into %s: %w", table, database.Explain(err))
	}
	return nil
}

func insertSettings(token string) clickhouse.Settings {
	settings := clickhouse.Settings{
		"async_insert": 0,
		// A backfill writes runs of many days at once.
		"max_partitions_per_insert_block": 0,
		// Rows that a distributed table holds back would not be there for the next read.
		"distributed_foreground_insert":                      1,
		"deduplicate_blocks_in_dependent_materialized_views": 1,
	}
	if token != "" {
		settings["insert_deduplication_token"] = token
	}
	return settings
}

// nextPrecedence returns a number below all that this program has returned and, as
// far as clocks agree, all of other programs.
func (w *writer) nextPrecedence() int64 {
	for {
		last := w.precedence.Load()
		next := -time.Now().UnixNano()
		if last != 0 {
			next = min(next, last-1)
		}
		if w.precedence.CompareAndSwap(last, next) {
			return next
		}
	}
}
