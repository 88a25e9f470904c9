package runs

import (
	"cmp"
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

// Backfills run fires of the past of one job. It is safe for concurrent use.
type Backfills struct{ *Runs }

// BackfillsOf returns the backfills of jobs whose runs are rs.
func BackfillsOf(rs *Runs) Backfills { return Backfills{rs} }

// Start runs fires of a job's past, or with DryRun tells which these are.
func (bf Backfills) Start(ctx context.Context, name job.Name, b *api.BackfillRequest) (api.BackfillResult, error) {
	plan, entry, err := bf.Plan(ctx, name, b)
	if err != nil {
		return api.BackfillResult{}, err
	}
	result := api.BackfillResult{Fires: plan.Fires, LeftOut: plan.LeftOut}
	if b.DryRun || len(plan.Fires) == 0 {
		return result, nil
	}
	request := journal.BackfillRequest{ID: b.ID, Job: name, AtOnce: cmp.Or(b.AtOnce, 1), By: access.Author(ctx), Note: b.Note}
	if request.ID == "" {
		request.ID = NewBackfillID()
	}
	for i := range plan.Fires {
		request.Fires = append(request.Fires, plan.Fires[i].FireTime.UnixMilli())
	}
	if err := request.Validate(); err != nil {
		return api.BackfillResult{}, err
	}
	var begun job.Backfill
	if err := bf.ask(ctx, name, bus.VerbBackfill, entry.Revision, request, &begun); err != nil {
		return api.BackfillResult{}, err
	}
	result.Backfill = &begun
	return result, nil
}

// NewBackfillID returns an id for a backfill.
func NewBackfillID() string { return strings.ToLower(rand.Text()[:10]) }

// Plan returns which fires a backfill would run of a job, and the job.
func (bf Backfills) Plan(ctx context.Context, name job.Name, b *api.BackfillRequest) (*ledger.Repeat, *bus.JobEntry, error) {
	entry, err := bf.conn.Jobs().Get(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	_, to, err := PastRange(time.Time{}, b.To)
	if err != nil {
		return nil, nil, err
	}
	if b.From.IsZero() {
		return nil, nil, &job.InvalidError{Field: "from", Reason: refusal.IsMissing.String()}
	}
	taken, err := bf.fillsLeft(ctx, name, entry.Revision)
	if err != nil {
		return nil, nil, err
	}
	r := ledger.RepeatRequest{From: b.From.UTC(), To: to, Only: cmp.Or(b.Only, outcome.OnlyMissed), Again: b.Again}
	plan, err := bf.ledger.Repeat(ctx, name, r, taken)
	return plan, entry, err
}

// fillsLeft returns the fires that backfills of a job have yet to run.
func (bf Backfills) fillsLeft(ctx context.Context, name job.Name, revision uint64) (map[int64]bool, error) {
	var list journal.BackfillList
	if err := bf.ask(ctx, name, bus.VerbBackfills, revision, journal.BackfillsRequest{Job: name, Fires: true}, &list); err != nil {
		return nil, err
	}
	left := map[int64]bool{}
	for _, b := range list.Backfills {
		if b.Cancelled == "" && b.EndedAt.IsZero() && len(b.Fires) == b.Total {
			for _, at := range b.Fires[b.Begun:] {
				left[at] = true
			}
		}
	}
	return left, nil
}

// List returns the backfills of a job.
func (bf Backfills) List(ctx context.Context, name job.Name) (api.BackfillList, error) {
	entry, err := bf.conn.Jobs().Get(ctx, name)
	if err != nil {
		return api.BackfillList{}, err
	}
	var list journal.BackfillList
	if err := bf.ask(ctx, name, bus.VerbBackfills, entry.Revision, journal.BackfillsRequest{Job: name}, &list); err != nil {
		return api.BackfillList{}, err
	}
	return api.BackfillList{Items: append([]api.Backfill{}, list.Backfills...)}, nil
}

// Cancel ends a backfill of a job: none of its fires begins any more.
func (bf Backfills) Cancel(ctx context.Context, name job.Name, id, why string) (state job.Backfill, err error) {
	if err := job.CheckSlug("backfill", id); err != nil {
		return state, err
	}
	entry, err := bf.conn.Jobs().Get(ctx, name)
	if err != nil {
		return state, err
	}
	request := journal.BackfillCancel{ID: id, Job: name, By: access.Author(ctx), Reason: why}
	err = bf.ask(ctx, name, bus.VerbCancelBackfill, entry.Revision, request, &state)
	return state, err
}

// ledgerRange is how much of the past a ledger shows when nobody says.
const ledgerRange = 24 * time.Hour

// PastRange returns the range of the past that parameters name. It may end ahead of now,
// as the end of today does; what lies further ahead than a ledger is long is refused: that
// nothing is missing there proves nothing.
func PastRange(from, to time.Time) (time.Time, time.Time, error) {
	now := time.Now()
	if to.After(now.Add(ledger.MaxRange)) {
		return from, to, job.Invalid("to", "%s lies too far in the future; what has fired is known up to now", to.UTC().Format(time.RFC3339))
	}
	if to.IsZero() {
		to = now
	}
	if from.IsZero() {
		from = to.Add(-ledgerRange)
	}
	return from.UTC(), to.UTC(), nil
}

// CheckBackfillRange returns an *InvalidError unless a backfill may be of a range.
func CheckBackfillRange(from, to time.Time) error {
	if _, _, err := PastRange(from, to); err != nil {
		return err
	}
	return ledger.CheckRange(from, to)
}
