package runs

import (
	"cmp"
	"context"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Pieces returns a page of the pieces of a run, and counts of all of them.
func (rs *Runs) Pieces(ctx context.Context, id string, p *api.ListPiecesParams) (api.PieceList, error) {
	attempts, err := rs.Attempts(ctx, id)
	if err != nil {
		return api.PieceList{}, err
	}
	filter := logstore.PieceFilter{RunID: attempts[0].RunID, Attempt: p.Attempt, From: runlog.PieceAt(p.FromIndex), Limit: cmp.Or(p.Limit, pageSize)}
	if err := filter.Validate(); err != nil {
		return api.PieceList{}, err
	}
	page, err := rs.store.Pieces(ctx, filter)
	if err != nil {
		return api.PieceList{}, problem.StoreAway(err)
	}
	if err := rs.view.MarkSilent(ctx, page.Pieces); err != nil {
		return api.PieceList{}, err
	}
	list := api.PieceList{Items: append([]api.Run{}, page.Pieces...), Total: attempts[0].Total, Counts: api.StatusCounts{}}
	if page.Next != runlog.Whole {
		list.NextIndex = page.Next.Index()
	}
	unheard := list.Total
	for status, n := range page.Counts {
		list.Counts[status] = n
		unheard -= n
	}
	// A further attempt may have some of the pieces only.
	if p.Attempt == 0 && unheard > 0 && !attempts[0].RunStatus().Final() {
		list.Counts[job.StatusPending] += unheard
	}
	return list, nil
}

// PieceOf returns the piece that a broadcast_index names, or the whole.
func PieceOf(index *int) runlog.Piece {
	if index == nil {
		return runlog.Whole
	}
	return runlog.PieceAt(*index)
}

// NewestAttempt returns which attempt of a run, or of one of its pieces, is the newest.
func (rs *Runs) NewestAttempt(ctx context.Context, id string, piece runlog.Piece) (int, error) {
	attempts, err := rs.Attempts(ctx, id)
	if err != nil || piece == runlog.Whole {
		if err != nil {
			return 0, err
		}
		return attempts[0].Attempt, nil
	}
	r, err := rs.Piece(ctx, attempts[0].RunID, 0, piece)
	switch {
	case err != nil:
		return 0, err
	case r != nil:
		return r.Attempt, nil
	}
	return attempts[0].Attempt, nil
}

// Piece returns what the history has of a piece, in an attempt or in its newest, or
// nil when nothing was heard of it yet.
func (rs *Runs) Piece(ctx context.Context, id job.RunID, attempt int, piece runlog.Piece) (*runlog.Run, error) {
	page, err := rs.store.Pieces(ctx, logstore.PieceFilter{RunID: id, Attempt: attempt, From: piece, Limit: 1})
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	if len(page.Pieces) == 0 || page.Pieces[0].Piece != piece {
		return nil, nil //nolint:nilnil // it is neither there nor wrong
	}
	return &page.Pieces[0], nil
}
