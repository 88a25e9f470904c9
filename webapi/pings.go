package webapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/guard"
	"github.com/carillon-scheduler/carillon/webapi/ping"
)

// pingHandlers answer pings, and requests about ping tokens.
type pingHandlers struct {
	receiver *ping.Receiver
	tokens   *auth.PingTokens
	jobs     *catalog.Search
	public   string                  // the public URL, empty if there is none
	from     func(*fiber.Ctx) string // the address of a client
}

// ListPingTokens answers GET /jobs/{group}/{name}/ping-tokens.
func (h *pingHandlers) ListPingTokens(ctx context.Context, r ListPingTokensRequestObject) (*PingTokenList, error) {
	name, err := h.watched(ctx, r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	tokens, err := h.tokens.OfJob(ctx, name)
	if err != nil {
		return nil, err
	}
	list := PingTokenList{Items: make([]PingToken, 0, len(tokens)), Refused: h.receiver.Refused(name)}
	for i := range tokens {
		t := &tokens[i]
		use := h.receiver.LastUse(t)
		list.Items = append(list.Items, PingToken{
			ID: t.ID, CreatedAt: t.CreatedAt, By: t.By, EndsAt: unlessZero(t.EndsAt), LastUsedAt: unlessZero(use.At), LastHost: use.Host,
		})
	}
	return &list, nil
}

// unlessZero returns an instant for a document, nil for none.
func unlessZero(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC().Truncate(time.Millisecond))
}

// CreatePingToken answers POST /jobs/{group}/{name}/ping-tokens.
func (h *pingHandlers) CreatePingToken(ctx context.Context, r CreatePingTokenRequestObject) (*NewPingToken, error) {
	name, err := h.watched(ctx, r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	overlap := auth.PingTokenOverlap
	if r.Body.Overlap != nil {
		if overlap = time.Duration(*r.Body.Overlap); !r.Body.Rotate {
			return nil, job.Invalid("overlap", "is only for rotate: true, when other tokens end")
		}
	}
	made, secret, err := h.tokens.Create(ctx, name, access.Author(ctx), r.Body.Rotate, overlap)
	if err != nil {
		return nil, err
	}
	auditlog.Entry(ctx).Object = fmt.Sprintf("ping token %s of job %s", made.ID, name)
	if err := auditlog.Describe(ctx, true, "", nil, map[string]any{"rotate": r.Body.Rotate, "overlap": job.Duration(overlap)}); err != nil {
		return nil, err
	}
	base := h.public
	if base == "" {
		base = access.Of(ctx).At
	}
	return &NewPingToken{
		ID: made.ID, Token: secret, URL: base + guard.PathPing + "/" + secret, URLFromRequest: h.public == "", CreatedAt: made.CreatedAt,
	}, nil
}

// RevokePingToken answers DELETE /jobs/{group}/{name}/ping-tokens/{ping_token}.
func (h *pingHandlers) RevokePingToken(ctx context.Context, r RevokePingTokenRequestObject) (*none, error) {
	name, err := nameOf(r.Group, r.Name)
	if err != nil {
		return nil, err
	}
	return &none{}, h.tokens.Revoke(ctx, name, r.PingToken)
}

// watched returns the job that a path names. The error is job.ErrConflict if it is not done elsewhere.
func (h *pingHandlers) watched(ctx context.Context, group, short string) (job.Name, error) {
	name, err := nameOf(group, short)
	if err != nil {
		return "", err
	}
	task, err := h.jobs.Task(ctx, name)
	if err == nil && task.Watch == nil {
		err = ping.NotElsewhere(name)
	}
	return name, err
}

// serve answers /ping and what is below it. It is no operation of the contract, whose checks would refuse
// a ping for a misspelt parameter.
func (h *pingHandlers) serve(c *fiber.Ctx) error { return h.take(c, false) }

// serveLong answers a ping whose body is too long to be read.
func (h *pingHandlers) serveLong(c *fiber.Ctx) error { return h.take(c, true) }

func (h *pingHandlers) take(c *fiber.Ctx, unread bool) error {
	if !guard.IsPing(c.Path()) {
		return c.Next()
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	if isOpened(c) {
		c.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)
		return c.Status(http.StatusConflict).SendString("This address is for programs: to open it in a browser is not a ping, and nothing was recorded.\n")
	}
	secret, what := guard.PingSecret(c.Path(), c.Get(fiber.HeaderAuthorization))
	m := h.messageOf(c)
	m.What, m.Unread = what, unread
	if age := c.Get("Carillon-Age"); age != "" && m.Values["age"] == "" {
		m.Values["age"] = age
	}
	if !unread {
		m.Body, m.Encoding = c.Request().Body(), c.Get(fiber.HeaderContentEncoding)
	}
	accepted, err := h.receiver.ByToken(c.UserContext(), secret, m)
	if err != nil {
		return refusedPing(c, err)
	}
	if prefersHTML(c) {
		c.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)
		return c.SendString("stored ping " + accepted.Ping + " of job " + accepted.Job + "\n")
	}
	return c.JSON(accepted)
}

// serveOfJob answers POST /jobs/{group}/{name}/ping.
func (h *pingHandlers) serveOfJob(c *fiber.Ctx) error {
	name, err := nameOf(c.Params("group"), c.Params("name"))
	if err != nil {
		return err
	}
	m := h.messageOf(c)
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(c.Request().Body(), &fields); err != nil {
		return job.Invalid("", "the body must be an object")
	}
	for field, value := range fields {
		var text string
		if json.Unmarshal(value, &text) != nil { // a number, or what is unknown
			text = string(bytes.TrimSpace(value))
		}
		if text != "null" {
			m.Values[field] = text
		}
	}
	m.What, m.Body = m.Values["kind"], []byte(m.Values["output"])
	delete(m.Values, "kind")
	delete(m.Values, "output")
	accepted, err := h.receiver.ByUser(c.UserContext(), name, m)
	if err != nil {
		return refusedPing(c, err)
	}
	return c.JSON(accepted)
}

// messageOf returns the ping that a request is, without its end of the path and its body.
func (h *pingHandlers) messageOf(c *fiber.Ctx) *ping.Message {
	m := &ping.Message{Method: c.Method(), Values: map[string]string{}, From: h.from(c)}
	query, _ := url.ParseQuery(string(c.Request().URI().QueryString())) // what can be read of it
	for name, values := range query {
		m.Values[name] = values[0]
	}
	return m
}

// refusedPing returns the error of a ping, and sets the headers that go with it.
func refusedPing(c *fiber.Ctx, err error) error {
	if e, ok := errors.AsType[*ping.MethodError](err); ok {
		c.Set(fiber.HeaderAllow, strings.Join(e.Allowed, ", "))
	}
	return err
}

// isOpened reports whether a browser sent the request since somebody opened the address, or may be about to: a
// preview of a link in a chat must not be a success.
func isOpened(c *fiber.Ctx) bool {
	return c.Get("Sec-Fetch-Dest") == "document" || c.Get("Sec-Fetch-Mode") == "navigate" ||
		c.Get("Sec-Purpose") != "" || c.Get("Purpose") == "prefetch" || c.Get("X-Moz") == "prefetch"
}

// prefersHTML reports whether a client prefers HTML, as people do who try the address.
func prefersHTML(c *fiber.Ctx) bool {
	return strings.Contains(c.Get(fiber.HeaderAccept), fiber.MIMETextHTML)
}
