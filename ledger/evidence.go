package ledger

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
)

// Evidence is all that a job's fires are judged by.
type Evidence struct {
	Job job.Name
	// Cursor is the position of the job's shard. It was read first, then the history was
	// looked at for Since and Ingested, then Versions were read.
	Cursor *journal.Cursor
	// Versions are those that are kept, oldest first.
	Versions []*bus.JobEntry
	Store    logstore.Store
	// Since is where the job's history begins; zero: there is none. Ingested says that it has all
	// records that were stored when Cursor was read.
	Since    time.Time
	Ingested bool
	// Waits reports whether the owner of the job's shard waits for something of a run that has no trigger, or
	// its end may be on its way to the history. Without it such runs are not contradicted.
	Waits func(context.Context, job.RunID) (bool, error)
}

// Judge calls yield for each entry of the job with a fire time in [from, to), oldest
// first, until yield returns false; then so does Judge. Of a workflow, and of a job that is done elsewhere, there
// are entries of runs that no schedule asked for, too. The error is job.ErrUnavailable when the history cannot be read.
func (v Evidence) Judge(ctx context.Context, from, to time.Time, yield func(*outcome.Entry) bool) (bool, error) {
	waited, err := v.waited(ctx, from, to)
	if err != nil {
		return false, err
	}
	yield, rest := among(waited, yield)
	var failed error
	tell := func(e *outcome.Entry) bool {
		if failed = v.judgeSteps(ctx, e); failed == nil {
			failed = v.judgeElsewhere(ctx, e)
		}
		return failed == nil && yield(e)
	}
	j := &judge{book: v.book()}
	var others entriesIn
	if v.lasts() {
		others = v.wanted
	}
	if done, err := v.walk(ctx, j, from, to, others, tell); err != nil || !done {
		return false, cmp.Or(err, failed)
	}
	if !rest() {
		return false, nil
	}
	return v.listen(ctx, j, from, to, yield)
}

// entriesIn returns entries with fire times in [from, to).
type entriesIn func(ctx context.Context, from, to time.Time) ([]*outcome.Entry, error)

// othersSpan bounds the range in which other runs than those of fires are looked at together.
const othersSpan = 6 * time.Hour

// walk calls tell for what the book says of [from, to), and for what others, unless it is nil, returns of each window
// of it, oldest first, until tell returns false; then so does walk.
func (v Evidence) walk(ctx context.Context, j *judge, from, to time.Time, others entriesIn, tell func(*outcome.Entry) bool) (bool, error) {
	after, upto := from.UnixMilli()-1, to.UnixMilli()-1
	if err := v.readEdges(ctx, j.book, after, upto); err != nil {
		return false, err
	}
	for first := true; after < upto; first = false {
		end := upto
		if others != nil {
			end = min(end, after+othersSpan.Milliseconds())
		}
		fires, all := j.fires(after, end)
		rows, err := v.rows(ctx, instant(after+1), instant(all+1))
		if err != nil {
			return false, err
		}
		if first && len(fires) > 0 && (len(rows) == 0 || rows[0].FireTime.UnixMilli() != fires[0].At) {
			if err := v.readCover(ctx, j, after); err != nil {
				return false, err
			}
		}
		var entries []*outcome.Entry
		if others != nil {
			if entries, err = others(ctx, instant(after+1), instant(all+1)); err != nil {
				return false, err
			}
		}
		j.window(fires, rows, func(e *outcome.Entry) bool {
			entries = append(entries, e)
			return true
		})
		slices.SortStableFunc(entries, func(a, b *outcome.Entry) int { return a.FireTime.Compare(b.FireTime) })
		for _, e := range entries {
			if !tell(e) {
				return false, nil
			}
		}
		after = all
	}
	return true, nil
}

