package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"carillon/logstore"
)

// Search implements [logstore.Store]. It goes through the days from the newest on, and
// ends as soon as it has enough.
func (s *Store) Search(ctx context.Context, filter logstore.SearchFilter) (logstore.SearchPage, error) {
	var page logstore.SearchPage
	if err := filter.Validate(); err != nil {
		return page, err
	}
	if s.logs.closed.Load() {
		return page, fmt.Errorf("search logs: %w", errClosed)
	}
	want := cmp.Or(filter.Limit, logstore.DefaultHits) + 1 // one more tells whether there is another page
	m := newMatcher(&filter)
	var hits []logstore.Line
	for day := range byDay(s.logs.between(m.days())) {
		var found []logstore.Line
		for _, f := range day {
			err := f.read(ctx, func(db *sql.DB) error {
				some, err := f.search(ctx, db, m, want-len(hits))
				found = append(found, some...)
				return err
			})
			if err != nil {
				return page, fmt.Errorf("search logs of %s: %w", f.day.Format(time.DateOnly), err)
			}
		}
		if len(day) > 1 {
			found = once(found)
		}
		if hits = append(hits, found...); len(hits) >= want {
			hits = hits[:want-1]
			page.Next = logstore.HitAt(&hits[want-2]).String()
			break
		}
	}
	page.Lines = hits
	return page, nil
}

// byDay yields the files of each day.
func byDay(files []*logFile) iter.Seq[[]*logFile] {
	return func(yield func([]*logFile) bool) {
		for len(files) > 0 {
			n := slices.IndexFunc(files, func(f *logFile) bool { return !f.day.Equal(files[0].day) })
			if n < 0 {
				n = len(files)
			}
			if !yield(files[:n]) {
				return
			}
			files = files[n:]
		}
	}
}

// maxNamed is in how many chunks of a day words may be so that these are looked up by
// the words. Words that are in more have enough hits among the newest chunks.
const maxNamed = 2000

// search returns the first hits in a file, want at least if there are so many.
func (f *logFile) search(ctx context.Context, db *sql.DB, m *matcher, want int) ([]logstore.Line, error) {
	q, some := m.query(f.jobs)
	if !some {
		return nil, nil
	}
	if words := m.words(); words != "" {
		var chunks int
		err := db.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM chunk_words WHERE chunk_words MATCH ? LIMIT ?)", words, maxNamed).Scan(&chunks)
		switch {
		case err != nil:
			return nil, err
		case chunks == 0:
			return nil, nil
		case chunks < maxNamed:
			return f.searchNamed(ctx, db, m, q, words, want)
		}
	}
	rows, err := db.QueryContext(ctx, q.text("c.data", "log_chunks c"), q.args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	h := hits{file: f, db: db, m: m, want: want}
	for !h.enough() && rows.Next() {
		c, err := scanChunk(rows, &h.overlaps, true)
		if err != nil {
			return nil, err
		}
		if err := h.add(ctx, c); err != nil {
			return nil, err
		}
	}
	return h.lines, rows.Err()
}

// searchNamed is search in the chunks that have some words.
func (f *logFile) searchNamed(ctx context.Context, db *sql.DB, m *matcher, q *chunkQuery, words string, want int) ([]logstore.Line, error) {
	q.and("chunk_words MATCH ?", words)
	rows, err := db.QueryContext(ctx, q.text("c.id", "chunk_words w CROSS JOIN log_chunks c ON c.id = w.rowid"), q.args...)
	if err != nil {
		return nil, err
	}
	type place struct {
		chunk    *foundChunk
		overlaps bool
	}
	var places []place // to sort them with their data would take more
	for rows.Next() {
		var p place
		if p.chunk, err = scanChunk(rows, &p.overlaps, false); err != nil {
			break
		}
		places = append(places, p)
	}
	if err := errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	h := hits{file: f, db: db, m: m, want: want}
	for _, p := range places {
		if h.enough() {
			break
		}
		if err := db.QueryRowContext(ctx, "SELECT data FROM log_chunks WHERE id = ?", p.chunk.number).Scan(&p.chunk.data); err != nil {
			return nil, err
		}
		h.overlaps = p.overlaps
		if err := h.add(ctx, p.chunk); err != nil {
			return nil, err
		}
	}
	return h.lines, nil
}

// scanChunk reads a row of a chunkQuery, which ends in the chunk's data or its number.
func scanChunk(rows *sql.Rows, overlaps *bool, withData bool) (*foundChunk, error) {
	c := &foundChunk{}
	var last any = &c.number
	if withData {
		last = &c.data
	}
	return c, rows.Scan((*scanID)(&c.id), &c.attempt, &c.piece, &c.first, &c.last, &c.job, overlaps, last)
}

// hits collects the lines of chunks that a search wants.
type hits struct {
	file     *logFile
	db       *sql.DB
	m        *matcher
	want     int
	lines    []logstore.Line
	overlaps bool // the last chunk that was read; of the next, lines may come before its own
}

func (h *hits) enough() bool { return len(h.lines) >= h.want && !h.overlaps }

