package sqlite

import "strings"

// How a column of a run that exists (runs) takes in an update (excluded). Status is
// ordered by its code; that the first final one stays is in the statements' WHERE. An update speaks when
// its instance is the one to show: it brings the first final status, or none is
// known, or it comes from a later delivery of the trigger.
const (
	ends   = "(runs.status < 10 AND excluded.status >= 10)"
	speaks = "(excluded.instance <> '' AND (runs.instance = '' OR " + ends + " OR (runs.status < 10 AND excluded.delivery > runs.delivery)))"
	newer  = "(excluded.progress_at > runs.progress_at)"
)

var mergeColumn = map[string]string{
	"status":       "max(runs.status, excluded.status)",
	"committed_at": "iif(runs.committed_at = 0, excluded.committed_at, iif(excluded.committed_at = 0, runs.committed_at, min(runs.committed_at, excluded.committed_at)))",
	"started_at":   "iif(excluded.started_at <> 0 AND (runs.started_at = 0 OR " + speaks + "), excluded.started_at, runs.started_at)",
	"finished_at":  choose(ends, "finished_at"),
	"delivery":     choose(speaks, "delivery"),
	"log_lines":    choose(ends, "log_lines"),
	"exit_code":    choose(ends, "exit_code"),
	"until":        "max(runs.until, excluded.until)",
	"count":        "max(runs.count, excluded.count)",
	"progress_at":  "max(runs.progress_at, excluded.progress_at)",
	"percent":      choose(newer, "percent"),
	"instance":     choose(speaks, "instance"),
	"made_by":      choose("runs.made_by = ''", "made_by"),
	"reason":       choose("runs.reason = ''", "reason"),
	"text":         choose(newer, "text"),
	"message":      choose(ends, "message"),
	"result":       choose(ends, "result"),
}

func choose(condition, column string) string {
	return "iif(" + condition + ", excluded." + column + ", runs." + column + ")"
}

// identity are the columns that every update brings and none changes.
var identity = []string{"run_id", "attempt", "job", "version", "cause", "status", "committed_at"}

// upsert returns the statement that merges updates of the given columns into runs,
// as far as news holds: a row that it does not change is not counted.
func upsert(news string, columns ...string) *bulk {
	columns = append(append([]string{}, identity...), columns...)
	var set []string
	for _, column := range columns {
		if merged, ok := mergeColumn[column]; ok {
			set = append(set, column+" = "+merged)
		}
	}
	return newBulk("INSERT INTO runs ("+strings.Join(columns, ", ")+")", len(columns),
		"ON CONFLICT (run_id, attempt) DO UPDATE SET "+strings.Join(set, ", ")+" WHERE "+news)
}

// Most updates are a plain record or a plain success. They have statements of their
// own, as each value that is bound costs about as much as the row's share of the
// B-tree. Of the other two, a final update changes nothing once the run is final.
var (
	upsertRecorded = upsert("runs.status < excluded.status OR runs.committed_at = 0 OR excluded.committed_at < runs.committed_at")
	upsertFinished = upsert("runs.status < 10", "started_at", "finished_at", "delivery", "log_lines", "exit_code", "instance")
	upsertOther    = upsert("runs.status < 10 OR excluded.status < 10", otherColumns...)
	otherColumns   = []string{
		"started_at", "finished_at", "delivery", "log_lines", "exit_code", "instance",
		"until", "count", "progress_at", "percent", "made_by", "reason", "text", "message", "result",
	}
)
