package sqlite

import (
	"database/sql/driver"
	"strconv"
	"strings"

	"modernc.org/sqlite"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

// sqlFireOf is [fireOf] in SQL, which cannot make a number of bytes.
const sqlFireOf = "carillon_fire_of"

func init() { //nolint:gochecknoinits // the driver keeps functions for all connections, and has to know them before the first
	sqlite.MustRegisterDeterministicScalarFunction(sqlFireOf, 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		id, _ := args[0].([]byte) // as the column has it
		return fireOf(id), nil
	})
}

// What lists are sorted by, and NULL where a row has none: of runs, and of attempts.
var (
	runValues     = valuesOf("coalesce(nullif(" + firstStarted + ", 0), nullif(started_at, 0))")
	attemptValues = valuesOf("nullif(started_at, 0)")
)

func valuesOf(started string) map[logstore.SortKey]string {
	const (
		finished = "nullif(iif(ruled <> 0 AND ruled <> reported, ruled_at, finished_at), 0)"
		fire     = sqlFireOf + "(run_id)"
	)
	late := strings.Join(codesOf(job.ScheduledCauses, causeCodes), ",")
	return map[logstore.SortKey]string{
		logstore.SortFire:     fire,
		logstore.SortStarted:  started,
		logstore.SortFinished: finished,
		logstore.SortDuration: "max(" + finished + " - " + started + ", 0)",
		logstore.SortDelay:    "iif(cause IN (" + late + "), max(" + started + " - " + fire + ", 0), NULL)",
	}
}

// sorted returns the statement for the first limit runs in another order than that in
// which they are stored. It looks at all of them.
func (q *query) sorted(o logstore.RunOrder, limit int) (string, []any) {
	way := "DESC"
	if o.Rising {
		way = "ASC"
	}
	order := " ORDER BY value " + way + " NULLS LAST, run_id DESC, attempt DESC"
	first := order + " LIMIT " + strconv.Itoa(limit)
	legs := make([]string, len(q.legs))
	var args []any
	for i, leg := range q.legs {
		legs[i] = "SELECT * FROM (SELECT run_id, attempt, " + q.values[o.By] + " AS value FROM " + leg.from + q.where + first + ")"
		args = append(append(args, leg.args...), q.args...)
	}
	keys := strings.Join(legs, " UNION ALL ") + first
	return "SELECT " + q.reads + " FROM (" + keys + ") JOIN runs USING (run_id, attempt)" + order, args
}
