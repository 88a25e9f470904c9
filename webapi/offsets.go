package webapi

import "context"

// SuggestOffsets answers GET /fires/offsets.
func (h *handlers) SuggestOffsets(ctx context.Context, r SuggestOffsetsRequestObject) (SuggestOffsetsResponseObject, error) {
	found, err := h.catalog.SuggestOffsets(ctx, &r.Params)
	return SuggestOffsets200JSONResponse(found), err
}
