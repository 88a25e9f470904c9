package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
)

// RepeatRequest asks which fires in [From, To) a backfill is to run.
type RepeatRequest struct {
	From, To time.Time
	Only     outcome.Only
	// Again selects fires that an earlier backfill has run with success, too.
	Again bool
}

// Repeat is what a backfill is to run.
type Repeat struct {
	Fires []outcome.Entry `json:"fires"` // oldest first
	// LeftOut is how many fires an earlier backfill has run, or has yet to.
	LeftOut int `json:"left_out"`
	// Others are the fires of the range that are not among those that were asked for, most first.
	Others []outcome.Others `json:"others"`
}

// addOther counts a fire that is not to run again.
func (p *Repeat) addOther(e *outcome.Entry) {
	if e.Cause != "" {
		return // it is no fire
	}
	why := e.Reason
	if e.Outcome.HasRun() {
		why = "" // it is about how the run ended
	}
	code := reason.Read(string(why)).Code
	i := slices.IndexFunc(p.Others, func(o outcome.Others) bool {
		return o.Outcome == e.Outcome && reason.Read(string(o.Reason)).Code == code
	})
	if i < 0 {
		i = len(p.Others)
		p.Others = append(p.Others, outcome.Others{Outcome: e.Outcome, Reason: why})
	}
	p.Others[i].Fires++
}

// Repeat returns what a backfill of a job is to run: at most [journal.MaxBackfill] fires.
// taken are fire times, in Unix milliseconds, that earlier ones have yet to run.
// Errors: job.ErrInvalid, job.ErrNotFound, job.ErrUnavailable.
func (l *Ledger) Repeat(ctx context.Context, name job.Name, r RepeatRequest, taken map[int64]bool) (*Repeat, error) {
	if !slices.Contains(outcome.Onlys, r.Only) {
		return nil, &job.InvalidError{Field: "only", Reason: fmt.Sprintf("%q must be one of %v", r.Only, outcome.Onlys)}
	}
	if err := CheckRange(r.From, r.To); err != nil {
		return nil, err
	}
	p, err := l.readPosition(ctx, name.Shard(l.conn.Cluster().Shards), ingestWait)
	if err != nil {
		return nil, err
	}
	v, err := l.evidence(ctx, p, name)
	if err != nil {
		return nil, err
	}
	done, err := v.backfilled(ctx, r)
	if err != nil {
		return nil, err
	}
	plan := &Repeat{Fires: []outcome.Entry{}, Others: []outcome.Others{}}
	tooMany := false
	add := func(e *outcome.Entry) bool {
		switch at := e.FireTime.UnixMilli(); {
		case !r.Only.Selects(e):
			plan.addOther(e)
		case taken[at] || done[at]:
			plan.LeftOut++
		case len(plan.Fires) == journal.MaxBackfill:
			tooMany = true
		default:
			plan.Fires = append(plan.Fires, *e)
		}
		return !tooMany
	}
	if r.Only != outcome.All || v.before(r.From, r.To, add) {
		if _, err := v.Judge(ctx, r.From, r.To, add); err != nil {
			return nil, err
		}
	}
	if tooMany {
		return nil, &job.InvalidError{Field: "to", Reason: fmt.Sprintf("is too far from from: there are more than %d such fires, which is the most of one backfill", journal.MaxBackfill)}
	}
	slices.SortStableFunc(plan.Others, func(a, b outcome.Others) int { return cmp.Compare(b.Fires, a.Fires) })
	return plan, nil
}

// backfilled returns the fire times of the range that earlier backfills have dealt with:
// their runs are under way, or have succeeded and are not wanted again.
func (v Evidence) backfilled(ctx context.Context, r RepeatRequest) (map[int64]bool, error) {
	filter := logstore.RunFilter{Jobs: []job.Name{v.Job}, Causes: []job.Cause{job.CauseBackfill}, From: r.From, To: r.To, Limit: logstore.MaxRuns}
	done := map[int64]bool{}
	for {
		page, err := v.Store.Runs(ctx, filter)
		if err != nil {
			return nil, fmt.Errorf("%w: read the history of job %s: %w", job.ErrUnavailable, v.Job, err)
		}
		for i := range page.Runs {
			if s := page.Runs[i].RunStatus(); !s.Final() || s == job.StatusSucceeded && !r.Again {
				done[page.Runs[i].FireTime.UnixMilli()] = true
			}
		}
		if page.Next == "" {
			return done, nil
		}
		filter.Cursor = page.Next
	}
}

// before yields the fires that the job would have had, had it been there before its
// first version, by the schedule that it has now.
func (v Evidence) before(from, to time.Time, yield func(*outcome.Entry) bool) bool {
	newest := v.Versions[len(v.Versions)-1].Version
	first := v.Versions[0].EffectiveFrom
	if !from.Before(first) || newest.Deleted {
		return true
	}
	newest.EffectiveFrom = from.Add(-time.Millisecond)
	var planner job.Planner
	plan, err := planner.Plan(&newest)
	if err != nil {
		return true // no scheduler can read it either
	}
	goOn := true
	upto := earliest(first, to.Add(-time.Millisecond)).UnixMilli()
	job.History{plan}.Fires(0, plan.From+plan.Offset, upto+plan.Offset, func(f job.Fire) bool {
		if !plan.Nominal(f.At) {
			return true
		}
		goOn = yield(&outcome.Entry{
			FireTime: instant(f.At), Due: instant(f.Due), Version: newest.Version, Outcome: outcome.Unjudged,
			RunID: job.FireRunID(v.Job, f.At, job.CauseSchedule), Reason: reason.Text(finding.BeforeFirstVersion.String()),
		})
		return goOn
	})
	return goOn
}
