package guard

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// MaxBody is the size of a request's body, in bytes, above which it is refused.
const MaxBody = 10 << 20

// MaxStrangersBody is MaxBody for requests of nobody who is signed in: to sign in takes less.
const MaxStrangersBody = 16 << 10

// bodyTimeout is how long the body of a request may take to come, once its head is there;
// strangersBodyTimeout is the same of nobody who is signed in.
const (
	bodyTimeout          = 30 * time.Second
	strangersBodyTimeout = 10 * time.Second
)

// Room says how much of a request's body may be read, by its head. What may come is kept in
// memory before any handler sees the request, and what the head announces is reserved at
// once, so strangers get little of it.
func (g *Guard) Room(head *fasthttp.RequestHeader) fasthttp.RequestConfig {
	g.heads.Delete(head) // of an earlier request with the same memory
	if path := pathOf(head); IsPing(path) {
		return g.roomOfPing(path, head)
	}
	if g.cfg.Local || g.isSomebodys(head) {
		return fasthttp.RequestConfig{MaxRequestBodySize: MaxBody, ReadTimeout: bodyTimeout}
	}
	return fasthttp.RequestConfig{MaxRequestBodySize: MaxStrangersBody, ReadTimeout: strangersBodyTimeout}
}

// isSomebodys reports whether a request has a token or a session that is valid. It decides
// nothing else: identify looks again.
func (g *Guard) isSomebodys(head *fasthttp.RequestHeader) bool {
	users := g.users
	if header := string(head.Peek(fiber.HeaderAuthorization)); header != "" {
		_, secret, _ := strings.Cut(header, " ")
		return users.KnowsToken(strings.TrimSpace(secret))
	}
	secret := string(head.Cookie(g.cookieName()))
	return secret != "" && users.KnowsSession(secret)
}

// tooLong returns what to say of a body for which there was no room. One of several pieces
// has taken the head with it by then.
func tooLong(c *fiber.Ctx) error {
	switch n := c.Request().Header.ContentLength(); {
	case n > MaxBody:
		return fiber.NewError(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has %d bytes; at most %d are taken", n, MaxBody))
	case n > 0:
		return problem.Explain(auth.ErrUnauthenticated, fmt.Sprintf(
			"sign in first, or send an API token: there is none with this request, or it is not valid, and a body of %d bytes is not read without", n))
	}
	return fiber.NewError(http.StatusRequestEntityTooLarge,
		fmt.Sprintf("at most %d bytes are taken; %d if nobody is signed in, or the API token is not valid", MaxBody, MaxStrangersBody))
}

// Plain refuses a body that is compressed, unless it is a ping's, which nobody unpacks: Fiber would unpack it, several times over if it
// says so, and what a few bytes become has no bound.
func Plain(c *fiber.Ctx) error {
	if kind := c.Get(fiber.HeaderContentEncoding); !IsPing(c.Path()) && kind != "" && !strings.EqualFold(kind, "identity") {
		return fiber.NewError(http.StatusUnsupportedMediaType, "the body must not be compressed: send it without Content-Encoding")
	}
	return c.Next()
}
