package guard

import (
	"net/http"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/auth/oidc"
)

// isSecure reports whether clients reach the server over TLS.
func (g *Guard) isSecure() bool { return g.cfg.TLS || g.cfg.BehindProxy }

// cookieName returns the name of the session's cookie. Browsers take one that begins
// with __Host- only over TLS, from this very host, for all of its paths.
func (g *Guard) cookieName() string {
	if g.isSecure() {
		return "__Host-carillon_session"
	}
	return "carillon_session"
}

// flowCookieName is cookieName, of a sign-in at a provider.
func (g *Guard) flowCookieName() string {
	if g.isSecure() {
		return "__Host-carillon_sign_in"
	}
	return "carillon_sign_in"
}

// FlowCookie returns what Set-Cookie has to say where somebody leaves for a provider.
// Browsers send it when they are led back, which is from elsewhere.
func (g *Guard) FlowCookie(flow string) string {
	c := http.Cookie{ //nolint:gosec // as the session's
		Name: g.flowCookieName(), Value: flow, Path: "/", MaxAge: int(oidc.FlowLife.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: g.isSecure(),
	}
	return c.String()
}

// Cookie returns what Set-Cookie has to say; without a secret the session is over.
func (g *Guard) Cookie(secret string) string {
	c := http.Cookie{ //nolint:gosec // it is Secure wherever there is TLS; on loopback there may be none
		Name: g.cookieName(), Value: secret, Path: "/", MaxAge: int(auth.SessionLife.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: g.isSecure(),
	}
	if secret == "" {
		c.MaxAge = -1
	}
	return c.String()
}
