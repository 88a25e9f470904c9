package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// facetColumn is where a dimension is. A group is that of the job.
var facetColumn = map[runlog.Dimension]string{
	runlog.ByCause: "cause", runlog.ByGroup: "job", runlog.ByJob: "job", runlog.ByVersion: "version", runlog.ByInstance: "instance",
	runlog.ByReason: "coalesce(nullif(end_reason, ''), reason, '')",
}

// Facets implements [logstore.Store]. Dimensions of which the filter says nothing are
// counted in one pass.
func (s *statistics) Facets(ctx context.Context, filter logstore.FacetFilter) (runlog.Facets, error) {
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	filter = filter.WithDefaults()
	facets := runlog.Facets{}
	var together []runlog.Dimension
	for _, d := range filter.By {
		apart, narrowed := filter.Apart(d)
		if !narrowed {
			together = append(together, d)
			continue
		}
		if err := s.facets(ctx, apart, filter.Values, facets, d); err != nil {
			return nil, err
		}
	}
	return facets, s.facets(ctx, filter.RunFilter, filter.Values, facets, together...)
}

func (s *statistics) facets(ctx context.Context, f logstore.RunFilter, values int, into runlog.Facets, by ...runlog.Dimension) error {
	if len(by) == 0 {
		return nil
	}
	for _, d := range by {
		into[d] = []runlog.FacetValue{}
	}
	q := newQuery(f, s.jobs)
	if q.empty {
		return nil
	}
	query, args := q.facets(by)
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("count facets: %w", err)
	}
	defer func() { _ = rows.Close() }()
	counts := make([]map[string]int, len(by))
	for i := range counts {
		counts[i] = map[string]int{}
	}
	found, n, one := make([]any, len(by)), 0, 0
	scan := make([]any, 0, len(by)+2)
	for i := range found {
		scan = append(scan, &found[i])
	}
	scan = append(scan, &one, &n)
	for rows.Next() {
		if err := rows.Scan(scan...); err != nil {
			return fmt.Errorf("count facets: %w", err)
		}
		for i, d := range by {
			counts[i][s.facetValue(d, found[i])] += n
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("count facets: %w", err)
	}
	for i, d := range by {
		for value, n := range counts[i] {
			if value != "" {
				into[d] = append(into[d], runlog.FacetValue{Value: value, Count: n})
			}
		}
		slices.SortFunc(into[d], logstore.CompareFacets)
		into[d] = into[d][:min(len(into[d]), values)]
	}
	return nil
}

// facets returns the statement for the number of fires by some dimensions.
func (q *query) facets(by []runlog.Dimension) (string, []any) {
	columns, numbers := make([]string, len(by)), make([]string, len(by))
	for i, d := range by {
		if columns[i] = facetColumn[d]; d == runlog.ByStatus {
			columns[i] = q.by
		}
		numbers[i] = strconv.Itoa(i + 1)
	}
	var args []any
	legs := make([]string, len(q.legs))
	for i, leg := range q.legs {
		legs[i] = "SELECT " + strings.Join(columns, ", ") + ", count FROM " + leg.from + q.where
		args = append(append(args, leg.args...), q.args...)
	}
	return "SELECT *, sum(count) FROM (" + strings.Join(legs, " UNION ALL ") + ") GROUP BY " + strings.Join(numbers, ", "), args
}

// facetValue is empty for a run without one, such as the instance of one that waits.
func (s *statistics) facetValue(d runlog.Dimension, v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	number, _ := v.(int64)
	switch d {
	case runlog.ByStatus:
		return string(statusOf[number])
	case runlog.ByCause:
		return string(causeOf[number])
	case runlog.ByGroup:
		return s.jobs.Name(number).Group()
	case runlog.ByJob:
		return string(s.jobs.Name(number))
	case runlog.ByVersion:
		return strconv.FormatInt(number, 10)
	case runlog.ByInstance, runlog.ByReason: // text
	}
	return ""
}

// Histogram implements [logstore.Store].
func (s *statistics) Histogram(ctx context.Context, filter logstore.RunFilter, parts int) (logstore.Histogram, error) {
	filter.Limit, filter.Cursor = 0, ""
	if err := filter.CheckHistogram(parts); err != nil {
		return logstore.Histogram{}, err
	}
	counts := logstore.NewHistogram(parts)
	from, to := ceilMillis(filter.From), ceilMillis(filter.To)
	filter.From, filter.To = time.Time{}, time.Time{} // each part has its own
	q := newQuery(filter, s.jobs)
	if q.empty {
		return counts, nil
	}
	query, args := q.histogram(from, to, parts)
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return logstore.Histogram{}, fmt.Errorf("count runs over time: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var part, n int
		var status int64
		var scheduled bool
		if err := rows.Scan(&part, &status, &scheduled, &n); err != nil {
			return logstore.Histogram{}, fmt.Errorf("count runs over time: %w", err)
		}
		counts.Add(part, statusOf[status], scheduled, n)
	}
	if err := rows.Err(); err != nil {
		return logstore.Histogram{}, fmt.Errorf("count runs over time: %w", err)
	}
	return counts, nil
}

// histogram returns the statement for the number of fires by part of a range of
// milliseconds, by status, and by whether a schedule asked for them.
func (q *query) histogram(from, to int64, parts int) (string, []any) {
	edges := make([]string, parts)
	for i := range edges {
		edges[i] = fmt.Sprintf("(%d, x'%x', x'%x')", i, edge(from, to, i, parts), edge(from, to, i+1, parts))
	}
	scheduled := "cause IN (" + strings.Join(codesOf(job.ScheduledCauses, causeCodes), ",") + ")"
	var args []any
	legs := make([]string, len(q.legs))
	for i, leg := range q.legs {
		legs[i] = "SELECT part, " + q.by + " AS status, " + scheduled + " AS scheduled, sum(count) AS fires FROM edges CROSS JOIN " + leg.from + q.where + " AND run_id >= low AND run_id < high GROUP BY 1, 2, 3"
		args = append(append(args, leg.args...), q.args...)
	}
	return "WITH edges (part, low, high) AS (VALUES " + strings.Join(edges, ", ") + ") SELECT part, status, scheduled, sum(fires) FROM (" + strings.Join(legs, " UNION ALL ") + ") GROUP BY 1, 2, 3", args
}

func ceilMillis(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.Nanosecond()%int(time.Millisecond) != 0 {
		ms++
	}
	return ms
}

// edge returns the lowest id of part i of a range.
func edge(from, to int64, i, parts int) []byte {
	n := int64(parts)
	return file.IDAt(time.UnixMilli(from + ((to-from)*int64(i)+n-1)/n))
}