func (h *hits) add(ctx context.Context, c *foundChunk) error {
	lines, err := c.lines(h.file.jobs)
	if err != nil {
		return err
	}
	if h.overlaps { // some lines arrived twice, and the first written count
		lines, err = h.file.lines(ctx, h.db, &logstore.LineFilter{RunID: c.id, Attempt: c.attempt, Piece: c.piece, FromSeq: c.first, ToSeq: c.last, Limit: maxChunkLines})
		if err != nil {
			return err
		}
	}
	for i := range slices.Backward(lines) {
		if h.m.match(&lines[i]) {
			h.lines = append(h.lines, lines[i])
		}
	}
	if h.overlaps { // and each once
		h.lines = once(h.lines)
	}
	return nil
}

// once sorts hits of chunks that overlap, and leaves each out but once.
func once(hits []logstore.Line) []logstore.Line {
	slices.SortStableFunc(hits, func(a, b logstore.Line) int { return logstore.CompareHits(&a, &b) })
	return slices.CompactFunc(hits, func(a, b logstore.Line) bool { return logstore.CompareHits(&a, &b) == 0 })
}

// chunkQuery is the conditions that lead to the chunks in which hits may be.
type chunkQuery struct {
	parts []string
	args  []any
}

func (q *chunkQuery) and(part string, args ...any) {
	q.parts = append(q.parts, part)
	q.args = append(q.args, args...)
}

// text is the query for chunks from a table, in the order of hits.
func (q *chunkQuery) text(last, table string) string {
	where := ""
	if len(q.parts) > 0 {
		where = " WHERE " + strings.Join(q.parts, " AND ")
	}
	return "SELECT c.run_id, c.attempt, c.piece, c.first_seq, c.last_seq, c.job, " +
		fmt.Sprintf("EXISTS (SELECT 1 FROM log_chunks o WHERE o.run_id = c.run_id AND o.attempt = c.attempt AND o.piece = c.piece AND o.id <> c.id "+
			"AND o.first_seq <= c.last_seq AND o.first_seq > c.first_seq - %d AND o.last_seq >= c.first_seq), ", maxChunkLines) +
		last + " FROM " + table + where + " ORDER BY c.run_id DESC, c.attempt DESC, c.piece DESC, c.first_seq DESC"
}

// matcher tells the lines that a search wants.
type matcher struct {
	*logstore.SearchFilter
	terms logstore.Terms
	after *logstore.Line // only lines behind it in the order of hits; nil is all
}

func newMatcher(f *logstore.SearchFilter) *matcher {
	m := &matcher{SearchFilter: f, terms: logstore.ParseTerms(f.Text)}
	if c, err := logstore.ParseHitCursor(f.Cursor); err == nil {
		m.after = &logstore.Line{RunID: c.RunID, Attempt: c.Attempt, Piece: c.Piece, Seq: c.Seq}
	}
	return m
}

// days returns the first and the last day that may have hits.
func (m *matcher) days() (from, to time.Time) {
	from, to = time.Time{}, lastDay
	if !m.From.IsZero() {
		from = dayOf(m.From)
	}
	for _, bound := range []time.Time{m.To, m.lastRun()} {
		if day := dayOf(bound); !bound.IsZero() && day.Before(to) {
			to = day
		}
	}
	if m.RunID != "" {
		day := dayOf(m.RunID.Time())
		if day.Before(from) || day.After(to) {
			return lastDay, time.Time{} // no day
		}
		return day, day
	}
	return from, to
}

// lastRun is when the newest run fired that the cursor lets through; zero is any.
func (m *matcher) lastRun() time.Time {
	if m.after == nil {
		return time.Time{}
	}
	return m.after.RunID.Time()
}

// words returns the query for the chunks that have all words.
func (m *matcher) words() string {
	if len(m.terms.Words) == 0 {
		return ""
	}
	return `"` + strings.Join(m.terms.Words, `" "`) + `"` // they have no quotation marks in them
}

// query returns the conditions for chunks; some is false when there are none.
func (m *matcher) query(jobs *dictionary) (q *chunkQuery, some bool) {
	q = &chunkQuery{}
	ids, byJob := selectJobs(m.Runs(), jobs)
	if byJob {
		q.and("c.job IN (" + join(ids) + ")")
	}
	if !m.From.IsZero() {
		q.and("c.run_id >= ?", idAt(m.From))
	}
	if !m.To.IsZero() {
		q.and("c.run_id < ?", idAt(m.To))
	}
	if m.RunID != "" {
		q.and("c.run_id = ?", packID(m.RunID))
	}
	if m.after != nil {
		q.and("(c.run_id, c.attempt, c.piece, c.first_seq) < (?, ?, ?, ?)", packID(m.after.RunID), m.after.Attempt, int64(m.after.Piece), m.after.Seq)
	}
	return q, !byJob || len(ids) > 0
}

func (m *matcher) match(l *logstore.Line) bool {
	return (m.after == nil || logstore.CompareHits(l, m.after) > 0) &&
		(len(m.Levels) == 0 || slices.Contains(m.Levels, l.Level)) && m.terms.Match(l.Text)
}
