package webapi

import (
	"context"

	"carillon/auth"
	"carillon/webapi/auditlog"
	"carillon/webapi/problem"
)

// ListUsers answers GET /users.
func (h *handlers) ListUsers(ctx context.Context, _ ListUsersRequestObject) (ListUsersResponseObject, error) {
	users, err := h.users.Users(ctx)
	if err != nil {
		return nil, err
	}
	list := UserList{Items: []UserItem{}}
	for i := range users {
		list.Items = append(list.Items, userItem(&users[i]))
	}
	return ListUsers200JSONResponse(list), nil
}

// GetUser answers GET /users/{user}.
func (h *handlers) GetUser(ctx context.Context, r GetUserRequestObject) (GetUserResponseObject, error) {
	user, err := h.users.User(ctx, r.User)
	if err != nil {
		return nil, err
	}
	return GetUser200JSONResponse{Body: userItem(user), Headers: GetUser200ResponseHeaders{ETag: etag(user.Revision)}}, nil
}

// PutUser answers PUT /users/{user}.
func (h *handlers) PutUser(ctx context.Context, r PutUserRequestObject) (PutUserResponseObject, error) {
	edit, err := editOf("", "", r.Params.IfMatch, r.Params.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	was, now, err := h.users.PutUser(ctx, r.User, auth.UserEdit{
		DisplayName: r.Body.DisplayName, Access: r.Body.Access, Disabled: r.Body.Disabled, IfRevision: edit.IfRevision, IfAbsent: edit.IfAbsent,
	})
	if err != nil {
		return nil, problem.Conditional(edit, err)
	}
	var before any
	if was != nil {
		before = recordedUser(was)
	}
	if err := auditlog.Describe(ctx, true, "", before, recordedUser(now)); err != nil {
		return nil, err
	}
	if was == nil {
		return PutUser201JSONResponse{Body: userItem(now), Headers: PutUser201ResponseHeaders{ETag: etag(now.Revision)}}, nil
	}
	return PutUser200JSONResponse{Body: userItem(now), Headers: PutUser200ResponseHeaders{ETag: etag(now.Revision)}}, nil
}

// DeleteUser answers DELETE /users/{user}.
func (h *handlers) DeleteUser(ctx context.Context, r DeleteUserRequestObject) (DeleteUserResponseObject, error) {
	edit, err := editOf("", "", r.Params.IfMatch, "")
	if err != nil {
		return nil, err
	}
	if err := h.users.DeleteUser(ctx, r.User, edit.IfRevision); err != nil {
		return nil, problem.Conditional(edit, err)
	}
	return DeleteUser204Response{}, nil
}

// InviteUser answers POST /users/{user}/invite.
func (h *handlers) InviteUser(ctx context.Context, r InviteUserRequestObject) (InviteUserResponseObject, error) {
	secret, expires, err := h.users.Invite(ctx, r.User)
	if err != nil {
		return nil, err
	}
	return InviteUser201JSONResponse{Link: h.link(secret), ExpiresAt: expires}, nil
}

// ListUserSessions answers GET /users/{user}/sessions.
func (h *handlers) ListUserSessions(ctx context.Context, r ListUserSessionsRequestObject) (ListUserSessionsResponseObject, error) {
	if _, err := h.users.User(ctx, r.User); err != nil {
		return nil, err
	}
	list, err := h.sessionsOf(ctx, r.User)
	if err != nil {
		return nil, err
	}
	return ListUserSessions200JSONResponse(list), nil
}

// EndUserSessions answers DELETE /users/{user}/sessions.
func (h *handlers) EndUserSessions(ctx context.Context, r EndUserSessionsRequestObject) (EndUserSessionsResponseObject, error) {
	if err := h.users.EndSessions(ctx, r.User); err != nil {
		return nil, err
	}
	return EndUserSessions204Response{}, nil
}

// recordedUser returns what the audit log says of a user.
func recordedUser(u *auth.User) any {
	return map[string]any{"display_name": u.DisplayName, "access": u.Access, "disabled": u.Disabled}
}

// userItem returns a user as the API shows it: without hashes.
func userItem(u *auth.User) UserItem {
	signsIn := UserItemSignsInNever
	switch {
	case u.External != "":
		signsIn = UserItemSignsInOidc
	case u.Password != "":
		signsIn = UserItemSignsInPassword
	}
	return UserItem{
		User: u.Name, DisplayName: u.DisplayName, Access: append([]Access{}, u.Access...), Disabled: u.Disabled, SignsIn: signsIn,
		CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt, Revision: u.Revision,
	}
}
