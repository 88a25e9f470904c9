package webapi

import "context"

// TryAlert answers POST /alerts/try.
func (h *handlers) TryAlert(ctx context.Context, r TryAlertRequestObject) (TryAlertResponseObject, error) {
	trial, err := h.alerts.Try(ctx, *r.Body)
	return TryAlert200JSONResponse(trial), err
}
