package webapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// userHandlers answer requests about users and API tokens.
type userHandlers struct {
	users   *auth.Directory
	catalog *catalog.Catalog
	link    func(invitation string) string // where an invitation is accepted
}

// ListUsers answers GET /users.
func (h *userHandlers) ListUsers(ctx context.Context, _ ListUsersRequestObject) (*UserList, error) {
	users, err := h.users.Users().All(ctx)
	if err != nil {
		return nil, err
	}
	list := UserList{Items: []UserItem{}}
	for i := range users {
		list.Items = append(list.Items, userItem(&users[i]))
	}
	return &list, nil
}

// GetUser answers GET /users/{user}.
func (h *userHandlers) GetUser(ctx context.Context, r GetUserRequestObject) (*answer[UserItem], error) {
	user, err := h.users.Users().Get(ctx, r.User)
	if err != nil {
		return nil, err
	}
	return &answer[UserItem]{Body: userItem(user), ETag: etag(user.Revision)}, nil
}

// PutUser answers PUT /users/{user}.
func (h *userHandlers) PutUser(ctx context.Context, r PutUserRequestObject) (*answer[UserItem], error) {
	edit, err := editOf("", "", r.Params.IfMatch, r.Params.IfNoneMatch)
	if err != nil {
		return nil, err
	}
	was, now, err := h.users.Users().Put(ctx, r.User, auth.UserEdit{
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
	item := &answer[UserItem]{Body: userItem(now), ETag: etag(now.Revision)}
	if was == nil {
		item.Status = http.StatusCreated
	}
	item.Body.Warnings = h.catalog.UnknownGroups(ctx, "access", now.Access)
	return item, nil
}

// DeleteUser answers DELETE /users/{user}.
func (h *userHandlers) DeleteUser(ctx context.Context, r DeleteUserRequestObject) (*none, error) {
	edit, err := editOf("", "", r.Params.IfMatch, "")
	if err != nil {
		return nil, err
	}
	if err := h.users.Users().Delete(ctx, r.User, edit.IfRevision); err != nil {
		return nil, problem.Conditional(edit, err)
	}
	return &none{}, nil
}

// InviteUser answers POST /users/{user}/invite.
func (h *userHandlers) InviteUser(ctx context.Context, r InviteUserRequestObject) (*InvitationLink, error) {
	secret, expires, err := h.users.Invite(ctx, r.User)
	if err != nil {
		return nil, err
	}
	return &InvitationLink{Link: h.link(secret), ExpiresAt: expires}, nil
}

// ListUserSessions answers GET /users/{user}/sessions.
func (h *userHandlers) ListUserSessions(ctx context.Context, r ListUserSessionsRequestObject) (*SessionList, error) {
	if _, err := h.users.Users().Get(ctx, r.User); err != nil {
		return nil, err
	}
	list, err := sessionsOf(ctx, h.users, r.User)
	if err != nil {
		return nil, err
	}
	return &list, nil
}

// EndUserSessions answers DELETE /users/{user}/sessions.
func (h *userHandlers) EndUserSessions(ctx context.Context, r EndUserSessionsRequestObject) (*none, error) {
	if err := h.users.Users().EndSessions(ctx, r.User); err != nil {
		return nil, err
	}
	return &none{}, nil
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

// tokenLife is how long a token lasts by default; the contract states it.
const tokenLife = 30 * 24 * time.Hour

// otherUser returns ErrForbidden unless the caller may deal with the tokens of user.
func otherUser(ctx context.Context, user string) error {
	who := access.Who(ctx)
	if user == who.User || who.Access.May(rights.Admin, rights.Everywhere) {
		return nil
	}
	return problem.Explain(problem.ErrForbidden, "tokens of others need the role admin everywhere")
}

// ListTokens answers GET /tokens.
func (h *userHandlers) ListTokens(ctx context.Context, r ListTokensRequestObject) (*TokenList, error) {
	user := r.Params.User
	if user == "" {
		user = access.Who(ctx).User
	}
	if err := otherUser(ctx, user); err != nil {
		return nil, err
	}
	if user == "*" {
		user = ""
	}
	tokens, err := h.users.Tokens().OfUser(ctx, user)
	if err != nil {
		return nil, err
	}
	list := TokenList{Items: []Token{}}
	for i := range tokens {
		list.Items = append(list.Items, h.tokenItem(&tokens[i]))
	}
	return &list, nil
}

// CreateToken answers POST /tokens.
func (h *userHandlers) CreateToken(ctx context.Context, r CreateTokenRequestObject) (*NewToken, error) {
	who, user := access.Who(ctx), r.Body.User
	if user == "" {
		user = who.User
		if who.How == rights.ByLocal {
			return nil, job.Invalid("user", "is missing; nobody is signed in here, so say whose token it is")
		}
	}
	if err := otherUser(ctx, user); err != nil {
		return nil, err
	}
	granted := rights.List(r.Body.Access)
	if granted == nil {
		owner, err := h.users.Users().Get(ctx, user)
		if err != nil {
			return nil, err
		}
		granted = owner.Access
	}
	if who.How == rights.ByToken {
		granted = granted.WithDefaults().Within(who.Access)
	}
	life := time.Duration(r.Body.ExpiresIn)
	if life == 0 {
		life = tokenLife
	}
	token, secret, err := h.users.Tokens().Create(ctx, user, r.Body.Name, granted, life, r.Body.Only...)
	if err != nil {
		return nil, err
	}
	auditlog.Entry(ctx).Object = "token " + token.ID
	if err := auditlog.Describe(ctx, true, "", nil, map[string]any{"name": token.Name, "user": token.User, "access": token.Access, "only": token.Only, "expires_at": token.ExpiresAt}); err != nil {
		return nil, err
	}
	return &NewToken{Token: h.tokenItem(token), Secret: secret, Warnings: h.catalog.UnknownGroups(ctx, "access", rights.List(r.Body.Access))}, nil
}

// RevokeToken answers DELETE /tokens/{token}.
func (h *userHandlers) RevokeToken(ctx context.Context, r RevokeTokenRequestObject) (*none, error) {
	token, err := h.users.Tokens().Get(ctx, r.Token)
	if err != nil {
		return nil, err
	}
	if otherUser(ctx, token.User) != nil {
		return nil, fmt.Errorf("%w: token %s", job.ErrNotFound, r.Token) // not theirs to know
	}
	if err := h.users.Tokens().Revoke(ctx, r.Token); err != nil {
		return nil, err
	}
	auditlog.Entry(ctx).Detail = reason.Text(refusal.TokenOf.With(token.Name, token.User))
	return &none{}, nil
}

// tokenItem returns a token as the API shows it: without its hash.
func (h *userHandlers) tokenItem(t *auth.Token) Token {
	return Token{
		ID: t.ID, Name: t.Name, User: t.User, Access: append([]Access{}, t.Access...), Only: t.Only,
		CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, Expired: !time.Now().Before(t.ExpiresAt), Rests: h.users.Tokens().Rests(t),
	}
}
