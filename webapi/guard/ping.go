package guard

import (
	"context"
	"regexp"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/carillon-scheduler/carillon/auth"
)

// PathPing is where pings go. What follows it may be a secret: it is in no log and no answer.
const PathPing = "/ping"

// hiddenPath stands for a path with a secret.
const hiddenPath = PathPing + "/…"

// IsPing reports whether a path is that of a ping.
func IsPing(path string) bool { return path == PathPing || strings.HasPrefix(path, PathPing+"/") }

// PingSecret returns the secret of a ping, and what its path says, by that path and its Authorization header. A
// path with a secret does not need the header.
func PingSecret(path, authorization string) (secret, what string) {
	rest := strings.Trim(strings.TrimPrefix(path, PathPing), "/")
	if scheme, bearer, _ := strings.Cut(authorization, " "); !strings.HasPrefix(rest, auth.PingTokenPrefix) && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(bearer), rest
	}
	secret, what, _ = strings.Cut(rest, "/")
	return secret, what
}

// isKnownPing reports whether the head of a request is that of a ping with a token that is one.
func (g *Guard) isKnownPing(path string, head *fasthttp.RequestHeader) bool {
	secret, _ := PingSecret(path, string(head.Peek(fiber.HeaderAuthorization)))
	_, known, err := g.users.PingTokens().BySecret(secret)
	return known && err == nil
}

// pathOf returns the path of a request by its head.
func pathOf(head *fasthttp.RequestHeader) string {
	path, _, _ := strings.Cut(string(head.RequestURI()), "?")
	return path
}

// roomOfPing says how much of the body of a ping may be read. The head of a ping in several pieces is kept: it
// would be gone once they are too many.
func (g *Guard) roomOfPing(path string, head *fasthttp.RequestHeader) fasthttp.RequestConfig {
	if !g.isKnownPing(path, head) {
		return fasthttp.RequestConfig{MaxRequestBodySize: MaxStrangersBody, ReadTimeout: strangersBodyTimeout}
	}
	if head.ContentLength() < 0 {
		kept := &fasthttp.RequestHeader{}
		head.CopyTo(kept)
		g.heads.Store(head, kept)
	}
	return fasthttp.RequestConfig{MaxRequestBodySize: g.cfg.MaxPing, ReadTimeout: bodyTimeout}
}

// failLongPing answers a ping whose body is too long to be read: it counts all the same. It returns false if
// the request is no ping.
func (g *Guard) failLongPing(c *fiber.Ctx) (is bool, err error) {
	head := &c.Request().Header
	if kept, ok := g.heads.LoadAndDelete(head); ok {
		kept.(*fasthttp.RequestHeader).CopyTo(head)       //nolint:forcetypeassert // nothing else is stored
		c.Request().SetRequestURIBytes(head.RequestURI()) // which has been read without the head
	}
	if g.cfg.LongPing == nil || !IsPing(pathOf(head)) {
		return false, nil
	}
	c.Context().SetConnectionClose() // the rest of the body is not read
	again := c.App().AcquireCtx(c.Context())
	defer c.App().ReleaseCtx(again)
	return true, g.outermost(context.Background(), again, func() error { //nolint:forbidigo // what serves has no context here
		if err := g.ours(again); err != nil {
			return err
		}
		return g.cfg.LongPing(again)
	})
}

// secretOfPing finds the secrets of ping tokens in a text.
var secretOfPing = regexp.MustCompile(auth.PingTokenPrefix + `[^\s/?"'&]*`)

// loggedPath returns the path of a request as the log may have it.
func loggedPath(c *fiber.Ctx) string {
	if path := c.Path(); !IsPing(path) {
		return withoutSecrets(path)
	}
	return hiddenPath
}

// withoutSecrets returns a text without the secrets of ping tokens.
func withoutSecrets(text string) string {
	return secretOfPing.ReplaceAllString(text, auth.PingTokenPrefix+"…")
}
