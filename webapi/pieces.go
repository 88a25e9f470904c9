package webapi

import (
	"cmp"
	"context"

	"carillon/job"
	"carillon/job/runlog"
	"carillon/logstore"
	"carillon/webapi/problem"
)

// ListPieces answers GET /runs/{run_id}/pieces.
func (h *handlers) ListPieces(ctx context.Context, r ListPiecesRequestObject) (ListPiecesResponseObject, error) {
	list, err := h.pieces(ctx, r.RunID, &r.Params)
	return ListPieces200JSONResponse(list), err
}

// pieces returns a page of the pieces of a run, and counts of all of them.
func (h *handlers) pieces(ctx context.Context, id string, p *ListPiecesParams) (PieceList, error) {
	attempts, err := h.attempts(ctx, id)
	if err != nil {
		return PieceList{}, err
	}
	filter := logstore.PieceFilter{RunID: attempts[0].RunID, Attempt: p.Attempt, From: runlog.PieceAt(p.FromIndex), Limit: cmp.Or(p.Limit, PageSize)}
	if err := filter.Validate(); err != nil {
		return PieceList{}, err
	}
	page, err := h.store.Pieces(ctx, filter)
	if err != nil {
		return PieceList{}, problem.StoreAway(err)
	}
	if err := h.view.MarkSilent(ctx, page.Pieces); err != nil {
		return PieceList{}, err
	}
	list := PieceList{Items: append([]Run{}, page.Pieces...), Total: attempts[0].Total, Counts: StatusCounts{}}
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

// pieceOf returns the piece that a broadcast_index names, or the whole.
func pieceOf(index *int) runlog.Piece {
	if index == nil {
		return runlog.Whole
	}
	return runlog.PieceAt(*index)
}

// newestAttempt returns which attempt of a run, or of one of its pieces, is the newest.
func (h *handlers) newestAttempt(ctx context.Context, id string, piece runlog.Piece) (int, error) {
	attempts, err := h.attempts(ctx, id)
	if err != nil || piece == runlog.Whole {
		if err != nil {
			return 0, err
		}
		return attempts[0].Attempt, nil
	}
	r, err := h.pieceRow(ctx, attempts[0].RunID, 0, piece)
	switch {
	case err != nil:
		return 0, err
	case r != nil:
		return r.Attempt, nil
	}
	return attempts[0].Attempt, nil
}

// pieceRow returns what the history has of a piece, in an attempt or in its newest, or
// nil when nothing was heard of it yet.
func (h *handlers) pieceRow(ctx context.Context, id job.RunID, attempt int, piece runlog.Piece) (*runlog.Run, error) {
	page, err := h.store.Pieces(ctx, logstore.PieceFilter{RunID: id, Attempt: attempt, From: piece, Limit: 1})
	if err != nil {
		return nil, problem.StoreAway(err)
	}
	if len(page.Pieces) == 0 || page.Pieces[0].Piece != piece {
		return nil, nil //nolint:nilnil // it is neither there nor wrong
	}
	return &page.Pieces[0], nil
}
