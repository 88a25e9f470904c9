package webapi

import (
	"context"
	"errors"
	"math/bits"
	"net/url"
	"strings"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/auth/oidc"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// providerName returns what people know the OIDC provider by; empty without one.
func (h *signInHandlers) providerName() string {
	if h.provider == nil {
		return ""
	}
	return h.provider.Name()
}

// callbackURL returns where the provider sends people.
func (h *signInHandlers) callbackURL() string { return h.public() + "/api/v1/sign-in/oidc/callback" }

// BeginProviderSignIn answers GET /sign-in/oidc.
func (h *signInHandlers) BeginProviderSignIn(ctx context.Context, r BeginProviderSignInRequestObject) (*answer[none], error) {
	if h.provider == nil {
		return nil, problem.Explain(job.ErrNotFound, "this server has no OIDC provider; --oidc-issuer names one")
	}
	flow := oidc.NewFlow(pathOfConsole(r.Params.To))
	at, err := h.provider.Begin(ctx, flow, h.callbackURL())
	if err != nil {
		return nil, problem.Explain(err, refusal.ProviderSilent.String())
	}
	cookie, err := flow.Cookie()
	if err != nil {
		return nil, err
	}
	return &answer[none]{Location: at, SetCookie: h.flowCookie(cookie)}, nil
}

// pathOfConsole returns a path on this server, whatever somebody else has put into a
// link to us.
func pathOfConsole(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") ||
		strings.HasPrefix(u.Path, "//") || strings.HasPrefix(u.Path, "/api/") || strings.Contains(to, `\`) {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
}

// The reasons why a sign-in at the provider was refused, for the console.
const (
	refusedByProvider = "provider"   // the provider says no, or is not believed
	refusedStale      = "stale"      // this browser has not begun it, or too long ago
	refusedNoAccess   = "no_access"  // in no group that may do something
	refusedDisabled   = "disabled"   // an administrator has disabled the user
	refusedTaken      = "name_taken" // another user has the name
	refusedAway       = "away"       // a part of the system does not answer
)

// FinishProviderSignIn answers GET /sign-in/oidc/callback.
func (h *signInHandlers) FinishProviderSignIn(ctx context.Context, r FinishProviderSignInRequestObject) (*answer[none], error) {
	if h.provider == nil {
		return nil, problem.Explain(job.ErrNotFound, "this server has no OIDC provider")
	}
	who, secret, to, refused, err := h.arrive(ctx, r.Params)
	if err != nil {
		h.metrics.signIns.WithLabelValues(signInWrong).Inc()
		if n := h.refusals.Add(1); bits.OnesCount64(n) == 1 { // anybody can come here, as often as they like
			h.log.WarnContext(ctx, "sign-in at the provider refused", "reason", refused, "address", access.Of(ctx).From.Address, "times", n, "error", err)
		}
		auditlog.Entry(ctx).Same = true
		return &answer[none]{Location: "/?refused=" + refused, SetCookie: h.flowCookie("")}, nil
	}
	h.metrics.signIns.WithLabelValues(signInDone).Inc()
	e := auditlog.Entry(ctx)
	e.User, e.Object = who.User, "session "+who.Session
	return &answer[none]{Location: to, SetCookie: h.cookie(secret)}, nil
}

// arrive begins a session for the user who comes back from the provider. With an error,
// refused is the code of it for the console.
func (h *signInHandlers) arrive(ctx context.Context, p FinishProviderSignInParams) (who *auth.Identity, secret, to, refused string, err error) {
	by := access.Of(ctx)
	flow, err := oidc.ParseFlow(by.Flow, p.State)
	if err != nil {
		return nil, "", "", refusedStale, err
	}
	if p.Error != "" || p.Code == "" {
		return nil, "", "", refusedByProvider, errors.New("the provider says: " + p.Error + " " + p.ErrorDescription)
	}
	person, err := h.provider.Finish(ctx, flow, p.Code, h.callbackURL())
	switch {
	case errors.Is(err, job.ErrUnavailable):
		return nil, "", "", refusedAway, err
	case err != nil:
		return nil, "", "", refusedByProvider, err
	}
	who, secret, err = h.users.SignInExternal(ctx, person, by.From)
	switch {
	case errors.Is(err, auth.ErrNoAccess):
		refused = refusedNoAccess
	case errors.Is(err, auth.ErrUnauthenticated):
		refused = refusedDisabled
	case errors.Is(err, job.ErrConflict):
		refused = refusedTaken
	default:
		refused = refusedAway
	}
	return who, secret, pathOfConsole(flow.To), refused, err
}