// book returns when the job had to fire, as far as that follows from its versions and
// the cursor.
func (v Evidence) book() *book {
	var planner job.Planner // of its own: it keeps every schedule that it has seen
	b := newBook(&planner, v.Job, v.Versions)
	b.decided = v.Cursor.DoneFor(v.Job).UnixMilli()
	b.known = v.Cursor.JobsSeq
	b.ingested, b.since = v.Ingested, math.MaxInt64
	if !v.Since.IsZero() {
		b.since = v.Since.UnixMilli()
	}
	for _, begin := range v.Cursor.Begins {
		if i := b.index(begin.Version); i >= 0 && begin.Job == v.Job {
			b.beginAfter(i, begin.After.UnixMilli())
		}
	}
	return b
}

// rows returns what the history has of the schedule's fires in [from, to), oldest first.
func (v Evidence) rows(ctx context.Context, from, to time.Time) ([]runlog.Run, error) {
	return v.all(ctx, ofSchedule([]job.Name{v.Job}, from, to))
}

// all returns all runs that match, oldest first.
func (v Evidence) all(ctx context.Context, filter logstore.RunFilter) ([]runlog.Run, error) {
	var rows []runlog.Run
	for {
		page, err := v.Store.Runs(ctx, filter)
		if err != nil {
			return nil, fmt.Errorf("%w: read the history of job %s: %w", job.ErrUnavailable, v.Job, err)
		}
		rows = append(rows, page.Runs...)
		if page.Next == "" {
			slices.Reverse(rows)
			return rows, nil
		}
		filter.Cursor = page.Next
	}
}

// newest returns the newest of the schedule's fires that match, or nil.
func (v Evidence) newest(ctx context.Context, filter logstore.RunFilter) (*runlog.Run, error) {
	filter.Jobs, filter.Causes, filter.Limit = []job.Name{v.Job}, job.ScheduledCauses, 1
	page, err := v.Store.Runs(ctx, filter)
	if err != nil {
		return nil, fmt.Errorf("%w: read the history of job %s: %w", job.ErrUnavailable, v.Job, err)
	}
	if len(page.Runs) == 0 {
		return nil, nil
	}
	return &page.Runs[0], nil
}

// edgeReach is how late an edit may have been heard of for its edge to be looked at.
const edgeReach = 24 * time.Hour

// readEdges lets versions that were heard of late begin where they did: after the last
// fire of the version before that was decided.
func (v Evidence) readEdges(ctx context.Context, b *book, after, upto int64) error {
	for i := range b.plans {
		before := int(b.plans[i].Version) - 1 // the bucket may have forgotten it
		if i > 0 {
			before = int(b.plans[i-1].Version)
		}
		edge := b.plans[i].From
		if before == 0 || edge > upto || edge+edgeReach.Milliseconds() < after {
			continue
		}
		last, err := v.newest(ctx, logstore.RunFilter{Version: before, From: instant(edge + 1)})
		if err != nil {
			return err
		}
		if last != nil {
			b.beginAfter(i, max(last.FireTime.UnixMilli(), last.Until.UnixMilli()))
		}
	}
	return nil
}

// readCover finds the row for several fires that began before the range and reaches
// into it. Such rows do not overlap, so it is the newest before.
func (v Evidence) readCover(ctx context.Context, j *judge, after int64) error {
	last, err := v.newest(ctx, logstore.RunFilter{To: instant(after + 1), Statuses: []job.Status{job.StatusSkipped, job.StatusMissed}})
	if err == nil && last != nil {
		j.take(last)
	}
	return err
}

// listen notices that a fixed-delay job has fallen silent, if its next fire would have
// come within the range.
func (v Evidence) listen(ctx context.Context, j *judge, from, to time.Time, yield func(*outcome.Entry) bool) (bool, error) {
	if n := len(j.plans); n == 0 || j.plans[n-1].Kind != job.KindFixedDelay {
		return true, nil
	}
	last, err := v.newest(ctx, logstore.RunFilter{})
	if err != nil {
		return false, err
	}
	if e := j.silence(last); e != nil && !e.FireTime.Before(from) && e.FireTime.Before(to) {
		return yield(e), nil
	}
	return true, nil
}
