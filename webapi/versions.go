package webapi

import "context"

// DiffJob answers GET /jobs/{group}/{name}/diff.
func (h *handlers) DiffJob(ctx context.Context, r DiffJobRequestObject) (DiffJobResponseObject, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	changes, err := h.catalog.Compare(ctx, name, r.Params.From, r.Params.To)
	return DiffJob200JSONResponse(changes), err
}
