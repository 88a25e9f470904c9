package clickhouse

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"
	"github.com/google/uuid"
)

// byPlaces are the conditions that lead a query to the rows of the places that it brings
// along: fire times to the few granules that hold them, recent ones as a rule, then
// exactly.
const byPlaces = "fire_time IN (SELECT fire_time FROM wanted) AND (run_id, broadcast_index) IN (SELECT run_id, broadcast_index FROM wanted)"

// byRuns are those that lead to all rows of the runs of the places.
const byRuns = "fire_time IN (SELECT fire_time FROM wanted) AND run_id IN (SELECT run_id FROM wanted)"

// withPlaces gives a query the table "wanted". As text, thousands of places would be
// too long.
func withPlaces[V any](ctx context.Context, places map[place]V) (context.Context, error) {
	n := len(places)
	fire, ids, indexes := make([]int64, 0, n), make([]uuid.UUID, 0, n), make([]int32, 0, n)
	for p := range places {
		fire, ids, indexes = append(fire, p.fire), append(ids, p.id), append(indexes, p.index)
	}
	table, err := ext.NewTable("wanted", ext.Column("fire_time", "DateTime64(3, 'UTC')"), ext.Column("run_id", "UUID"), ext.Column("broadcast_index", "Int32"))
	if err != nil {
		return nil, fmt.Errorf("make table of %d places: %w", n, err)
	}
	for i, values := range []any{fire, ids, indexes} {
		if _, err := table.Block().Columns[i].Append(values); err != nil {
			return nil, fmt.Errorf("make table of %d places: %w", n, err)
		}
	}
	return clickhouse.Context(ctx, clickhouse.WithExternalTable(table)), nil
}
