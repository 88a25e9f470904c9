package webapi

import (
	"context"
	"slices"

	"carillon/job/fleet"
	"carillon/webapi/access"
)

// ListNodes answers GET /nodes.
func (h *handlers) ListNodes(ctx context.Context, _ ListNodesRequestObject) (ListNodesResponseObject, error) {
	list, err := h.view.Nodes(ctx)
	return ListNodes200JSONResponse(list), err
}

// GetBus answers GET /bus.
func (h *handlers) GetBus(ctx context.Context, _ GetBusRequestObject) (GetBusResponseObject, error) {
	state, err := h.conn.State(ctx)
	if err != nil {
		return nil, err
	}
	if visible := access.Seen(ctx); visible != nil {
		state.Consumers = slices.DeleteFunc(state.Consumers, func(c fleet.ConsumerState) bool { return c.Group != "" && !visible[c.Group] })
	}
	return GetBus200JSONResponse(*state), nil
}

// ListGroups answers GET /groups.
func (h *handlers) ListGroups(ctx context.Context, _ ListGroupsRequestObject) (ListGroupsResponseObject, error) {
	groups, err := h.view.Groups(ctx)
	return ListGroups200JSONResponse{Items: groups}, err
}
