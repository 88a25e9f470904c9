package webapi

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/auth/oidc"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// signInHandlers answer requests about who signs in, and about themselves.
type signInHandlers struct {
	users      *auth.Directory
	provider   *oidc.Provider // signs people in besides us; nil without one
	cookie     func(secret string) string
	flowCookie func(flow string) string
	public     func() string // where people reach us
	metrics    *metrics
	refusals   atomic.Uint64 // of sign-ins at the provider
	log        *slog.Logger
}

// GetSignIn answers GET /sign-in.
func (h *signInHandlers) GetSignIn(ctx context.Context, _ GetSignInRequestObject) (*SignInWays, error) {
	has, err := h.users.Users().HasAdministrator(ctx)
	if err != nil {
		return nil, err
	}
	who := access.Who(ctx)
	return &SignInWays{Local: who != nil && who.How == rights.ByLocal, Password: true, NeedsAdministrator: !has, Provider: h.providerName()}, nil
}

// SignIn answers POST /sign-in.
func (h *signInHandlers) SignIn(ctx context.Context, r SignInRequestObject) (*answer[Me], error) {
	who, secret, err := h.users.SignIn(ctx, r.Body.User, r.Body.Password, access.Of(ctx).From)
	if errors.Is(err, auth.ErrLocked) {
		h.metrics.signIns.WithLabelValues(signInLocked).Inc()
	}
	if errors.Is(err, auth.ErrUnauthenticated) {
		h.metrics.signIns.WithLabelValues(signInWrong).Inc()
		h.log.WarnContext(ctx, "sign-in failed", "user", r.Body.User, "address", access.Of(ctx).From.Address)
		return nil, problem.Explain(err, refusal.WrongPassword.String())
	}
	if err != nil {
		return nil, err
	}
	h.metrics.signIns.WithLabelValues(signInDone).Inc()
	e := auditlog.Entry(ctx)
	e.User, e.Object = who.User, "session "+who.Session
	return &answer[Me]{Body: meOf(who), SetCookie: h.cookie(secret)}, nil
}

// SignOut answers POST /sign-out.
func (h *signInHandlers) SignOut(ctx context.Context, _ SignOutRequestObject) (*answer[none], error) {
	who := access.Who(ctx)
	e := auditlog.Entry(ctx)
	if e.Same = who == nil || who.How != rights.BySession; !e.Same {
		e.Object = "session " + who.Session
		if err := h.users.Sessions().End(ctx, who.User, who.Session); err != nil && !errors.Is(err, job.ErrNotFound) {
			return nil, err
		}
	}
	return &answer[none]{SetCookie: h.cookie("")}, nil
}

// ReadInvitation answers POST /invitations/read.
func (h *signInHandlers) ReadInvitation(ctx context.Context, r ReadInvitationRequestObject) (*Invitation, error) {
	i, err := h.users.Invitation(ctx, r.Body.Invitation)
	if err != nil {
		return nil, err
	}
	return &Invitation{Administrator: i.User == "", User: i.User, ExpiresAt: i.ExpiresAt}, nil
}

// AcceptInvitation answers POST /invitations/accept.
func (h *signInHandlers) AcceptInvitation(ctx context.Context, r AcceptInvitationRequestObject) (*answer[Me], error) {
	who, secret, err := h.users.Accept(ctx, r.Body.Invitation, r.Body.User, r.Body.Password, access.Of(ctx).From)
	if err != nil {
		return nil, err
	}
	e := auditlog.Entry(ctx)
	e.User, e.Object = who.User, "user "+who.User
	return &answer[Me]{Body: meOf(who), SetCookie: h.cookie(secret)}, nil
}

// GetMe answers GET /me.
func (h *signInHandlers) GetMe(ctx context.Context, _ GetMeRequestObject) (*Me, error) {
	who := access.Who(ctx)
	me := meOf(who)
	if h.provider != nil && who.External && who.How == rights.BySession {
		me.SignOutAt = h.provider.SignOut(ctx, h.public())
	}
	return &me, nil
}

// meOf returns an identity as the API shows it.
func meOf(who *auth.Identity) Me {
	may := func(role rights.Role) []string { return shownGroups(who.Access.Groups(role)) }
	sees := func(grant rights.Grant) []string { return shownGroups(who.Access.Seen(grant)) }
	return Me{
		User: who.User, DisplayName: who.DisplayName, How: who.How, Access: append([]Access{}, who.Access...), HasPassword: who.Password,
		Can: Can{
			View: may(rights.Viewer), Operate: may(rights.Operator), Edit: may(rights.Editor), Admin: may(rights.Admin),
			Logs: sees(rights.Logs), Params: sees(rights.Params), Scripts: sees(rights.Scripts), Secrets: sees(rights.Secrets),
		},
	}
}

// shownGroups has everywhere as "*".
func shownGroups(groups []string, everywhere bool) []string {
	if everywhere {
		return []string{rights.Everywhere}
	}
	return append([]string{}, groups...)
}

// SetMyPassword answers PUT /me/password.
func (h *signInHandlers) SetMyPassword(ctx context.Context, r SetMyPasswordRequestObject) (*answer[Me], error) {
	by := access.Of(ctx)
	if by.Who.How != rights.BySession {
		return nil, problem.Explain(problem.ErrForbidden, "only somebody who has signed in with a password can change it")
	}
	err := h.users.Reauthenticate(ctx, by.Who.User, r.Body.Current, by.From)
	if errors.Is(err, auth.ErrUnauthenticated) {
		return nil, problem.Explain(err, "the current password is wrong")
	}
	if err != nil {
		return nil, err
	}
	if err := h.users.Users().SetPassword(ctx, by.Who.User, r.Body.Password); err != nil {
		return nil, err
	}
	who, secret, err := h.users.Renew(ctx, by.Who.User, by.From)
	if err != nil {
		return nil, err
	}
	auditlog.Entry(ctx).Object = "user " + by.Who.User
	return &answer[Me]{Body: meOf(who), SetCookie: h.cookie(secret)}, nil
}

// ListMySessions answers GET /me/sessions.
func (h *signInHandlers) ListMySessions(ctx context.Context, _ ListMySessionsRequestObject) (*SessionList, error) {
	list, err := sessionsOf(ctx, h.users, access.Who(ctx).User)
	if err != nil {
		return nil, err
	}
	return &list, nil
}

// sessionsOf returns a user's sessions, the one used last first.
func sessionsOf(ctx context.Context, users *auth.Directory, user string) (SessionList, error) {
	sessions, err := users.Sessions().OfUser(ctx, user)
	if err != nil {
		return SessionList{}, err
	}
	slices.SortFunc(sessions, func(a, b auth.Session) int { return b.SeenAt.Compare(a.SeenAt) })
	list := SessionList{Items: []Session{}}
	for _, s := range sessions {
		list.Items = append(list.Items, Session{
			ID: s.ID, CreatedAt: s.CreatedAt, SeenAt: s.SeenAt, ExpiresAt: s.ExpiresAt, Address: s.Address, UserAgent: s.UserAgent,
			Current: s.ID == access.Who(ctx).Session,
		})
	}
	return list, nil
}

// EndMySession answers DELETE /me/sessions/{session}.
func (h *signInHandlers) EndMySession(ctx context.Context, r EndMySessionRequestObject) (*none, error) {
	if err := h.users.Sessions().End(ctx, access.Who(ctx).User, r.Session); err != nil {
		return nil, err
	}
	return &none{}, nil
}
