package webapi

import (
	"context"
	"time"

	"carillon/bus"
	"carillon/webapi/access"
	"carillon/webapi/auditlog"
	"carillon/webapi/catalog"
)

// GetHold answers GET /hold.
func (h *handlers) GetHold(ctx context.Context, _ GetHoldRequestObject) (GetHoldResponseObject, error) {
	hold, err := h.conn.GetHold(ctx)
	if err != nil {
		return nil, err
	}
	return GetHold200JSONResponse(hold.At(time.Now())), nil
}

// SetHold answers PUT /hold.
func (h *handlers) SetHold(ctx context.Context, r SetHoldRequestObject) (SetHoldResponseObject, error) {
	now := time.Now()
	if err := catalog.CheckUntil(r.Body.Paused, r.Body.Until, now); err != nil {
		return nil, err
	}
	was, err := h.conn.GetHold(ctx)
	if err != nil {
		return nil, err
	}
	was = was.At(now)
	hold, err := h.conn.SetHold(ctx, r.Body.Paused, r.Body.Until, bus.Edit{At: now, Author: access.Author(ctx), Note: r.Body.Note})
	if err != nil {
		return nil, err
	}
	changed := was.Paused != hold.Paused || !was.Until.Equal(hold.Until)
	if err := auditlog.Describe(ctx, changed, r.Body.Note, catalog.PauseFields(was.Paused, was.Until), catalog.PauseFields(hold.Paused, hold.Until)); err != nil {
		return nil, err
	}
	return SetHold200JSONResponse(hold), nil
}
