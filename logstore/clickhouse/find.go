package clickhouse

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"
	"github.com/google/uuid"

	"carillon/logstore"
)

// The conditions that lead a query to the rows of the keys that it brings along:
// fire times to the few granules that hold them, recent ones as a rule, then exactly.
const byKeys = "fire_time IN (SELECT fire_time FROM wanted) AND (run_id, attempt) IN (SELECT run_id, attempt FROM wanted)"

// withKeys gives a query the table "wanted". As text, thousands of keys would be too
// long.
func withKeys(ctx context.Context, keys []key) (context.Context, error) {
	fire, ids, attempts := make([]int64, len(keys)), make([]uuid.UUID, len(keys)), make([]uint32, len(keys))
	for i, k := range keys {
		fire[i], ids[i], attempts[i] = k.fire, k.id, k.attempt
	}
	table, err := ext.NewTable("wanted", ext.Column("fire_time", "DateTime64(3, 'UTC')"), ext.Column("run_id", "UUID"), ext.Column("attempt", "UInt32"))
	if err != nil {
		return nil, fmt.Errorf("make table of %d keys: %w", len(keys), err)
	}
	for i, values := range []any{fire, ids, attempts} {
		if _, err := table.Block().Columns[i].Append(values); err != nil {
			return nil, fmt.Errorf("make table of %d keys: %w", len(keys), err)
		}
	}
	return clickhouse.Context(ctx, clickhouse.WithExternalTable(table)), nil
}

// end is how an attempt ended, and the write that brought the news.
type end struct {
	status     int8
	finishedAt int64
	batch      string
}

// findEnds returns the ends that the store has of attempts.
func (s *Store) findEnds(ctx context.Context, keys []key) (map[key]end, error) {
	found := map[key]end{}
	if len(keys) == 0 {
		return found, nil
	}
	ctx, err := withKeys(ctx, keys)
	if err != nil {
		return nil, err
	}
	rows, err := s.conn.Query(ctx, "SELECT fire_time, run_id, attempt, toInt8(status), finished_at, batch FROM runs WHERE "+byKeys)
	if err != nil {
		return nil, fmt.Errorf("look for ends: %w", explain(err))
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var k key
		var e end
		var fire, finished time.Time
		if err := rows.Scan(&fire, &k.id, &k.attempt, &e.status, &finished, &e.batch); err != nil {
			return nil, fmt.Errorf("look for ends: %w", err)
		}
		k.fire, e.finishedAt = fire.UnixMilli(), finished.UnixMilli()
		found[k] = e
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look for ends: %w", explain(err))
	}
	return found, nil
}

// holder is who had an attempt last.
type holder struct {
	instance  string
	delivery  int
	startedAt time.Time
}

// of returns u with what its reporter did not know.
func (h holder) of(u *logstore.Update) *logstore.Update {
	named := *u
	named.Instance, named.Delivery = h.instance, h.delivery
	if named.StartedAt.IsZero() {
		named.StartedAt = h.startedAt
	}
	return &named
}

// findInstances returns who had attempts last: the owner of a shard, who says that a
// run is lost, does not know whose it was, and people will ask. It is who had the
// highest delivery.
func (s *Store) findInstances(ctx context.Context, keys []key) (map[key]holder, error) {
	found := map[key]holder{}
	if len(keys) == 0 {
		return found, nil
	}
	ctx, err := withKeys(ctx, keys)
	if err != nil {
		return nil, err
	}
	rows, err := s.conn.Query(ctx, "SELECT fire_time, run_id, attempt, argMax(toString(instance), delivery), max(delivery), argMax(started_at, delivery) "+
		"FROM run_events WHERE instance != '' AND kind != 'late' AND "+byKeys+" GROUP BY fire_time, run_id, attempt")
	if err != nil {
		return nil, fmt.Errorf("look for instances: %w", explain(err))
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var k key
		var h holder
		var fire, started time.Time
		var delivery uint32
		if err := rows.Scan(&fire, &k.id, &k.attempt, &h.instance, &delivery, &started); err != nil {
			return nil, fmt.Errorf("look for instances: %w", err)
		}
		k.fire, h.delivery, h.startedAt = fire.UnixMilli(), int(delivery), instant(started)
		found[k] = h
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look for instances: %w", explain(err))
	}
	return found, nil
}

// findOpen returns the rows that close those of the attempts that are under way for
// readers.
func (s *Store) findOpen(ctx context.Context, keys []key) (*closed, error) {
	ctx, err := withKeys(ctx, keys)
	if err != nil {
		return nil, err
	}
	rows, err := s.conn.Query(ctx, "SELECT fire_time, run_id, attempt, toString(any(o.group)), toString(any(o.job)), any(o.version), toInt8(any(o.cause)) "+
		"FROM run_open AS o WHERE "+byKeys+fmt.Sprintf(" GROUP BY fire_time, run_id, attempt HAVING toInt8(max(o.status)) < %d", firstFinal))
	if err != nil {
		return nil, fmt.Errorf("look for what is under way: %w", explain(err))
	}
	defer func() { _ = rows.Close() }()
	found, now := &closed{}, time.Now().UTC()
	for rows.Next() {
		var k key
		var fire time.Time
		var group, name string
		var version uint32
		var cause int8
		if err := rows.Scan(&fire, &k.id, &k.attempt, &group, &name, &version, &cause); err != nil {
			return nil, fmt.Errorf("look for what is under way: %w", err)
		}
		found.runID, found.attempt = append(found.runID, k.id), append(found.attempt, k.attempt)
		found.group, found.job = append(found.group, group), append(found.job, name)
		found.version, found.cause = append(found.version, version), append(found.cause, cause)
		found.fireTime, found.status = append(found.fireTime, fire.UnixMilli()), append(found.status, firstFinal)
		found.endedAt = append(found.endedAt, now)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look for what is under way: %w", explain(err))
	}
	return found, nil
}
