package sqlite

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/trail"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

const insertFact = "INSERT INTO facts (kind, at, id, revision, grp, who, what, object, state, doc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) " +
	"ON CONFLICT (kind, at, id) DO UPDATE SET revision = excluded.revision, grp = excluded.grp, who = excluded.who, what = excluded.what, " +
	"object = excluded.object, state = excluded.state, doc = excluded.doc WHERE excluded.revision >= revision"

// WriteFacts implements [logstore.Store].
func (s *Store) WriteFacts(ctx context.Context, _ string, facts []logstore.Fact) error {
	for i := range facts {
		if err := facts[i].Validate(); err != nil {
			return fmt.Errorf("fact %d: %w", i, err)
		}
	}
	if len(facts) == 0 {
		return nil
	}
	return s.write(ctx, func(ctx context.Context, w *writer) error {
		for i := range facts {
			f := &facts[i]
			_, err := w.Exec(ctx, insertFact, string(f.Kind), f.At.UnixMilli(), f.ID, f.Revision, f.Group, f.Who, f.What, f.Object, f.State, string(f.Doc))
			if err != nil {
				return fmt.Errorf("write %s %s: %w", f.Kind, f.ID, err)
			}
		}
		return nil
	})
}

// Facts implements [logstore.Store].
func (s *Store) Facts(ctx context.Context, filter logstore.FactFilter) (logstore.FactPage, error) {
	if err := filter.Validate(); err != nil {
		return logstore.FactPage{}, err
	}
	filter = filter.WithDefaults()
	query, args := factsQuery(&filter)
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return logstore.FactPage{}, fmt.Errorf("list facts: %w", err)
	}
	defer func() { _ = rows.Close() }()
	facts := []logstore.Fact{}
	for rows.Next() {
		var f logstore.Fact
		var at int64
		var doc string
		if err := rows.Scan(&f.Kind, &at, &f.ID, &f.Revision, &f.Group, &f.Who, &f.What, &f.Object, &f.State, &doc); err != nil {
			return logstore.FactPage{}, fmt.Errorf("list facts: %w", err)
		}
		f.At, f.Doc = file.Instant(at), []byte(doc)
		facts = append(facts, f)
	}
	if err := rows.Err(); err != nil {
		return logstore.FactPage{}, fmt.Errorf("list facts: %w", err)
	}
	return filter.Paged(facts), nil
}

// factsQuery expects a filter that was validated.
func factsQuery(f *logstore.FactFilter) (query string, args []any) {
	where := []string{"kind = ?"}
	args = append(args, string(f.Kind))
	add := func(part string, values ...any) {
		where, args = append(where, part), append(args, values...)
	}
	for _, c := range []struct{ column, value string }{{"id", f.ID}, {"who", f.Who}, {"what", f.What}, {"state", f.State}, {"grp", f.Group}} {
		if c.value != "" {
			add(c.column+" = ?", c.value)
		}
	}
	if f.Object != "" {
		add("instr(object, ?) > 0", f.Object)
	}
	if f.Job != "" {
		alone, field := f.OfJob()
		add("(object = ? OR what = ? AND instr(doc, ?) > 0)", alone, trail.PatchJobs, field)
	}
	if f.Groups != nil {
		part, values := inGroups(f.Groups)
		add(part, values...)
	}
	if !f.From.IsZero() {
		add("at >= ?", ceilMillis(f.From))
	}
	if !f.To.IsZero() {
		add("at < ?", ceilMillis(f.To))
	}
	if f.Cursor != "" {
		c, _ := logstore.ParseFactCursor(f.Cursor)
		add("(at, id) < (?, ?)", c.At.UnixMilli(), c.ID)
	}
	return "SELECT kind, at, id, revision, grp, who, what, object, state, doc FROM facts WHERE " + strings.Join(where, " AND ") +
		" ORDER BY at DESC, id DESC LIMIT ?", append(args, f.Limit+1)
}

// trimFacts deletes the facts that r keeps no longer, and returns how many.
func (w *writer) trimFacts(ctx context.Context, now time.Time, r *job.Retention) (total int64, err error) {
	for _, kind := range logstore.FactKinds {
		n, err := w.Exec(ctx, "DELETE FROM facts WHERE kind = ? AND at < ?", string(kind), now.Add(-logstore.KeepFacts(r, kind)).UnixMilli())
		if err != nil {
			return total, fmt.Errorf("trim %s: %w", kind, err)
		}
		total += n
	}
	return total, nil
}
