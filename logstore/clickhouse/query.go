package clickhouse

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon/job"
	"carillon/logstore"
)

// newestFirst is the order of lists. The ids of one instant are compared as their
// texts are; UUIDs are ordered otherwise here.
const newestFirst = " ORDER BY fire_time DESC, toUInt128(run_id) DESC, attempt DESC, broadcast_index DESC"

// conditions are parts of a WHERE, or of a HAVING, that must all hold.
type conditions struct {
	parts []string
	args  []any
}

func (c *conditions) add(part string, args ...any) {
	c.parts = append(c.parts, part)
	c.args = append(c.args, args...)
}

func (c *conditions) clause(word string) string {
	if len(c.parts) == 0 {
		return ""
	}
	return " " + word + " " + strings.Join(c.parts, " AND ")
}

// where is what runs and run_open can tell of each row: f without its statuses and
// its instance. It expects a filter that was validated.
func where(f *logstore.RunFilter) (*conditions, error) {
	c := &conditions{}
	if !f.From.IsZero() {
		c.add("fire_time >= fromUnixTimestamp64Milli(?, 'UTC')", ceilMillis(f.From))
	}
	if !f.To.IsZero() {
		c.add("fire_time < fromUnixTimestamp64Milli(?, 'UTC')", ceilMillis(f.To))
	}
	if f.Group != "" {
		c.add("group = ?", f.Group)
	}
	switch {
	case f.Groups == nil:
	case len(f.Groups) == 0:
		c.add("false")
	default:
		c.add("group IN (" + list(f.Groups) + ")")
	}
	if len(f.Jobs) > 0 {
		c.add("job IN (" + list(f.Jobs) + ")")
	}
	if len(f.Causes) > 0 {
		c.add("cause IN (" + list(f.Causes) + ")")
	}
	if f.Version != 0 {
		c.add("version = ?", toUint32(f.Version))
	}
	if f.Cursor != "" {
		cursor, err := logstore.ParseCursor(f.Cursor)
		if err != nil {
			return nil, err
		}
		fire := fireMillis(cursor.RunID)
		c.add("fire_time <= fromUnixTimestamp64Milli(?, 'UTC')", fire) // which the index understands
		c.add("(fire_time, toUInt128(run_id), attempt) < (fromUnixTimestamp64Milli(?, 'UTC'), toUInt128(toUUID(?)), ?)", fire, string(cursor.RunID), toUint32(cursor.Attempt))
	}
	return c, nil
}

// list writes words that were validated, and so have no quotes in them.
func list[W ~string](words []W) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + string(w) + "'"
	}
	return strings.Join(quoted, ", ")
}

func ceilMillis(t time.Time) int64 {
	ms := millis(t)
	if t.Nanosecond()%int(time.Millisecond) != 0 {
		ms++
	}
	return ms
}

// ofEnds selects from runs.
func ofEnds(f *logstore.RunFilter) (*conditions, error) {
	c, err := where(f)
	if err != nil {
		return nil, err
	}
	if len(f.Statuses) > 0 {
		c.add("status IN (" + list(f.Statuses) + ")")
	}
	if f.Instance != "" {
		c.add("instance = ?", f.Instance)
	}
	return c, nil
}

// openKeys returns the query for the attempts under way that f selects, with their
// statuses. Rows of run_open that were left behind are told by their ends.
func openKeys(f *logstore.RunFilter) (string, []any, error) {
	c, err := where(f)
	if err != nil {
		return "", nil, err
	}
	having := &conditions{}
	having.add(fmt.Sprintf("toInt8(max(o.status)) < %d", firstFinal))
	if len(f.Statuses) > 0 {
		having.add("max(o.status) IN (" + list(withoutFinal(f.Statuses)) + ")")
	}
	if f.Instance != "" {
		having.add("max(o.instance).2 = ?", f.Instance)
	}
	table := "run_open AS o" + c.clause("WHERE")
	open := "SELECT fire_time, run_id, broadcast_index, attempt, any(o.job) AS name, max(o.status) AS state FROM " + table +
		" GROUP BY fire_time, run_id, broadcast_index, attempt" + having.clause("HAVING")
	return "SELECT fire_time, run_id, broadcast_index, attempt, name AS job, state AS status FROM (" + open + ") WHERE (run_id, broadcast_index, attempt) NOT IN " +
		"(SELECT run_id, broadcast_index, attempt FROM runs WHERE fire_time IN (SELECT fire_time FROM " + table + "))", slices.Concat(c.args, having.args, c.args), nil
}

func withoutFinal(statuses []job.Status) []job.Status {
	var open []job.Status
	for _, s := range statuses {
		if !isFinal(s) {
			open = append(open, s)
		}
	}
	return open
}

// asks says whether the statuses of a filter include some that are final, and some
// that are not.
func asks(statuses []job.Status) (ended, open bool) {
	n := len(withoutFinal(statuses))
	return len(statuses) == 0 || n < len(statuses), len(statuses) == 0 || n > 0
}
