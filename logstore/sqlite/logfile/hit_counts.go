package logfile

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// CountHits implements it for [logstore.Store]. It goes through the days from the newest on, as
// a search does, until its time is over. It leaves out the runs in without.
func (l *Folder) CountHits(ctx context.Context, filter logstore.HitCountFilter, without map[job.RunID]bool) (logstore.HitCounts, error) {
	if err := filter.Validate(); err != nil {
		return logstore.HitCounts{}, err
	}
	if l.closed.Load() {
		return logstore.HitCounts{}, fmt.Errorf("count hits: %w", file.ErrClosed)
	}
	filter = filter.WithDefaults()
	c := counter{m: newMatcher(&filter.SearchFilter, without), counts: logstore.NewHitCounts(&filter), deadline: time.Now().Add(filter.Within)}
	for day := range byDay(l.between(c.m.days())) {
		for _, f := range day {
			if err := f.read(ctx, func(db *sql.DB) error { return c.add(ctx, f, db) }); err != nil {
				return logstore.HitCounts{}, fmt.Errorf("count hits of %s: %w", f.day.Format(time.DateOnly), err)
			}
		}
		if !c.counts.Complete() {
			break
		}
	}
	return c.counts, nil
}

// counter counts the hits of a search.
type counter struct {
	m        *matcher
	counts   logstore.HitCounts
	deadline time.Time
}

// add counts the hits in a file, or as far as there is time for.
func (c *counter) add(ctx context.Context, f *dayFile, db *sql.DB) error {
	if !time.Now().Before(c.deadline) {
		c.cut(f.day.Add(logstore.Day - time.Millisecond))
		return nil
	}
	h := hits{file: f, db: db, m: c.m}
	for chunk, err := range f.chunks(ctx, db, c.m) {
		if err == nil {
			err = h.add(ctx, chunk)
		}
		if err != nil {
			return err
		}
		if h.overlaps {
			continue // some of its lines may come again
		}
		c.count(&h)
		if !time.Now().Before(c.deadline) {
			c.cut(chunk.id.Time())
			return nil
		}
	}
	c.count(&h)
	return nil
}

// count counts the lines that were collected, and forgets them.
func (c *counter) count(h *hits) {
	for i := range h.lines {
		c.counts.Add(h.lines[i].RunID.Time(), h.lines[i].Level, 1)
	}
	h.lines = h.lines[:0]
}

// cut says that runs were not counted that fired at an instant or before.
func (c *counter) cut(fire time.Time) {
	if last := c.counts.To.Add(-1); fire.After(last) {
		fire = last
	}
	c.counts.CutAt(fire)
}
