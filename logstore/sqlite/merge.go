package sqlite

import (
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// How a column of a row that exists (old) takes in an update (excluded). Status is
// ordered by its code. What an event says of the end and what a record says of it are
// kept apart, and the first of each stays; that is in the statements' WHERE, too. An
// update speaks when its instance is the one to show: it brings the first end by an
// event, or none is known, or it comes from a later delivery of the trigger.
const (
	ends   = "(old.reported = 0 AND excluded.reported <> 0)"
	rules  = "(old.ruled = 0 AND excluded.ruled <> 0)"
	speaks = "(excluded.instance <> '' AND (old.instance = '' OR " + ends + " OR (old.reported = 0 AND excluded.delivery > old.delivery)))"
	newer  = "(excluded.progress_at > old.progress_at)"
	// A whole that is done in pieces has no instance, and began when the first piece did.
	// Of two that began at one instant, the one counts that was delivered first.
	earlier = "(excluded.instance = '' AND old.instance = '' AND (excluded.started_at < old.started_at OR " +
		"(excluded.started_at = old.started_at AND excluded.delivered_at <> 0 AND (old.delivered_at = 0 OR excluded.delivered_at < old.delivered_at))))"
	// What was begun brings both of its instants.
	begins = "(excluded.started_at <> 0 AND (old.started_at = 0 OR " + speaks + " OR " + earlier + "))"

	merged = "coalesce(nullif(old.ruled, 0), nullif(excluded.ruled, 0), nullif(old.reported, 0), nullif(excluded.reported, 0), max(old.status, excluded.status))"
	// The first end of an attempt that it does not say was begun.
	unbegun = "excluded.started_at = 0 OR excluded.instance = '' AND old.started_at <> 0"

	retrying = "(max(old.ruled, excluded.ruled) = 0 AND iif(old.reported <> 0, old.retry, excluded.retry) = 1)"
)

var mergeColumn = map[string]string{
	"status":       merged,
	"state":        "iif(old.state = 0, 0, iif(" + retrying + ", 1, " + merged + "))",
	"queued_at":    "iif(old.queued_at = 0, excluded.queued_at, iif(excluded.queued_at = 0, old.queued_at, min(old.queued_at, excluded.queued_at)))",
	"committed_at": "iif(old.committed_at = 0, excluded.committed_at, iif(excluded.committed_at = 0, old.committed_at, min(old.committed_at, excluded.committed_at)))",
	"started_at":   choose(begins, "started_at"),
	"delivered_at": choose(begins, "delivered_at"),
	"finished_at":  choose(ends, "finished_at"),
	"delivery":     choose(speaks, "delivery"),
	"log_lines":    choose(ends, "log_lines"),
	"exit_code":    choose(ends, "exit_code"),
	"reported":     choose(ends, "reported"),
	"retry":        choose(ends, "retry"),
	"ruled":        choose(rules, "ruled"),
	"ruled_at":     choose(rules, "ruled_at"),
	"until":        "max(old.until, excluded.until)",
	"count":        "max(old.count, excluded.count)",
	"total":        "max(old.total, excluded.total)",
	"progress_at":  "max(old.progress_at, excluded.progress_at)",
	"percent":      choose(newer, "percent"),
	"parent":       "coalesce(old.parent, excluded.parent)",
	"instance":     choose(speaks, "instance"),
	"made_by":      choose("old.made_by = ''", "made_by"),
	"step":         choose("old.step = ''", "step"),
	"wait":         choose("length(excluded.wait) > length(old.wait)", "wait"), // approvals are added
	"hold":         choose("excluded.hold <> '' AND (old.hold = '' OR excluded.hold ->> 'change' > old.hold ->> 'change')", "hold"),
	"reason_of":    "max(old.reason_of, excluded.reason_of)",
	"reason":       choose("excluded.reason_of > old.reason_of", "reason"),
	"end_reason":   choose(rules, "end_reason"),
	"text":         choose(newer, "text"),
	"message":      choose(ends, "message"),
	"result":       choose(ends, "result"),
}

// What is simpler where it is known that the update is no end, or that it is the first
// end by an event.
var (
	mergeOpen = map[string]string{
		"status": "max(old.status, excluded.status)",
		"state":  "iif(old.state = 0 OR old.status >= 10, old.state, max(old.status, excluded.status))",
	}
	mergeFirstEnd = map[string]string{
		"status":       "iif(old.ruled = 0, excluded.status, old.ruled)",
		"state":        "iif(old.state = 0, 0, iif(old.ruled = 0, excluded.status, old.ruled))",
		"started_at":   "iif(" + unbegun + ", old.started_at, excluded.started_at)",
		"delivered_at": "iif(" + unbegun + ", old.delivered_at, excluded.delivered_at)",
		"finished_at":  "excluded.finished_at",
		"delivery":     "iif(excluded.instance = '', old.delivery, excluded.delivery)",
		"log_lines":    "excluded.log_lines",
		"exit_code":    "excluded.exit_code",
		"reported":     "excluded.reported",
		"instance":     "iif(excluded.instance = '', old.instance, excluded.instance)",
	}
)

func choose(condition, column string) string {
	return "iif(" + condition + ", excluded." + column + ", old." + column + ")"
}

// identity are the columns that every update brings first. Most of them never change.
var identity = []string{"run_id", "attempt", "job", "version", "cause", "status", "state", "committed_at"}

// upsert is the statement that merges updates of some columns: into runs, and into
// pieces, where the piece is one more value at the end.
type upsert struct{ runs, pieces *file.Bulk }

// newUpsert merges as far as news holds, and only what is of the same job: a row that it
// does not change is not counted. simpler are ways to merge that news allows.
func newUpsert(news string, columns []string, simpler map[string]string) upsert {
	columns = slices.Concat(identity, columns)
	var set []string
	for _, column := range columns {
		how, ok := simpler[column]
		if !ok {
			how, ok = mergeColumn[column]
		}
		if ok {
			set = append(set, column+" = "+how)
		}
	}
	merge := func(table string, columns, key []string) *file.Bulk {
		return file.NewBulk("INSERT INTO "+table+" AS old ("+strings.Join(columns, ", ")+")", len(columns),
			"ON CONFLICT ("+strings.Join(key, ", ")+") DO UPDATE SET "+strings.Join(set, ", ")+" WHERE old.job = excluded.job AND ("+news+")")
	}
	return upsert{
		runs:   merge("runs", columns, []string{"run_id", "attempt"}),
		pieces: merge("pieces", append(slices.Clone(columns), "piece"), []string{"run_id", "piece", "attempt"}),
	}
}

// Most updates are a plain record or a plain success. They have statements of their
// own, as each value that is bound costs about as much as the row's share of the
// B-tree. An event's end changes nothing once there was one.
var (
	upsertRecorded = newUpsert("old.status < excluded.status OR old.committed_at = 0 OR excluded.committed_at < old.committed_at", nil, mergeOpen)
	upsertFinished = newUpsert("old.reported = 0", finishedColumns, mergeFirstEnd)
	upsertOther    = newUpsert("old.reported = 0 OR excluded.reported = 0", slices.Concat(finishedColumns, otherColumns), nil)

	finishedColumns = []string{"reported", "started_at", "finished_at", "delivery", "log_lines", "exit_code", "instance", "delivered_at"}
	otherColumns    = []string{
		"queued_at", "retry", "ruled", "ruled_at", "total", "parent",
		"until", "count", "progress_at", "percent", "made_by", "step", "reason_of", "reason", "end_reason", "text", "message", "result", "wait", "hold",
	}
)
