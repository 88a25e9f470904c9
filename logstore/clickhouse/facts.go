package clickhouse

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/trail"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/clickhouse/database"
)

// factTable is the table that has the facts of a kind. The audit log has its own, so that
// a user of ClickHouse can be kept from it.
func factTable(kind logstore.FactKind) string {
	if kind == logstore.FactAudit {
		return auditTable
	}
	return "facts"
}

const auditTable = "audit_log"

// WriteFacts implements [logstore.Store]. The tables are small and replace rows by their
// revisions, so what is written twice is there once without being looked for.
func (w *writer) WriteFacts(ctx context.Context, token string, facts []logstore.Fact) error {
	byTable := map[string][]logstore.Fact{}
	for i := range facts {
		if err := facts[i].Validate(); err != nil {
			return fmt.Errorf("fact %d: %w", i, err)
		}
		table := factTable(facts[i].Kind)
		byTable[table] = append(byTable[table], facts[i])
	}
	if len(facts) == 0 {
		return nil
	}
	if err := w.Prepare(ctx); err != nil {
		return err
	}
	for table, rows := range byTable {
		if err := w.insert(ctx, table, token, factColumns(rows)); err != nil {
			return fmt.Errorf("write %d facts: %w", len(rows), err)
		}
	}
	return nil
}

func factColumns(facts []logstore.Fact) []column {
	return []column{
		{"kind", collect(facts, func(f *logstore.Fact) string { return string(f.Kind) })},
		{"at", collect(facts, func(f *logstore.Fact) int64 { return millis(f.At) })},
		{"id", collect(facts, func(f *logstore.Fact) string { return f.ID })},
		{"revision", collect(facts, func(f *logstore.Fact) int64 { return f.Revision })},
		{"group", collect(facts, func(f *logstore.Fact) string { return f.Group })},
		{"who", collect(facts, func(f *logstore.Fact) string { return f.Who })},
		{"what", collect(facts, func(f *logstore.Fact) string { return f.What })},
		{"object", collect(facts, func(f *logstore.Fact) string { return f.Object })},
		{"state", collect(facts, func(f *logstore.Fact) string { return f.State })},
		{"doc", collect(facts, func(f *logstore.Fact) string { return string(f.Doc) })},
	}
}

// Facts implements [logstore.Store].
func (s *Store) Facts(ctx context.Context, filter logstore.FactFilter) (logstore.FactPage, error) {
	if err := filter.Validate(); err != nil {
		return logstore.FactPage{}, err
	}
	if err := s.Prepare(ctx); err != nil {
		return logstore.FactPage{}, err
	}
	filter = filter.WithDefaults()
	c := factConditions(&filter)
	rows, err := s.conn.Query(ctx, "SELECT toString(kind), at, id, revision, toString(group), toString(who), toString(what), object, toString(state), doc FROM "+
		factTable(filter.Kind)+" FINAL"+c.clause()+" ORDER BY at DESC, id DESC LIMIT "+strconv.Itoa(filter.Limit+1), c.args...)
	if err != nil {
		return logstore.FactPage{}, fmt.Errorf("list facts: %w", database.Explain(err))
	}
	defer func() { _ = rows.Close() }()
	facts := []logstore.Fact{}
	for rows.Next() {
		var f logstore.Fact
		var kind, doc string
		if err := rows.Scan(&kind, &f.At, &f.ID, &f.Revision, &f.Group, &f.Who, &f.What, &f.Object, &f.State, &doc); err != nil {
			return logstore.FactPage{}, fmt.Errorf("list facts: %w", err)
		}
		f.Kind, f.At, f.Doc = logstore.FactKind(kind), f.At.UTC(), []byte(doc)
		facts = append(facts, f)
	}
	if err := rows.Err(); err != nil {
		return logstore.FactPage{}, fmt.Errorf("list facts: %w", database.Explain(err))
	}
	return filter.Paged(facts), nil
}

// factConditions expects a filter that was validated.
func factConditions(f *logstore.FactFilter) *conditions {
	c := &conditions{}
	c.add("kind = ?", string(f.Kind))
	for _, part := range []struct{ column, value string }{{"id", f.ID}, {"who", f.Who}, {"what", f.What}, {"state", f.State}, {"group", f.Group}} {
		if part.value != "" {
			c.add(part.column+" = ?", part.value)
		}
	}
	if f.Object != "" {
		c.add("position(object, ?) > 0", f.Object)
	}
	if f.Job != "" {
		alone, field := f.OfJob()
		c.add("(object = ? OR what = ? AND position(doc, ?) > 0)", alone, trail.PatchJobs, field)
	}
	if f.Groups != nil {
		c.add(inGroups(f.Groups))
	}
	if !f.From.IsZero() {
		c.add("at >= fromUnixTimestamp64Milli(?, 'UTC')", ceilMillis(f.From))
	}
	if !f.To.IsZero() {
		c.add("at < fromUnixTimestamp64Milli(?, 'UTC')", ceilMillis(f.To))
	}
	if f.Cursor != "" {
		cursor, _ := logstore.ParseFactCursor(f.Cursor)
		at := millis(cursor.At)
		c.add("at <= fromUnixTimestamp64Milli(?, 'UTC')", at) // which the index understands
		c.add("(at, id) < (fromUnixTimestamp64Milli(?, 'UTC'), ?)", at, cursor.ID)
	}
	return c
}

// trimFacts deletes the facts that r keeps no longer, and returns how many.
func (t *trimmer) trimFacts(ctx context.Context, now time.Time, r *job.Retention) (total int64, err error) {
	for _, kind := range logstore.FactKinds {
		old := fmt.Sprintf("kind = '%s' AND at < fromUnixTimestamp64Milli(%d, 'UTC')", kind, ceilMillis(now.Add(-logstore.KeepFacts(r, kind))))
		table := factTable(kind)
		var n uint64
		if err := t.conn.QueryRow(ctx, "SELECT count() FROM "+table+" FINAL WHERE "+old).Scan(&n); err != nil {
			return total, fmt.Errorf("count old facts: %w", database.Explain(err))
		}
		if n == 0 {
			continue
		}
		if err := t.conn.Exec(ctx, "DELETE FROM "+t.db.Layout.Local(table)+" "+t.db.Layout.OnCluster()+" WHERE "+old); err != nil {
			return total, fmt.Errorf("delete old facts: %w", database.Explain(err))
		}
		total += int64(min(n, 1<<62))
	}
	return total, nil
}
