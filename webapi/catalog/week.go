package catalog

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

const (
	// weekFor is how long the figures of a week are used: they hardly change. They are used
	// for longer if reading them takes long, so that reading takes at most one part in
	// weekShare of the time.
	weekFor   = 15 * time.Second
	weekShare = 30
	// weekOld is up to which age figures are returned while new ones are read.
	weekOld = 10 * time.Minute
	// weekTimeout bounds how long reading takes: before the first answer, the store may
	// have to count all that has ended since the last report.
	weekTimeout = time.Minute
	// weekWait bounds how long a list waits that is sorted by these figures, and
	// weekPatience one that can do without.
	weekWait     = 5 * time.Second
	weekPatience = 100 * time.Millisecond
	weekSpan     = 7 * 24 * time.Hour
)

// week knows how all jobs did in the last seven days. Lists are ordered by it, so it has
// the figures of all jobs at once, for every caller: the search for jobs leaves out
// those that the caller may not see.
type week struct {
	store logstore.Store
	index *index
	log   *slog.Logger
	asks  singleflight.Group

	mu   sync.Mutex // guards last
	last weekly
}

// weekly is how jobs did, as of an instant. Nobody changes the map.
type weekly struct {
	at   time.Time
	took time.Duration // to read it
	of   map[job.Name]api.JobWeek
}

// call returns the figures as of some seconds ago, or older ones while new ones are read.
// Jobs without an ended run are absent.
func (w *week) call(ctx context.Context) (map[job.Name]api.JobWeek, error) {
	ctx, cancel := context.WithTimeout(ctx, weekWait)
	defer cancel()
	return w.wait(ctx)
}

// known returns the same, and nothing unless it is at hand: what it is for does without.
func (w *week) known(ctx context.Context) map[job.Name]api.JobWeek {
	ctx, cancel := context.WithTimeout(ctx, weekPatience)
	defer cancel()
	of, err := w.wait(ctx)
	if err != nil {
		w.log.DebugContext(ctx, "figures of the week are not at hand", "error", err)
	}
	return of
}

// usual returns what call does, and nothing while the log store does not answer.
func (w *week) usual(ctx context.Context) map[job.Name]api.JobWeek {
	of, err := w.call(ctx)
	if err != nil {
		w.log.WarnContext(ctx, "figures of the week are not known", "error", err)
	}
	return of
}

func (w *week) wait(ctx context.Context) (map[job.Name]api.JobWeek, error) {
	w.mu.Lock()
	last := w.last
	w.mu.Unlock()
	age := time.Since(last.at)
	if age < max(weekFor, weekShare*last.took) {
		return last.of, nil
	}
	// The first caller asks for all who wait, so the query must not end with that
	// request.
	answer := w.asks.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(logstore.WantWhole(context.WithoutCancel(ctx)), weekTimeout)
		defer cancel()
		of, err := w.readAnew(ctx)
		if err != nil {
			w.log.WarnContext(ctx, "figures of the week cannot be read", "error", err)
		}
		return of, err
	})
	if age < weekOld {
		return last.of, nil
	}
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: read the figures of the week: %w", job.ErrUnavailable, ctx.Err())
	case a := <-answer:
		if a.Err != nil {
			return nil, problem.StoreAway(a.Err)
		}
		return a.Val.(map[job.Name]api.JobWeek), nil
	}
}

func (w *week) readAnew(ctx context.Context) (map[job.Name]api.JobWeek, error) {
	at := time.Now()
	of, err := w.read(ctx, at)
	if err != nil || len(of) == 0 {
		return of, err // that nothing has run yet is read in no time, and soon over
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = weekly{at: at, took: time.Since(at), of: of}
	return of, nil
}

func (w *week) read(ctx context.Context, now time.Time) (map[job.Name]api.JobWeek, error) {
	filter := logstore.ReportFilter{
		From: now.Add(-weekSpan), To: now, By: []runlog.Dimension{runlog.ByJob},
		Times: []runlog.Timing{runlog.TimeDuration}, Limit: logstore.MaxReportRows,
	}
	of := map[job.Name]api.JobWeek{}
	names := w.index.names()
	if len(names) <= logstore.MaxReportRows {
		return of, w.add(ctx, filter, of)
	}
	for some := range slices.Chunk(names, logstore.MaxReportRows) {
		filter.Jobs = some
		if err := w.add(ctx, filter, of); err != nil {
			return nil, err
		}
	}
	return of, nil
}

func (w *week) add(ctx context.Context, filter logstore.ReportFilter, of map[job.Name]api.JobWeek) error {
	report, err := w.store.Report(ctx, filter)
	if err != nil {
		return fmt.Errorf("report the week of jobs: %w", err)
	}
	for i := range report.Rows {
		row := &report.Rows[i]
		figures := api.JobWeek{Failed: row.Failed(), P50Ms: row.Duration.P50.Milliseconds(), P95Ms: row.Duration.P95.Milliseconds(), SuccessRate: row.SuccessRate}
		for status, n := range row.Statuses {
			if status.Executed() {
				figures.Executed += n
			}
		}
		of[row.Job] = figures
	}
	return nil
}
