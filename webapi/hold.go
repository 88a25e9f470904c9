package webapi

import (
	"context"
	"time"

	"carillon/bus"
)

// GetHold answers GET /hold.
func (h *handlers) GetHold(ctx context.Context, _ GetHoldRequestObject) (GetHoldResponseObject, error) {
	hold, err := h.conn.GetHold(ctx)
	if err != nil {
		return nil, err
	}
	return GetHold200JSONResponse(hold), nil
}

// SetHold answers PUT /hold.
func (h *handlers) SetHold(ctx context.Context, r SetHoldRequestObject) (SetHoldResponseObject, error) {
	was, err := h.conn.GetHold(ctx)
	if err != nil {
		return nil, err
	}
	hold, err := h.conn.SetHold(ctx, r.Body.Paused, bus.Edit{At: time.Now(), Author: author(ctx), Note: r.Body.Note})
	if err != nil {
		return nil, err
	}
	if err := describe(ctx, was.Paused != hold.Paused, r.Body.Note, map[string]bool{"paused": was.Paused}, map[string]bool{"paused": hold.Paused}); err != nil {
		return nil, err
	}
	return SetHold200JSONResponse(hold), nil
}
