package clickhouse

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/ext"
	"github.com/google/uuid"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// newestFirst is the order of lists. The ids of one instant are compared as their
// texts are; UUIDs are ordered otherwise here.
const newestFirst = byInstant + ", toUInt128(run_id) DESC, attempt DESC, broadcast_index DESC"

const byInstant = " ORDER BY fire_time DESC"

// conditions are parts of a WHERE that must all hold.
type conditions struct {
	parts []string
	args  []any
}

func (c *conditions) add(part string, args ...any) {
	c.parts = append(c.parts, part)
	c.args = append(c.args, args...)
}

func (c *conditions) clause() string {
	if len(c.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.parts, " AND ")
}

// before is clause for a table in which columns of few bytes exclude most rows: the other
// columns are read of the remaining rows only. ClickHouse would find that out by itself,
// but takes a tenth of the time of a short query for it.
func (c *conditions) before() string {
	return strings.Replace(c.clause(), " WHERE ", " PREWHERE ", 1)
}

// where is what rows of runs and of run_logs have in common, and cause and version. It
// expects a filter that was validated.
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
	if f.Groups != nil {
		c.add(inGroups(f.Groups))
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

// inGroups is true of rows whose group one of the patterns covers. It expects patterns that were validated.
func inGroups(patterns []string) string {
	var parts []string
	names, prefixes := job.SplitGroups(patterns)
	if len(names) > 0 {
		parts = append(parts, "group IN ("+list(names)+")")
	}
	for _, prefix := range prefixes {
		parts = append(parts, "startsWith(group, '"+prefix+"')")
	}
	if len(parts) == 0 {
		return "false"
	}
	return "(" + strings.Join(parts, " OR ") + ")"
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

// ofHost is true of runs that were done elsewhere, and that pings reported.
const ofHost = "startsWith(instance, '" + runlog.HostPrefix + "')"

// ofRuns selects attempts as a whole from runs.
func ofRuns(f *logstore.RunFilter) (*conditions, error) {
	c, err := where(f)
	if err != nil {
		return nil, err
	}
	c.add("broadcast_index = -1")
	if len(f.Statuses) > 0 {
		c.add(statusColumn(f) + " IN (" + list(f.Statuses) + ")")
	} else if !f.AllAttempts {
		c.add("run_status != ''")
	}
	switch f.Instance {
	case "":
	case runlog.AnyHost:
		c.add(ofHost)
	default:
		c.add("instance = ?", f.Instance)
	}
	if f.MinAttempt > 1 {
		c.add("attempt >= ?", toUint32(f.MinAttempt))
	}
	if f.Error != "" {
		c.add("status IN (" + list(logstore.Failed) + ")")
		c.add(printed(failureText)+" = ?", logstore.Variable, f.Error)
	}
	if f.Parent != "" {
		c.add("parent_run_id = ?", packID(f.Parent))
	}
	return c, nil
}

// failureText is why an attempt failed.
const failureText = "multiIf(message != '', message, end_reason != '', end_reason, reason != '', reason, toString(status))"

// printed is [logstore.Fingerprint] of an expression. Its argument is [logstore.Variable].
func printed(expression string) string {
	return fmt.Sprintf("replaceRegexpAll(leftUTF8(splitByChar('\\n', %s)[1], %d), ?, '#')", expression, logstore.FingerprintLength)
}

// statusColumn is what f takes for a run's status.
func statusColumn(f *logstore.RunFilter) string {
	if f.AllAttempts {
		return "status"
	}
	return "run_status"
}

// byPlaces are the conditions that lead a query to the rows of the places that it brings
// along: fire times to the few granules that hold them, recent ones as a rule, then
// exactly.
const byPlaces = "fire_time IN (SELECT fire_time FROM wanted) AND (run_id, broadcast_index) IN (SELECT run_id, broadcast_index FROM wanted)"

// byRuns are those that lead to all rows of the runs of the places.
const byRuns = "fire_time IN (SELECT fire_time FROM wanted) AND run_id IN (SELECT run_id FROM wanted)"

// withPlaces gives a query the table "wanted". As text, thousands of places would be
// too long.
func withPlaces[V any](ctx context.Context, places map[place]V) (context.Context, error) {
	n := len(places)
	fire, ids, indexes := make([]int64, 0, n), make([]uuid.UUID, 0, n), make([]int32, 0, n)
	for p := range places {
		fire, ids, indexes = append(fire, p.fire), append(ids, p.id), append(indexes, p.index)
	}
	table, err := ext.NewTable("wanted", ext.Column("fire_time", "DateTime64(3, 'UTC')"), ext.Column("run_id", "UUID"), ext.Column("broadcast_index", "Int32"))
	if err != nil {
		return nil, fmt.Errorf("make table of %d places: %w", n, err)
	}
	for i, values := range []any{fire, ids, indexes} {
		if _, err := table.Block().Columns[i].Append(values); err != nil {
			return nil, fmt.Errorf("make table of %d places: %w", n, err)
		}
	}
	return clickhouse.Context(ctx, clickhouse.WithExternalTable(table)), nil
}
