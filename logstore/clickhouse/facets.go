package clickhouse

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// facetsAtOnce is how many dimensions are counted at a time.
const facetsAtOnce = 3

var facetColumn = map[runlog.Dimension]string{
	runlog.ByCause: "cause", runlog.ByGroup: "group", runlog.ByJob: "job", runlog.ByVersion: "version", runlog.ByInstance: "instance",
	runlog.ByReason: "if(end_reason != '', end_reason, reason)",
}

// Facets implements [logstore.Store].
func (s *statistics) Facets(ctx context.Context, filter logstore.FacetFilter) (runlog.Facets, error) {
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	if err := s.Prepare(ctx); err != nil {
		return nil, err
	}
	filter = filter.WithDefaults()
	found := make([][]runlog.FacetValue, len(filter.By))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(facetsAtOnce)
	for i, d := range filter.By {
		apart, _ := filter.Apart(d)
		g.Go(func() (err error) {
			found[i], err = s.facet(ctx, &apart, d, filter.Values)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	facets := runlog.Facets{}
	for i, d := range filter.By {
		facets[d] = found[i]
	}
	return facets, nil
}

func (s *statistics) facet(ctx context.Context, f *logstore.RunFilter, d runlog.Dimension, values int) ([]runlog.FacetValue, error) {
	c, err := ofRuns(f)
	if err != nil {
		return nil, err
	}
	column := facetColumn[d]
	if d == runlog.ByStatus {
		column = statusColumn(f)
	}
	rows, err := s.conn.Query(ctx, fmt.Sprintf("SELECT toString(%s) AS value, sum(sign * toInt64(count)) AS fires FROM runs%s GROUP BY value HAVING fires > 0 AND value != '' ORDER BY fires DESC, value LIMIT %d",
		column, c.clause(), values), c.args...)
	if err != nil {
		return nil, fmt.Errorf("count by %s: %w", d, database.Explain(err))
	}
	defer func() { _ = rows.Close() }()
	found := []runlog.FacetValue{}
	for rows.Next() {
		var value string
		var n int64
		if err := rows.Scan(&value, &n); err != nil {
			return nil, fmt.Errorf("count by %s: %w", d, err)
		}
		found = append(found, runlog.FacetValue{Value: value, Count: int(n)})
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("count by %s: %w", d, database.Explain(err))
	}
	return found, nil
}

// Histogram implements [logstore.Store].
func (s *statistics) Histogram(ctx context.Context, filter logstore.RunFilter, parts int) (logstore.Histogram, error) {
	filter.Limit, filter.Cursor = 0, ""
	if err := filter.CheckHistogram(parts); err != nil {
		return logstore.Histogram{}, err
	}
	if err := s.Prepare(ctx); err != nil {
		return logstore.Histogram{}, err
	}
	c, err := ofRuns(&filter)
	if err != nil {
		return logstore.Histogram{}, err
	}
	from, to := ceilMillis(filter.From), ceilMillis(filter.To)
	rows, err := s.conn.Query(ctx, fmt.Sprintf("SELECT toInt64(intDiv((toUnixTimestamp64Milli(fire_time) - %d) * %d, %d)) AS part, toString(%s) AS state, cause IN (%s) AS scheduled, sum(sign * toInt64(count)) AS fires FROM runs%s GROUP BY part, state, scheduled HAVING fires > 0",
		from, parts, to-from, statusColumn(&filter), list(job.ScheduledCauses), c.clause()), c.args...)
	if err != nil {
		return logstore.Histogram{}, fmt.Errorf("count runs over time: %w", database.Explain(err))
	}
	defer func() { _ = rows.Close() }()
	counts := logstore.NewHistogram(parts)
	for rows.Next() {
		var part, n int64
		var status string
		var scheduled uint8
		if err := rows.Scan(&part, &status, &scheduled, &n); err != nil {
			return logstore.Histogram{}, fmt.Errorf("count runs over time: %w", err)
		}
		counts.Add(int(part), job.Status(status), scheduled == 1, int(n))
	}
	if err := rows.Err(); err != nil {
		return logstore.Histogram{}, fmt.Errorf("count runs over time: %w", database.Explain(err))
	}
	return counts, nil
}
