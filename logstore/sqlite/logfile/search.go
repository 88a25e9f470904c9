package logfile

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// Search implements it for [logstore.Store]. It goes through the days from the newest on, and
// ends as soon as it has enough. It leaves out the runs in without.
func (l *Folder) Search(ctx context.Context, filter logstore.SearchFilter, without map[job.RunID]bool) (logstore.SearchPage, error) {
	var page logstore.SearchPage
	if err := filter.Validate(); err != nil {
		return page, err
	}
	if l.closed.Load() {
		return page, fmt.Errorf("search logs: %w", file.ErrClosed)
	}
	want := cmp.Or(filter.Limit, logstore.DefaultHits) + 1 // one more tells whether there is another page
	m := newMatcher(&filter, without)
	var hits []runlog.Line
	for day := range byDay(l.between(m.days())) {
		var found []runlog.Line
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
func byDay(files []*dayFile) iter.Seq[[]*dayFile] {
	return func(yield func([]*dayFile) bool) {
		for len(files) > 0 {
			n := slices.IndexFunc(files, func(f *dayFile) bool { return !f.day.Equal(files[0].day) })
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

// search returns the first hits in a file, want at least if there are so many.
func (f *dayFile) search(ctx context.Context, db *sql.DB, m *matcher, want int) ([]runlog.Line, error) {
	h := hits{file: f, db: db, m: m, want: want}
	for c, err := range f.chunks(ctx, db, m) {
		if err == nil {
			err = h.add(ctx, c)
		}
		if err != nil {
			return nil, err
		}
		if h.enough() {
			break
		}
	}
	return h.lines, nil
}

// hits collects the lines of chunks that a search wants.
type hits struct {
	file     *dayFile
	db       *sql.DB
	m        *matcher
	want     int
	lines    []runlog.Line
	overlaps bool // the last chunk that was added: of the next, lines may come before its own
}

func (h *hits) enough() bool { return len(h.lines) >= h.want && !h.overlaps }

func (h *hits) add(ctx context.Context, c *foundChunk) error {
	if h.m.without[c.id] {
		h.overlaps = false // only chunks of one attempt overlap
		return nil
	}
	h.overlaps = c.overlaps
	lines, err := h.read(ctx, c)
	if err != nil {
		return err
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

// read returns the lines of a chunk, if some may be hits.
func (h *hits) read(ctx context.Context, c *foundChunk) ([]runlog.Line, error) {
	if c.overlaps { // some lines arrived twice, and the first written count
		return h.file.lines(ctx, h.db, &logstore.LineFilter{RunID: c.id, Attempt: c.attempt, Piece: c.piece, FromSeq: c.first, ToSeq: c.last, Limit: maxChunkLines})
	}
	unpacked, err := c.unpack()
	if err != nil || !h.m.terms.MayMatch(unpacked) { // most chunks have none: to make lines of them would take longer
		return nil, err
	}
	return c.decode(h.file.jobs.Name(c.job), unpacked)
}

// once sorts hits of chunks that overlap, and leaves each out but once.
func once(hits []runlog.Line) []runlog.Line {
	slices.SortStableFunc(hits, func(a, b runlog.Line) int { return logstore.CompareHits(&a, &b) })
	return slices.CompactFunc(hits, func(a, b runlog.Line) bool { return logstore.CompareHits(&a, &b) == 0 })
}

// matcher tells the lines that a search wants.
type matcher struct {
	*logstore.SearchFilter
	terms   logstore.Terms
	without map[job.RunID]bool
	after   *runlog.Line // only lines behind it in the order of hits; nil is all
}

func newMatcher(f *logstore.SearchFilter, without map[job.RunID]bool) *matcher {
	m := &matcher{SearchFilter: f, terms: logstore.ParseTerms(f.Text), without: without}
	if c, err := logstore.ParseHitCursor(f.Cursor); err == nil {
		m.after = &runlog.Line{RunID: c.RunID, Attempt: c.Attempt, Piece: c.Piece, Seq: c.Seq}
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

// words returns the query for the chunks that have all words. The index does not know which
// words have something else in them.
func (m *matcher) words() string {
	if len(m.terms.Words) == 0 {
		return ""
	}
	return `"` + strings.Join(m.terms.Words, `" "`) + `"` // they have no quotation marks in them
}

// query returns the conditions for chunks; some is false when there are none.
func (m *matcher) query(jobs *file.Dictionary) (q *chunkQuery, some bool) {
	q = &chunkQuery{}
	ids, byJob := jobs.Select(m.Runs())
	if byJob {
		q.and("c.job IN (" + file.Join(ids) + ")")
	}
	if !m.From.IsZero() {
		q.and("c.run_id >= ?", file.IDAt(m.From))
	}
	if !m.To.IsZero() {
		q.and("c.run_id < ?", file.IDAt(m.To))
	}
	if m.RunID != "" {
		q.and("c.run_id = ?", file.PackID(m.RunID))
	}
	if m.after != nil {
		q.and("(c.run_id, c.attempt, c.piece, c.first_seq) < (?, ?, ?, ?)", file.PackID(m.after.RunID), m.after.Attempt, int64(m.after.Piece), m.after.Seq)
	}
	return q, !byJob || len(ids) > 0
}

func (m *matcher) match(l *runlog.Line) bool {
	return (m.after == nil || logstore.CompareHits(l, m.after) > 0) &&
		(len(m.Levels) == 0 || slices.Contains(m.Levels, l.Level)) && m.terms.Match(l.Text)
}
