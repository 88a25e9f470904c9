package guard

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// requestTimeout bounds what a request waits for. Streams have their own end.
const requestTimeout = 30 * time.Second

// retryAfter is what a client is asked to wait when a part of the system is away, in
// seconds: a shard finds a new owner within a lease's time.
const retryAfter = "2"

// headerRequestID names a request in its response, in problems and in the log.
const headerRequestID = "X-Request-Id"

// insideKey is the key of the context of a request that the server itself makes.
type insideKey struct{}

// Inside has a request that the server makes of itself, for a client, end with ctx. It counts as the
// client's in every other way.
func Inside(ctx context.Context, r *fasthttp.RequestCtx) { r.SetUserValue(insideKey{}, ctx) }

// Outermost gives each request its id, its limit in time, its security headers and
// its line in the log, and turns errors and panics into problems.
func (g *Guard) Outermost(ctx context.Context) fiber.Handler {
	return func(c *fiber.Ctx) error { return g.outermost(ctx, c, c.Next) }
}

// outermost is what [Guard.Outermost] does around serve.
func (g *Guard) outermost(ctx context.Context, c *fiber.Ctx, serve func() error) error {
	began := time.Now()
	c.Set(headerRequestID, rand.Text()[:16])
	g.secure(c)
	if inside, ok := c.Context().UserValue(insideKey{}).(context.Context); ok {
		ctx = inside
	}
	limited, cancel := context.WithTimeoutCause(ctx, requestTimeout, fmt.Errorf("%w: the request took longer than %v", job.ErrUnavailable, requestTimeout))
	defer cancel()
	c.SetUserContext(limited)
	if err := guarded(serve); err != nil {
		if err := g.Fail(c, err); err != nil {
			return err
		}
	}
	took := time.Since(began)
	g.cfg.Observe(c.Method(), c.Response().StatusCode(), took)
	g.log.DebugContext(limited, "request served", "request_id", requestID(c), "method", c.Method(), "path", loggedPath(c),
		"status", c.Response().StatusCode(), "seconds", took.Seconds())
	return nil
}

// KnownMethods answers requests with a method that HTTP servers need not know, such as
// PROPFIND, which Fiber would answer by itself in plain text.
func (g *Guard) KnownMethods(app *fiber.App, serve fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(r *fasthttp.RequestCtx) {
		if slices.Contains(fiber.DefaultMethods, string(r.Method())) {
			serve(r)
			return
		}
		c := app.AcquireCtx(r)
		defer app.ReleaseCtx(c)
		c.SetUserContext(context.Background()) //nolint:forbidigo // no handler comes after it, and nothing waits
		// What it returns is an answer that could not be written as JSON.
		_ = g.Fail(c, fiber.NewError(http.StatusMethodNotAllowed, "this server knows no such method; use GET, HEAD, POST, PUT or DELETE"))
	}
}

// guarded calls serve and returns its panic as an error.
func guarded(serve func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = problem.CrashOf(v)
		}
	}()
	return serve()
}

// Fail answers with the problem that err is. It is also Fiber's error handler, for
// requests that are too broken to get a handler.
func (g *Guard) Fail(c *fiber.Ctx, err error) error {
	if errors.Is(err, fiber.ErrRequestEntityTooLarge) {
		if isPing, err := g.failLongPing(c); isPing {
			return err
		}
		err = tooLong(c)
	}
	if ours, ok := errors.AsType[*fiber.Error](err); ok { // it may repeat the request
		err = fiber.NewError(ours.Code, withoutSecrets(ours.Message))
	}
	id := requestID(c)
	if id == "" {
		id = rand.Text()[:16]
		c.Set(headerRequestID, id)
		g.secure(c)
	}
	p := problem.Of(err, id)
	if ours, ok := errors.AsType[*fiber.Error](err); ok {
		p = problemOfHTTP(ours, id)
	}
	g.logProblem(c, p, err)
	setHeaders(c, p.Status, err)
	return c.Status(p.Status).JSON(p, "application/problem+json")
}

// setHeaders sets the headers that go with the problem that err is.
func setHeaders(c *fiber.Ctx, status int, err error) {
	if later, ok := errors.AsType[*problem.Later](err); ok {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(later.After.Seconds()))))
		return
	}
	switch status {
	case http.StatusServiceUnavailable:
		c.Set(fiber.HeaderRetryAfter, retryAfter)
	case http.StatusUnauthorized:
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	case http.StatusTooManyRequests:
		if locked, ok := errors.AsType[*auth.LockedError](err); ok {
			c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(locked.After.Seconds())+1))
		} else if errors.Is(err, errBusy) {
			c.Set(fiber.HeaderRetryAfter, busyRetryAfter)
		}
	}
}

