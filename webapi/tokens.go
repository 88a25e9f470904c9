package webapi

import (
	"context"
	"fmt"
	"time"

	"carillon/auth"
	"carillon/job"
	"carillon/job/rights"
	"carillon/webapi/access"
	"carillon/webapi/auditlog"
	"carillon/webapi/problem"
)

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
func (h *handlers) ListTokens(ctx context.Context, r ListTokensRequestObject) (ListTokensResponseObject, error) {
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
	tokens, err := h.users.Tokens(ctx, user)
	if err != nil {
		return nil, err
	}
	list := TokenList{Items: []Token{}}
	for i := range tokens {
		list.Items = append(list.Items, h.tokenItem(&tokens[i]))
	}
	return ListTokens200JSONResponse(list), nil
}

// CreateToken answers POST /tokens.
func (h *handlers) CreateToken(ctx context.Context, r CreateTokenRequestObject) (CreateTokenResponseObject, error) {
	who, user := access.Who(ctx), r.Body.User
	if user == "" {
		user = who.User
		if who.How == rights.ByLocal {
			return nil, problem.Invalid("user", "is missing; nobody is signed in here, so say whose token it is")
		}
	}
	if err := otherUser(ctx, user); err != nil {
		return nil, err
	}
	access := rights.List(r.Body.Access)
	if access == nil {
		owner, err := h.users.User(ctx, user)
		if err != nil {
			return nil, err
		}
		access = owner.Access
	}
	if who.How == rights.ByToken {
		access = access.WithDefaults().Within(who.Access)
	}
	life := time.Duration(r.Body.ExpiresIn)
	if life == 0 {
		life = tokenLife
	}
	token, secret, err := h.users.CreateToken(ctx, user, r.Body.Name, access, life)
	if err != nil {
		return nil, err
	}
	auditlog.Entry(ctx).Object = "token " + token.ID
	if err := auditlog.Describe(ctx, true, "", nil, map[string]any{"name": token.Name, "user": token.User, "access": token.Access, "expires_at": token.ExpiresAt}); err != nil {
		return nil, err
	}
	return CreateToken201JSONResponse{Token: h.tokenItem(token), Secret: secret}, nil
}

// RevokeToken answers DELETE /tokens/{token}.
func (h *handlers) RevokeToken(ctx context.Context, r RevokeTokenRequestObject) (RevokeTokenResponseObject, error) {
	token, err := h.users.Token(ctx, r.Token)
	if err != nil {
		return nil, err
	}
	if otherUser(ctx, token.User) != nil {
		return nil, fmt.Errorf("%w: token %s", job.ErrNotFound, r.Token) // not theirs to know
	}
	if err := h.users.RevokeToken(ctx, r.Token); err != nil {
		return nil, err
	}
	auditlog.Entry(ctx).Note = fmt.Sprintf("%s, of %s", token.Name, token.User)
	return RevokeToken204Response{}, nil
}

// tokenItem returns a token as the API shows it: without its hash.
func (h *handlers) tokenItem(t *auth.Token) Token {
	return Token{
		ID: t.ID, Name: t.Name, User: t.User, Access: append([]Access{}, t.Access...),
		CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, Expired: !time.Now().Before(t.ExpiresAt), Rests: h.users.Rests(t),
	}
}
