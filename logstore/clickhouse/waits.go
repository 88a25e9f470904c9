package clickhouse

import (
	"context"
	"fmt"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// openWaitsQuery ranks the steps that wait within their groups, and has the places of the first ranks. A row that is no
// longer so is there twice, with both signs, until the two are merged.
const openWaitsQuery = `
SELECT toUnixTimestamp64Milli(fire_time), run_id FROM (
  SELECT fire_time, run_id, row_number() OVER (PARTITION BY group ORDER BY fire_time, toUInt128(run_id)) AS nth FROM (
    SELECT group, fire_time, run_id FROM runs%s GROUP BY group, fire_time, run_id, revision HAVING sum(sign) > 0
  )
) ORDER BY nth, fire_time, toUInt128(run_id) LIMIT %d`

// OpenWaits implements [logstore.Store].
func (h *runHistory) OpenWaits(ctx context.Context, f logstore.WaitFilter) ([]runlog.Run, error) {
	if err := h.Prepare(ctx); err != nil {
		return nil, err
	}
	places, err := h.openWaits(ctx, &f)
	if err != nil {
		return nil, fmt.Errorf("list open waits: %w", err)
	}
	if len(places) == 0 {
		return nil, nil
	}
	if ctx, err = withPlaces(ctx, places); err != nil {
		return nil, err
	}
	all, err := h.read(ctx, kept, " WHERE "+byPlaces)
	if err != nil {
		return nil, fmt.Errorf("list open waits: %w", err)
	}
	rows := slices.DeleteFunc(standing(all), func(r row) bool { return r.status != database.Statuses[job.StatusQueued] || r.wait == "" }) // since then
	slices.Reverse(rows)
	runs, err := h.asRuns(ctx, rows)
	if err != nil {
		return nil, fmt.Errorf("list open waits: %w", err)
	}
	return runs, nil
}

// openWaits returns the places of the steps that f selects.
func (h *runHistory) openWaits(ctx context.Context, f *logstore.WaitFilter) (map[place]bool, error) {
	c, err := ofRuns(&logstore.RunFilter{Statuses: []job.Status{job.StatusQueued}, Groups: f.Groups})
	if err != nil {
		return nil, err
	}
	c.add("status = 'queued' AND wait <> '' AND JSONExtractString(wait, 'kind') = ?", string(f.Kind))
	rows, err := h.conn.Query(ctx, fmt.Sprintf(openWaitsQuery, c.clause(), f.Limit), c.args...)
	if err != nil {
		return nil, database.Explain(err)
	}
	defer func() { _ = rows.Close() }()
	places := map[place]bool{}
	for rows.Next() {
		p := place{index: -1}
		if err := rows.Scan(&p.fire, &p.id); err != nil {
			return nil, err
		}
		places[p] = true
	}
	return places, database.Explain(rows.Err())
}