// httpCodes names the errors that the HTTP layer itself makes.
var httpCodes = map[int]string{
	http.StatusForbidden:             api.CodeForbidden,
	http.StatusNotFound:              api.CodeNotFound,
	http.StatusMethodNotAllowed:      api.CodeMethodNotAllowed,
	http.StatusRequestEntityTooLarge: api.CodeTooLarge,
	http.StatusUnsupportedMediaType:  api.CodeUnsupportedMediaType,
	http.StatusMisdirectedRequest:    api.CodeMisdirected,
}

// problemOfHTTP returns what a client is told of an error that the HTTP layer itself makes.
func problemOfHTTP(fe *fiber.Error, requestID string) api.Problem {
	p := api.Problem{Type: "about:blank", Title: http.StatusText(fe.Code), Status: fe.Code, Code: httpCodes[fe.Code], RequestID: requestID, Detail: fe.Message}
	switch {
	case p.Code != "":
	case fe.Code < http.StatusInternalServerError:
		p.Code = api.CodeInvalid
		p.Errors = []api.FieldError{{Reason: reason.Text(fe.Message)}}
	default:
		p.Code = api.CodeInternal
	}
	return p
}

func (g *Guard) logProblem(c *fiber.Ctx, p api.Problem, err error) {
	level := slog.LevelDebug
	if p.Status == http.StatusInternalServerError {
		level = slog.LevelError
	}
	attrs := []any{"request_id", p.RequestID, "method", c.Method(), "path", loggedPath(c), "status", p.Status, "error", err}
	if panicked, ok := err.(*problem.Crash); ok { //nolint:errorlint // guarded returns it as it is
		attrs = append(attrs, "stack", string(panicked.Stack))
	}
	g.log.Log(c.UserContext(), level, "request refused", attrs...)
}

func requestID(c *fiber.Ctx) string { return string(c.Response().Header.Peek(headerRequestID)) }

// secure sets the headers that keep a browser from misusing a response.
func (g *Guard) secure(c *fiber.Ctx) {
	if g.isSecure() {
		c.Set(fiber.HeaderStrictTransportSecurity, "max-age=31536000")
	}
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderXFrameOptions, "DENY")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "+
		"font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'self'; form-action 'self'")
	if strings.HasPrefix(c.Path(), "/api/") {
		c.Set(fiber.HeaderCacheControl, "no-store")
	}
}

// Ours lets through requests that were meant for this server. A page elsewhere can
// make a browser on this machine send others: by a name of its own that resolves to
// loopback (the Host header tells), or straight to it (Origin and Sec-Fetch-Site do).
func (g *Guard) Ours(c *fiber.Ctx) error {
	if err := g.ours(c); err != nil {
		return err
	}
	return c.Next()
}

// ours returns an error unless a request was meant for this server.
func (g *Guard) ours(c *fiber.Ctx) error {
	host := string(c.Request().Host())
	if !g.answersFor(hostOf(host)) {
		return fiber.NewError(http.StatusMisdirectedRequest, "this server does not answer for that host name; use localhost or the address that it listens on")
	}
	switch c.Method() {
	case fiber.MethodGet, fiber.MethodHead, fiber.MethodOptions:
		return nil
	}
	if !sameOrigin(c.Get("Sec-Fetch-Site"), c.Get(fiber.HeaderOrigin), host) {
		return fiber.NewError(http.StatusForbidden, "a page of another origin may not change anything here")
	}
	return nil
}

// OwnOrigin reports whether a request comes from a page of this server, or from no page: as browsers say it in
// the Origin header, whatever else they say.
func OwnOrigin(c *fiber.Ctx) bool {
	return sameOrigin("", c.Get(fiber.HeaderOrigin), string(c.Request().Host()))
}

// answersFor reports whether the server is called by that name. One that is not bound
// to loopback may be called anything, unless it was told its names: a page of another
// name has none of its cookies.
func (g *Guard) answersFor(host string) bool {
	if IsLoopback(host) || slices.Contains(g.cfg.Hosts, host) {
		return true
	}
	return len(g.cfg.Hosts) == 0 && g.isSecure()
}

// sameOrigin judges by what browsers say; other programs say neither, and are not
// led by a page.
func sameOrigin(site, origin, host string) bool {
	switch site {
	case "same-origin", "none":
		return true
	case "":
	default:
		return false
	}
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == host
}

// hostOf returns a Host header without its port.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// IsLoopback reports whether host is a name or an address of this machine's own.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
