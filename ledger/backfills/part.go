package backfills

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/backfill"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/ledger"
)

// end is what a round of a part has come to: it was refused, or has made runs, stopped early for a reason or not. Or
// failed says why that is not known yet.
type end struct {
	refused reason.Text
	made    backfill.Made
	stopped reason.Text
	failed  error
}

// part is a job of a backfill that is at work.
type part struct {
	d *Driver
	b *backfill.Bulk
	*backfill.Part
}

// look takes a round as far as it can go, and returns its end if it has come to that.
func (p part) look(ctx context.Context) (*end, error) {
	state, err := p.state(ctx)
	switch {
	case errors.Is(err, job.ErrNotFound):
		return p.abandon(ctx, refusal.BackfillJobGone)
	case err != nil:
		return nil, err
	case state == nil && time.Since(p.AskedAt) > knownFor:
		return p.abandon(ctx, refusal.BackfillNotTaken)
	case state == nil:
		return p.ask(ctx)
	case !state.EndedAt.IsZero():
		return p.settle(ctx, reason.Text(state.Cancelled))
	case p.State == backfill.Stopping && state.Cancelled == "" && state.Begun < state.Total:
		return nil, p.stop(ctx)
	}
	return nil, nil
}

// state returns how the round stands with the owner of the job; nil if that does not know it.
func (p part) state(ctx context.Context) (*job.Backfill, error) {
	var list journal.BackfillList
	if err := p.owner(ctx, bus.VerbBackfills, journal.BackfillsRequest{Job: p.Job}, &list); err != nil {
		return nil, err
	}
	id := p.b.RoundID(p.Round)
	i := slices.IndexFunc(list.Backfills, func(f job.Backfill) bool { return f.ID == id })
	if i < 0 {
		return nil, nil
	}
	return &list.Backfills[i], nil
}

// ask asks the owner of the job for the round. A round without fires is over at once.
func (p part) ask(ctx context.Context) (*end, error) {
	fires, err := p.fires(ctx)
	switch {
	case errors.Is(err, job.ErrInvalid):
		return &end{refused: reason.Text(err.Error())}, nil
	case errors.Is(err, job.ErrNotFound):
		return p.abandon(ctx, refusal.BackfillJobGone)
	case err != nil:
		return nil, err
	case len(fires) == 0:
		return p.settle(ctx, "")
	}
	r := journal.BackfillRequest{ID: p.b.RoundID(p.Round), Job: p.Job, Fires: fires, AtOnce: p.AtOnce, By: p.b.By, Note: p.b.Name}
	var begun job.Backfill
	switch err := p.owner(ctx, bus.VerbBackfill, r, &begun); {
	case errors.Is(err, job.ErrInvalid):
		return &end{refused: reason.Text(err.Error())}, nil
	case errors.Is(err, job.ErrNotFound):
		return p.abandon(ctx, refusal.BackfillJobGone)
	case err != nil:
		return nil, fmt.Errorf("ask for backfill %s: %w", r.ID, err)
	}
	return nil, nil
}

// fires returns the fires that the round is to run, in Unix milliseconds, in order.
func (p part) fires(ctx context.Context) ([]int64, error) {
	made, err := p.made(ctx, p.Round-1)
	if err != nil {
		return nil, err
	}
	var fires []int64
	if p.Retry {
		for at, status := range made {
			if status.Final() && status != job.StatusSucceeded {
				fires = append(fires, at)
			}
		}
		slices.Sort(fires)
		return fires, nil
	}
	taken := map[int64]bool{}
	for at := range made {
		taken[at] = true
	}
	plan, err := p.d.ledger.Repeat(ctx, p.Job, ledger.RepeatRequest{From: p.b.From, To: p.b.To, Only: p.b.Only, Again: p.b.Again}, taken)
	if err != nil {
		return nil, err
	}
	for i := range plan.Fires {
		fires = append(fires, plan.Fires[i].FireTime.UnixMilli())
	}
	return fires, nil
}

// made returns the runs that the first rounds have made.
func (p part) made(ctx context.Context, rounds int) (map[int64]job.Status, error) {
	return p.d.ledger.Made(ctx, p.Job, p.b.From, p.b.To, p.b.RoundIDs(rounds))
}

// settle counts what the rounds have made, the last of which is over.
func (p part) settle(ctx context.Context, stopped reason.Text) (*end, error) {
	made, err := p.made(ctx, p.Round)
	if err != nil {
		return nil, err
	}
	e := &end{made: backfill.Made{Begun: len(made)}, stopped: stopped}
	for _, status := range made {
		switch {
		case status == job.StatusSucceeded:
			e.made.Succeeded++
		case status.Final():
			e.made.Failed++
		}
	}
	return e, nil
}

// abandon is settle of a round that nobody will run. Without any run, it was refused.
func (p part) abandon(ctx context.Context, why reason.None) (*end, error) {
	e, err := p.settle(ctx, reason.Text(why.String()))
	if err == nil && e.made.Begun == 0 {
		return &end{refused: e.stopped}, nil
	}
	return e, err
}

// stop lets no further fire of the round begin.
func (p part) stop(ctx context.Context) error {
	last := p.b.Events[len(p.b.Events)-1]
	r := journal.BackfillCancel{ID: p.b.RoundID(p.Round), Job: p.Job, By: last.By, Reason: last.Note}
	var state job.Backfill
	err := p.owner(ctx, bus.VerbCancelBackfill, r, &state)
	if errors.Is(err, job.ErrConflict) {
		return nil // the last of its runs has begun since
	}
	return err
}

// owner asks the owner of the job.
func (p part) owner(ctx context.Context, verb string, request, answer any) error {
	return p.d.conn.Shards().AskOwner(ctx, p.Job, verb, 0, request, answer, askTimeout)
}
