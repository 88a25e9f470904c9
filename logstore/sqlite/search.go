package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"carillon/job"
	"carillon/logstore"
)

// Search implements [logstore.Store]. It reads the chunks themselves, the newest
// first: an index of their words would cost more than the lines, to write and on disk.
func (s *Store) Search(ctx context.Context, filter logstore.SearchFilter) (logstore.SearchPage, error) {
	var page logstore.SearchPage
	if err := filter.Validate(); err != nil {
		return page, err
	}
	query, args, some, err := s.searchQuery(&filter)
	if err != nil || !some {
		return page, err
	}
	rows, err := s.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return page, fmt.Errorf("search logs: %w", err)
	}
	defer func() { _ = rows.Close() }()

	limit := cmp.Or(filter.Limit, logstore.DefaultHits)
	m := newMatcher(&filter)
	var hits []logstore.Line
	overlaps := false                                     // the last chunk that was read; of the next, lines may come before its own
	for (len(hits) <= limit || overlaps) && rows.Next() { // one more hit tells whether there is another page
		var c struct {
			id                  job.RunID
			attempt             int
			piece               logstore.Piece
			first, last, number int64
			data                []byte
		}
		if err := rows.Scan((*scanID)(&c.id), &c.attempt, &c.piece, &c.first, &c.last, &c.number, &overlaps, &c.data); err != nil {
			return page, fmt.Errorf("search logs: %w", err)
		}
		lines, err := decodeChunk(c.data, int(c.last-c.first+1))
		if err != nil {
			return page, fmt.Errorf("search log of run %s from line %d: %w", c.id, c.first, err)
		}
		for i := range lines {
			lines[i].RunID, lines[i].Attempt, lines[i].Piece = c.id, c.attempt, c.piece
			lines[i].Job, lines[i].Seq = s.jobs.name(c.number), c.first+int64(i)
		}
		if overlaps { // some lines arrived twice, and the first written count
			lines, err = s.Lines(ctx, logstore.LineFilter{RunID: c.id, Attempt: c.attempt, Piece: c.piece, FromSeq: c.first, ToSeq: c.last, Limit: maxChunkLines})
			if err != nil {
				return page, err
			}
		}
		for i := range slices.Backward(lines) {
			if m.match(&lines[i]) {
				hits = append(hits, lines[i])
			}
		}
		if overlaps { // and each once
			hits = once(hits)
		}
	}
	if err := rows.Err(); err != nil {
		return page, fmt.Errorf("search logs: %w", err)
	}
	if len(hits) > limit {
		hits = hits[:limit]
		page.Next = logstore.HitAt(&hits[limit-1]).String()
	}
	page.Lines = hits
	return page, nil
}

// once sorts hits of chunks that overlap, and leaves each out but once.
func once(hits []logstore.Line) []logstore.Line {
	slices.SortStableFunc(hits, func(a, b logstore.Line) int { return logstore.CompareHits(&a, &b) })
	return slices.CompactFunc(hits, func(a, b logstore.Line) bool { return logstore.CompareHits(&a, &b) == 0 })
}

// searchQuery returns the query for the chunks in which f's lines may be; some is
// false when there are none.
func (s *Store) searchQuery(f *logstore.SearchFilter) (query string, args []any, some bool, err error) {
	runs := f.Runs()
	var parts []string
	and := func(part string, more ...any) {
		parts = append(parts, part)
		args = append(args, more...)
	}
	ids, byJob := selectJobs(runs, s.jobs)
	if byJob {
		and("c.job IN (" + join(ids) + ")")
	}
	if !f.From.IsZero() {
		and("c.run_id >= ?", idAt(f.From))
	}
	if !f.To.IsZero() {
		and("c.run_id < ?", idAt(f.To))
	}
	if f.RunID != "" {
		and("c.run_id = ?", packID(f.RunID))
	}
	if f.Cursor != "" {
		cursor, err := logstore.ParseHitCursor(f.Cursor)
		if err != nil {
			return "", nil, false, err
		}
		and("(c.run_id, c.attempt, c.piece, c.first_seq) < (?, ?, ?, ?)", packID(cursor.RunID), cursor.Attempt, int64(cursor.Piece), cursor.Seq)
	}
	where := ""
	if len(parts) > 0 {
		where = " WHERE " + strings.Join(parts, " AND ")
	}
	return "SELECT c.run_id, c.attempt, c.piece, c.first_seq, c.last_seq, c.job, " +
		fmt.Sprintf("EXISTS (SELECT 1 FROM log_chunks o WHERE o.run_id = c.run_id AND o.attempt = c.attempt AND o.piece = c.piece AND o.id <> c.id "+
			"AND o.first_seq <= c.last_seq AND o.first_seq > c.first_seq - %d AND o.last_seq >= c.first_seq)", maxChunkLines) +
		", c.data FROM log_chunks c" + where + " ORDER BY c.run_id DESC, c.attempt DESC, c.piece DESC, c.first_seq DESC", args, !byJob || len(ids) > 0, nil
}

// matcher tells the lines that a search wants.
type matcher struct {
	terms  logstore.Terms
	levels []string
	after  *logstore.Line // only lines behind it in the order of hits; nil is all
}

func newMatcher(f *logstore.SearchFilter) *matcher {
	m := &matcher{terms: logstore.ParseTerms(f.Text), levels: f.Levels}
	if c, err := logstore.ParseHitCursor(f.Cursor); err == nil {
		m.after = &logstore.Line{RunID: c.RunID, Attempt: c.Attempt, Piece: c.Piece, Seq: c.Seq}
	}
	return m
}

func (m *matcher) match(l *logstore.Line) bool {
	return (m.after == nil || logstore.CompareHits(l, m.after) > 0) &&
		(len(m.levels) == 0 || slices.Contains(m.levels, l.Level)) && m.terms.Match(l.Text)
}
