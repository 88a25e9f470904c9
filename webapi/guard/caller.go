package guard

import (
	"cmp"
	"errors"
	"net"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/trail"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// identify returns who makes a request. A token that is not valid is an error; a
// cookie may be an old one, with which nobody is signed in. With onlyToken, nothing else counts.
func (g *Guard) identify(c *fiber.Ctx, onlyToken bool) (*access.Caller, error) {
	by := &access.Caller{Request: requestID(c), At: g.schemeOf() + string(c.Request().Host()), From: auth.Client{Address: g.ClientAddress(c), UserAgent: c.Get(fiber.HeaderUserAgent)}, Flow: c.Cookies(g.flowCookieName())}
	if name := c.Get(trail.HeaderAssistant); name != "" {
		by.Assistant = trail.AssistantName(name)
	}
	if header := c.Get(fiber.HeaderAuthorization); header != "" {
		scheme, secret, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return by, problem.Explain(auth.ErrUnauthenticated, "Authorization must be Bearer and an API token")
		}
		who, err := g.users.BySecret(c.UserContext(), strings.TrimSpace(secret))
		by.Who = who
		if errors.Is(err, auth.ErrUnauthenticated) {
			err = problem.Explain(err, refusal.BadToken.String())
		}
		return by, err
	}
	if onlyToken {
		return by, nil
	}
	if secret := c.Cookies(g.cookieName()); secret != "" {
		who, err := g.users.ByCookie(c.UserContext(), secret)
		if err == nil {
			by.Who = who
			return by, fromOurPage(c)
		}
		if !errors.Is(err, auth.ErrUnauthenticated) {
			return by, err
		}
	}
	if g.isLocal(c) {
		by.Who = auth.Local(cmp.Or(c.Get("Carillon-User"), g.cfg.LocalUser))
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
func (g *Guard) isLocal(c *fiber.Ctx) bool {
	if !g.cfg.Local || !IsLoopback(hostOf(string(c.Request().Host()))) {
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

// schemeOf returns the beginning of an address by which clients reach the server.
func (g *Guard) schemeOf() string {
	if g.isSecure() {
		return "https://"
	}
	return "http://"
}

// ClientAddress returns where a request comes from: what the connection says, or the
// proxy that we are told to stand behind. Of what that passes on, the last address is
// its own observation; those before it are the client's claims.
func (g *Guard) ClientAddress(c *fiber.Ctx) string {
	if g.cfg.BehindProxy {
		list := strings.Split(c.Get(fiber.HeaderXForwardedFor), ",")
		if ip := net.ParseIP(strings.TrimSpace(list[len(list)-1])); ip != nil {
			return ip.String()
		}
	}
	return c.Context().RemoteIP().String()
}
