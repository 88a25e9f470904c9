package webapi

import "context"

// ListPieces answers GET /runs/{run_id}/pieces.
func (h *handlers) ListPieces(ctx context.Context, r ListPiecesRequestObject) (ListPiecesResponseObject, error) {
	list, err := h.runs.Pieces(ctx, r.RunID, &r.Params)
	return ListPieces200JSONResponse(list), err
}
