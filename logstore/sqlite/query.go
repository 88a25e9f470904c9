package sqlite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// maxLegs bounds how many jobs are looked up one by one; SQLite allows 500 parts.
const maxLegs = 200

// query is a filter as SQL. A list is merged from legs that each read one index in
// the order of the list, so that a page costs what it shows, at any depth.
type query struct {
	by     string // the column that counts as a run's status
	reads  string // what is read of each row
	values map[logstore.SortKey]string
	legs   []leg  // each reads one index
	where  string // further conditions, each beginning with AND
	args   []any  // of where
	empty  bool   // nothing can match
}

// leg is FROM and the condition that its index serves. Jobs are arguments, so that lists of
// any job are one statement.
type leg struct {
	from string
	args []any
}

// newQuery expects a filter that was validated.
func newQuery(f logstore.RunFilter, jobs *file.Dictionary) query {
	q := query{by: "state", reads: listColumns, values: runValues}
	if f.AllAttempts {
		q.by, q.reads, q.values = "status", attemptColumns, attemptValues
	}
	ids, byJob := jobs.Select(f)
	if byJob && len(ids) == 0 {
		return query{empty: true}
	}
	switch {
	case f.Parent != "":
		q.legs = []leg{{"runs INDEXED BY runs_by_parent WHERE parent IS NOT NULL AND parent = ?", []any{file.PackID(f.Parent)}}}
	case f.Error != "":
		q.legs = []leg{{from: "runs INDEXED BY runs_failed WHERE status IN (11, 12, 14)"}}
	case f.MinAttempt > 1:
		q.legs = []leg{{from: "runs INDEXED BY runs_again WHERE attempt > 1"}}
	// Everything but success is rare, unless one asks for it by job and time.
	case !f.AllAttempts && len(f.Statuses) > 0 && !slices.Contains(f.Statuses, job.StatusSucceeded):
		for _, code := range codesOf(f.Statuses, statusCodes) {
			q.legs = append(q.legs, leg{from: "runs INDEXED BY runs_by_state WHERE state <> 10 AND state <> 0 AND state = " + code})
		}
	case byJob && len(ids) <= maxLegs:
		for _, id := range ids {
			q.legs = append(q.legs, leg{"runs INDEXED BY runs_by_job WHERE job = ?", []any{id}})
		}
	default:
		q.legs = []leg{{from: "runs NOT INDEXED WHERE true"}}
	}
	// The plus keeps the planner from other indexes.
	if !f.AllAttempts {
		q.and("+state <> 0")
	}
	if f.MinAttempt > 1 {
		q.and("+attempt >= " + strconv.Itoa(f.MinAttempt))
	}
	switch {
	case byJob && len(ids) == 1: // as an argument, too
		q.and("+job = ?", ids[0])
	case byJob:
		q.and("+job IN (" + file.Join(ids) + ")")
	}
	if len(f.Statuses) > 0 {
		q.and("+" + q.by + " IN (" + strings.Join(codesOf(f.Statuses, statusCodes), ",") + ")")
	}
	if len(f.Causes) > 0 {
		q.and("cause IN (" + strings.Join(codesOf(f.Causes, causeCodes), ",") + ")")
	}
	switch f.Instance {
	case "":
	case runlog.AnyHost:
		q.and(ofHost)
	default:
		q.and("instance = ?", f.Instance)
	}
	if f.Version != 0 {
		q.and("version = ?", f.Version)
	}
	if !f.From.IsZero() {
		q.and("run_id >= ?", file.IDAt(f.From))
	}
	if !f.To.IsZero() {
		q.and("run_id < ?", file.IDAt(f.To))
	}
	if f.Error != "" { // the dearest comes last
		q.and("status IN (11, 12, 14) AND "+sqlFingerprint+"("+failureText+") = ?", f.Error)
	}
	return q
}

// ofHost is true of runs that were done elsewhere, and that pings reported.
const ofHost = "substr(instance, 1, 5) = 'host:'"

func (q *query) and(condition string, args ...any) {
	q.where += " AND " + condition
	q.args = append(q.args, args...)
}

// newest returns the statement for the first limit runs in the order of lists.
func (q *query) newest(limit int) (string, []any) {
	const order = " ORDER BY run_id DESC, attempt DESC LIMIT "
	n := strconv.Itoa(limit)
	legs := make([]string, len(q.legs))
	var args []any
	for i, leg := range q.legs {
		legs[i] = "SELECT * FROM (SELECT run_id, attempt FROM " + leg.from + q.where + order + n + ")"
		args = append(append(args, leg.args...), q.args...)
	}
	keys := strings.Join(legs, " UNION ALL ") + order + n
	return "SELECT " + q.reads + " FROM (" + keys + ") JOIN runs USING (run_id, attempt) ORDER BY run_id DESC, attempt DESC", args
}

// counts returns the statement for the number of fires by status.
func (q *query) counts() (string, []any) {
	parts := make([]string, len(q.legs))
	var args []any
	for i, leg := range q.legs {
		parts[i] = "SELECT " + q.by + " AS status, sum(count) AS fires FROM " + leg.from + q.where + " GROUP BY 1"
		args = append(append(args, leg.args...), q.args...)
	}
	return "SELECT status, sum(fires) FROM (" + strings.Join(parts, " UNION ALL ") + ") GROUP BY status", args
}

func codesOf[K comparable](words []K, codes map[K]int64) []string {
	numbers := make([]int64, len(words))
	for i, word := range words {
		numbers[i] = codes[word]
	}
	slices.Sort(numbers)
	return strings.Split(file.Join(slices.Compact(numbers)), ",")
}
