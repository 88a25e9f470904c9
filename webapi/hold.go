package webapi

import (
	"context"
	"time"

	"carillon/bus/cluster"
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
	if err := checkUntil(r.Body.Paused, r.Body.Until, now); err != nil {
		return nil, err
	}
	was, err := h.conn.GetHold(ctx)
	if err != nil {
		return nil, err
	}
	was = was.At(now)
	hold, err := h.conn.SetHold(ctx, r.Body.Paused, r.Body.Until, cluster.Edit{At: now, Author: author(ctx), Note: r.Body.Note})
	if err != nil {
		return nil, err
	}
	changed := was.Paused != hold.Paused || !was.Until.Equal(hold.Until)
	if err := describe(ctx, changed, r.Body.Note, pauseFields(was.Paused, was.Until), pauseFields(hold.Paused, hold.Until)); err != nil {
		return nil, err
	}
	return SetHold200JSONResponse(hold), nil
}

// checkUntil checks when a pause is to end by itself, if it is to.
func checkUntil(paused bool, until, now time.Time) error {
	switch {
	case until.IsZero():
		return nil
	case !paused:
		return invalid("until", "belongs to pausing only")
	case !until.After(now):
		return invalid("until", until.UTC().Format(time.RFC3339)+" must lie ahead")
	case until.Year() > 2225:
		return invalid("until", "must lie before the year 2226")
	}
	return nil
}

// pauseFields are what a pause is in the audit log.
func pauseFields(paused bool, until time.Time) map[string]any {
	fields := map[string]any{"paused": paused}
	if paused && !until.IsZero() {
		fields["until"] = until.UTC()
	}
	return fields
}
