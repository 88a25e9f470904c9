package clickhouse

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// firstCount is how much of a range is counted first, from its end: how long that takes
// tells how much more there is time for.
const firstCount = time.Hour

// countMore is how many times the part before each further part of a range may be.
const countMore = 12

// CountHits implements [logstore.Store]. It asks for parts of the range that grow, none
// for more than what it has time for by how long the one before took.
func (l *logLines) CountHits(ctx context.Context, filter logstore.HitCountFilter) (logstore.HitCounts, error) {
	if err := filter.Validate(); err != nil {
		return logstore.HitCounts{}, err
	}
	if err := l.Prepare(ctx); err != nil {
		return logstore.HitCounts{}, err
	}
	filter = filter.WithDefaults()
	counts := logstore.NewHitCounts(&filter)
	deadline := time.Now().Add(filter.Within)
	limited, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	n := int((firstCount + counts.Step - 1) / counts.Step)
	for to := len(counts.Buckets); to > 0; {
		from := max(to-n, 0)
		began := time.Now()
		err := l.countHits(limited, &filter, &counts, from, to)
		switch {
		case err == nil:
		case ctx.Err() == nil && !time.Now().Before(deadline): // which the driver may notice before the context does
			counts.CutAt(counts.Buckets[to-1].At)
			return counts, nil
		default:
			return logstore.HitCounts{}, fmt.Errorf("count hits: %w", err)
		}
		took, left := max(time.Since(began), time.Millisecond), time.Until(deadline)
		n = max(min((to-from)*countMore, int(time.Duration(to-from)*left/took)), 1)
		to = from
	}
	return counts, nil
}

// countHits counts what is in some buckets, all or nothing.
func (l *logLines) countHits(ctx context.Context, f *logstore.HitCountFilter, counts *logstore.HitCounts, from, to int) error {
	narrow := f.SearchFilter
	if narrow.From = counts.Buckets[from].At; to < len(counts.Buckets) {
		narrow.To = counts.Buckets[to].At
	}
	c, err := ofHits(&narrow)
	if err != nil {
		return err
	}
	// Fire times are whole milliseconds, and the range may begin between two of them.
	rows, err := l.conn.Query(ctx, fmt.Sprintf("SELECT toInt64(intDiv(toUnixTimestamp64Milli(fire_time) - %d, %d)) AS bucket, toString(level) AS word, count() AS hits FROM run_logs%s GROUP BY bucket, word",
		ceilMillis(counts.From), counts.Step.Milliseconds(), c.clause()), c.args...)
	if err != nil {
		return database.Explain(err)
	}
	defer func() { _ = rows.Close() }()
	type found struct {
		bucket int64
		level  string
		n      uint64
	}
	var all []found
	for rows.Next() {
		var r found
		if err := rows.Scan(&r.bucket, &r.level, &r.n); err != nil {
			return err
		}
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		return database.Explain(err)
	}
	for _, r := range all {
		counts.Add(counts.Buckets[r.bucket].At, r.level, int(r.n)) //nolint:gosec // is a number of rows
	}
	return nil
}
