package clickhouse

import (
	"context"
	"fmt"
	"slices"

	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// values are what lists are sorted by, and NULL where a run has none.
var values = map[logstore.SortKey]string{
	logstore.SortFire:     "fire_time",
	logstore.SortStarted:  instantOrNull("started_at"),
	logstore.SortFinished: instantOrNull("finished_at"),
	logstore.SortDuration: "nullIf(duration_ms, -1)",
	logstore.SortDelay: "if(cause IN (" + list(logstore.Delayed) + ") AND toUnixTimestamp64Milli(started_at) > 0, " +
		"greatest(dateDiff('millisecond', fire_time, started_at), 0), NULL)",
}

func instantOrNull(column string) string {
	return "nullIf(toUnixTimestamp64Milli(" + column + "), 0)"
}

// sorted returns the first runs that filter selects in another order than that in which
// they are stored. ClickHouse looks at all of them.
func (s *Store) sorted(ctx context.Context, f *logstore.RunFilter, limit int) ([]runlog.Run, error) {
	c, err := ofRuns(f)
	if err != nil {
		return nil, err
	}
	way := " DESC"
	if f.Sort.Rising {
		way = " ASC"
	}
	order := " ORDER BY " + values[f.Sort.By] + way + " NULLS LAST, fire_time DESC, toUInt128(run_id) DESC, attempt DESC"
	for ask := spare(limit); ; ask *= 4 {
		all, err := s.read(ctx, shown, fmt.Sprintf("%s%s LIMIT %d", c.clause(), order, ask), c.args...)
		if err != nil {
			return nil, err
		}
		cut := len(all) == ask
		if cut { // perhaps within the rows of the last attempt: those that cancel out have one value, and are side by side
			last := all[ask-1].row
			for len(all) > 0 && compareRows(&all[len(all)-1].row, &last) == 0 {
				all = all[:len(all)-1]
			}
		}
		rows := standing(all)
		if len(rows) < limit && cut {
			continue
		}
		runs, err := s.asRuns(ctx, rows)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(runs, func(a, b runlog.Run) int { return f.Sort.Compare(&a, &b) })
		return runs[:min(len(runs), limit)], nil
	}
}
