package webapi

import (
	"context"

	"carillon/bus"
	"carillon/job"
	"carillon/webapi/auditlog"
)

// PutGroup answers PUT /groups/{group}.
func (h *handlers) PutGroup(ctx context.Context, r PutGroupRequestObject) (PutGroupResponseObject, error) {
	if err := job.CheckSlug("group", r.Group); err != nil {
		return nil, err
	}
	limits := bus.GroupLimits{Limit: r.Body.Limit, Rate: r.Body.Rate}
	was, err := h.conn.SetGroupLimits(ctx, r.Group, limits)
	if err != nil {
		return nil, err
	}
	if err := auditlog.Describe(ctx, was.GroupLimits != limits, "", was.GroupLimits, limits); err != nil {
		return nil, err
	}
	g, err := h.view.Group(ctx, r.Group)
	return PutGroup200JSONResponse(g), err
}
