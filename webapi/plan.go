package webapi

import "context"

// ListFires answers GET /fires.
func (h *handlers) ListFires(ctx context.Context, r ListFiresRequestObject) (ListFiresResponseObject, error) {
	found, err := h.catalog.Fires(ctx, &r.Params)
	return ListFires200JSONResponse(found), err
}

// CountFires answers GET /fires/counts.
func (h *handlers) CountFires(ctx context.Context, r CountFiresRequestObject) (CountFiresResponseObject, error) {
	found, err := h.catalog.CountFires(ctx, &r.Params)
	return CountFires200JSONResponse(found), err
}
