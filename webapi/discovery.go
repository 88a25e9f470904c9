package webapi

import (
	"context"

	"carillon/job"
)

// ListHandlers answers GET /groups/{group}/handlers.
func (h *handlers) ListHandlers(ctx context.Context, r ListHandlersRequestObject) (ListHandlersResponseObject, error) {
	if err := job.CheckSlug("group", r.Group); err != nil {
		return nil, err
	}
	items, err := h.view.Handlers(ctx, r.Group)
	if err != nil {
		return nil, err
	}
	return ListHandlers200JSONResponse{Items: items}, nil
}
