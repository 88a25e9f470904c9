package webapi

import (
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"

	"carillon/auth"
	"carillon/auth/oidc"
	"carillon/webapi/access"
	"carillon/webapi/problem"
)

// identify returns who makes a request. A token that is not valid is an error; a
// cookie may be an old one, with which nobody is signed in.
func (s *Server) identify(c *fiber.Ctx) (*access.Caller, error) {
	by := &access.Caller{Request: requestID(c), From: auth.Client{Address: s.clientAddress(c), UserAgent: c.Get(fiber.HeaderUserAgent)}, Flow: c.Cookies(s.flowCookieName())}
	if header := c.Get(fiber.HeaderAuthorization); header != "" {
		scheme, secret, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return by, problem.Explain(auth.ErrUnauthenticated, "Authorization must be Bearer and an API token")
		}
		who, err := s.handlers.users.BySecret(c.UserContext(), strings.TrimSpace(secret))
		by.Who = who
		if errors.Is(err, auth.ErrUnauthenticated) {
			err = problem.Explain(err, "the API token is not valid: it is mistyped, has expired, was revoked, its user is gone, or has not signed in at the OIDC provider for too long")
		}
		return by, err
	}
	if secret := c.Cookies(s.cookieName()); secret != "" {
		who, err := s.handlers.users.ByCookie(c.UserContext(), secret)
		if err == nil {
			by.Who = who
			return by, fromOurPage(c)
		}
		if !errors.Is(err, auth.ErrUnauthenticated) {
			return by, err
		}
	}
	if s.isLocal(c) {
		by.Who = auth.Local(c.Get("Carillon-User"))
	}
	return by, nil
}

// fromOurPage refuses a change that comes with a cookie and does not say from where:
// every browser does. That it is from us was seen before, by ours.
func fromOurPage(c *fiber.Ctx) error {
	switch c.Method() {
	case fiber.MethodGet, fiber.MethodHead, fiber.MethodOptions:
		return nil
	}
	if c.Get("Sec-Fetch-Site") == "" && c.Get(fiber.HeaderOrigin) == "" {
		return fiber.NewError(fiber.StatusForbidden, "a change with a cookie must have an Origin header; programs use an API token")
	}
	return nil
}

// isLocal reports whether everybody counts as an administrator who asks from this
// machine, and the request does. One that a proxy has passed on may be from anywhere.
func (s *Server) isLocal(c *fiber.Ctx) bool {
	if !s.cfg.Local || !isLoopback(hostOf(string(c.Request().Host()))) {
		return false
	}
	for _, h := range []string{fiber.HeaderForwarded, fiber.HeaderXForwardedFor, fiber.HeaderXForwardedHost, "X-Real-Ip", fiber.HeaderVia} {
		if c.Get(h) != "" {
			return false
		}
	}
	addr, ok := c.Context().RemoteAddr().(*net.TCPAddr)
	return ok && addr.IP.IsLoopback()
}

// clientAddress returns where a request comes from: what the connection says, or the
// proxy that we are told to stand behind. Of what that passes on, the last address is
// its own observation; those before it are the client's claims.
func (s *Server) clientAddress(c *fiber.Ctx) string {
	if s.cfg.BehindProxy {
		list := strings.Split(c.Get(fiber.HeaderXForwardedFor), ",")
		if ip := net.ParseIP(strings.TrimSpace(list[len(list)-1])); ip != nil {
			return ip.String()
		}
	}
	return c.Context().RemoteIP().String()
}

// isSecure reports whether clients reach the server over TLS.
func (s *Server) isSecure() bool { return s.cfg.TLS != nil || s.cfg.BehindProxy }

// cookieName returns the name of the session's cookie. Browsers take one that begins
// with __Host- only over TLS, from this very host, for all of its paths.
func (s *Server) cookieName() string {
	if s.isSecure() {
		return "__Host-carillon_session"
	}
	return "carillon_session"
}

// flowCookieName is cookieName, of a sign-in at a provider.
func (s *Server) flowCookieName() string {
	if s.isSecure() {
		return "__Host-carillon_sign_in"
	}
	return "carillon_sign_in"
}

// flowCookie returns what Set-Cookie has to say where somebody leaves for a provider.
// Browsers send it when they are led back, which is from elsewhere.
func (s *Server) flowCookie(flow string) string {
	c := http.Cookie{ //nolint:gosec // as the session's
		Name: s.flowCookieName(), Value: flow, Path: "/", MaxAge: int(oidc.FlowLife.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.isSecure(),
	}
	return c.String()
}

// cookie returns what Set-Cookie has to say; without a secret the session is over.
func (s *Server) cookie(secret string) string {
	c := http.Cookie{ //nolint:gosec // it is Secure wherever there is TLS; on loopback there may be none
		Name: s.cookieName(), Value: secret, Path: "/", MaxAge: int(auth.SessionLife.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.isSecure(),
	}
	if secret == "" {
		c.MaxAge = -1
	}
	return c.String()
}
