package clickhouse

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// pageSpans are how far before its end a page is looked for, until it is full. Most are
// with what fired within a day, and to ask for that alone spares ClickHouse the look at
// the parts of all other days: of 7, that takes a third of the time. A job that fires
// some times a day has its page in a week.
var pageSpans = []time.Duration{24 * time.Hour, 7 * 24 * time.Hour}

// page returns the newest runs that filter selects, limit at most.
func (h *runHistory) page(ctx context.Context, filter logstore.RunFilter, limit int) ([]row, error) {
	end := endOf(&filter)
	if span := h.near(&filter, limit); filter.From.Before(end.Add(-span)) && span > 0 {
		narrow := filter
		narrow.From = end.Add(-span)
		rows, err := h.pageWithin(ctx, &narrow, limit, nearSettings)
		if err != nil || len(rows) == limit {
			h.paced(&filter, end, rows)
			return rows, err
		}
	}
	for i, found := 0, 0; i < len(pageSpans); i++ {
		from := end.Add(-pageSpans[i])
		if !filter.From.Before(from) || i > 0 && found*int(pageSpans[i]/pageSpans[i-1]) < limit {
			break // the span before says that this one will not do either
		}
		narrow := filter
		narrow.From = from
		rows, err := h.pageWithin(ctx, &narrow, limit, ofTimesSettings)
		if err != nil || len(rows) == limit {
			h.paced(&filter, end, rows)
			return rows, err
		}
		found = len(rows)
	}
	rows, err := h.pageWithin(ctx, &filter, limit, ofTimesSettings)
	if len(rows) == limit {
		h.paced(&filter, end, rows)
	}
	return rows, err
}

// A page of runs that are selected by nothing but their time is looked for in the span in
// which there will be enough of them, by the newest such page: to plan for a day and read
// its runs takes half as long again.
const (
	nearMargin = 4             // how many times that span
	nearLeast  = time.Minute   //
	nearMost   = 6 * time.Hour // beyond which a day is as good
)

// near returns the span in which the page of a filter is likely to be, or 0.
func (h *runHistory) near(f *logstore.RunFilter, limit int) time.Duration {
	span := time.Duration(h.pace.Load()) * time.Duration(limit*nearMargin)
	if span == 0 || span > nearMost || !byTimeAlone(f) {
		return 0
	}
	return max(span, nearLeast)
}

// paced remembers how far back the runs of a page are.
func (h *runHistory) paced(f *logstore.RunFilter, end time.Time, rows []row) {
	if len(rows) > 0 && byTimeAlone(f) {
		back := end.Sub(time.UnixMilli(rows[len(rows)-1].fire))
		h.pace.Store(int64(max(back/time.Duration(len(rows)), 1)))
	}
}

// byTimeAlone reports whether f selects all runs of a time.
func byTimeAlone(f *logstore.RunFilter) bool {
	return ofTimes(f) && f.Group == "" && f.Groups == nil && len(f.Causes) == 0 && f.Version == 0 && f.Instance == ""
}

// endOf returns an instant that no run of a page fired after, but for runs of the
// future.
func endOf(f *logstore.RunFilter) time.Time {
	end := time.Now()
	if !f.To.IsZero() && f.To.Before(end) {
		end = f.To
	}
	if c, err := logstore.ParseCursor(f.Cursor); err == nil && c.RunID.Time().Before(end) {
		end = c.RunID.Time()
	}
	return end
}

// spare is how many more rows a page asks for than it shows: those that cancel out
// and wait for their merge.
func spare(limit int) int { return 2*limit + 32 }

// pageWithin reads the newest rows by their instant alone, which is the order that they
// are stored in: to have ClickHouse sort those of one instant by their run takes a third of
// a list's time, and to compare each row with where the page before ended a sixth. Only where
// more fire at one instant than a page has is that needed.
func (h *runHistory) pageWithin(ctx context.Context, f *logstore.RunFilter, limit int, settings clickhouse.Settings) ([]row, error) {
	clause := (*conditions).clause
	if ofTimes(f) {
		ctx, clause = clickhouse.Context(ctx, clickhouse.WithSettings(settings)), (*conditions).before
	}
	order := byInstant
	if h.crowded.Load() { // for then it will be so again
		order = newestFirst
	}
	for ask := spare(limit); ; {
		asked, isBelow := *f, func(*row) bool { return true }
		if order == byInstant {
			asked, isBelow = withoutCursor(f)
		}
		c, err := ofRuns(&asked)
		if err != nil {
			return nil, err
		}
		all, err := h.read(ctx, shown, fmt.Sprintf("%s%s LIMIT %d", clause(c), order, ask), c.args...)
		if err != nil {
			return nil, err
		}
		cut := len(all) == ask
		whole := slices.DeleteFunc(slices.Clone(all), func(r stored) bool {
			return !isBelow(&r.row) || cut && r.fire == all[ask-1].fire // perhaps cut within the rows of the last instant
		})
		rows := standing(whole)
		crowded := cut && len(rows) < limit
		h.crowded.Store(crowded)
		if crowded && order == byInstant {
			order = newestFirst
			continue
		}
		if crowded { // what was read may be cut within the rows of the last attempt, and no others
			last := all[ask-1].row
			rows = standing(slices.DeleteFunc(all, func(r stored) bool { return compareRows(&r.row, &last) == 0 }))
		}
		if len(rows) >= limit || !cut {
			return rows[:min(len(rows), limit)], nil
		}
		ask *= 4
	}
}

// withoutCursor returns a filter with a bound of time for its cursor, and which of the rows
// that this lets in lie below the cursor.
func withoutCursor(f *logstore.RunFilter) (logstore.RunFilter, func(*row) bool) {
	cursor, err := logstore.ParseCursor(f.Cursor)
	if err != nil {
		return *f, func(*row) bool { return true } // there is none
	}
	bounded := *f
	bounded.Cursor = ""
	if to := cursor.RunID.Time().Add(time.Millisecond); f.To.IsZero() || to.Before(f.To) {
		bounded.To = to
	}
	end := row{place: placeOf(cursor.RunID, runlog.Whole), attempt: toUint32(cursor.Attempt)}
	return bounded, func(r *row) bool { return compareRows(&end, r) < 0 }
}

// ofTimes reports whether f selects by time alone, or by what no index helps with.
func ofTimes(f *logstore.RunFilter) bool {
	return len(f.Jobs) == 0 && len(f.Statuses) == 0 && f.MinAttempt <= 1 && f.Parent == "" && f.Error == ""
}

// ofTimesSettings spare ClickHouse to plan for what such a list has no use for, which is a
// tenth of the time of one.
var ofTimesSettings = clickhouse.Settings{
	"use_skip_indexes":             0,
	"optimize_use_projections":     0,
	"use_query_condition_cache":    0,
	"compile_expressions":          0,
	"compile_sort_description":     0,
	"local_filesystem_read_method": "pread",
}

// nearSettings are for a list that is likely to be in a few thousand rows.
var nearSettings = func() clickhouse.Settings {
	settings := maps.Clone(ofTimesSettings)
	settings["max_threads"] = 1
	return settings
}()
