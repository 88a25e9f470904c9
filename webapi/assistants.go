package webapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/valyala/fasthttp"
	"golang.org/x/time/rate"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/assistant"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job/trail"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/guard"
)

// assistantTime bounds a message of an assistant, in which at most one tool is called, which takes 10 s.
const assistantTime = 15 * time.Second

// headerSession is how clients older than 2026-07-28 repeat what an answer to initialize said.
const headerSession = "Mcp-Session-Id"

// assistantHandlers serve POST /mcp: tools for assistants. They keep nothing of a client but how often it calls, so any
// server answers any call. They are safe for concurrent use.
type assistantHandlers struct {
	off     bool
	inside  fasthttp.RequestHandler // of the whole server: tools ask it. Set before requests come
	handler http.Handler
	schemas *mcp.SchemaCache
	codes   assistant.Codes
	limits  limits
	log     *slog.Logger
}

func newAssistantHandlers(off bool, conn *cluster.Conn, log *slog.Logger) *assistantHandlers {
	a := &assistantHandlers{off: off, schemas: mcp.NewSchemaCache(), codes: codes{conn}, log: log}
	a.handler = http.NewCrossOriginProtection().Handler(mcp.NewStreamableHTTPHandler(serverOf, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: assistant.MaxRequest, PropagateRequestCancellation: true, Logger: log,
	}))
	return a
}

type serverKey struct{}

// serverOf returns the server for the caller of a request.
func serverOf(r *http.Request) *mcp.Server {
	s, _ := r.Context().Value(serverKey{}).(*mcp.Server)
	return s
}

// message is what is read of a message before the SDK reads it.
type message struct {
	Method string `json:"method"`
	Params struct {
		ClientInfo struct {
			Name string `json:"name"`
		} `json:"clientInfo"`
	} `json:"params"`
}

// CallTools answers POST /mcp.
func (a *assistantHandlers) CallTools(c *fiber.Ctx) error {
	switch {
	case a.off:
		return fiber.NewError(http.StatusNotFound, "this server has no tools for assistants: it runs with --no-mcp")
	case !guard.OwnOrigin(c):
		return fiber.NewError(http.StatusForbidden, "a page of another origin may not call tools")
	case len(c.Body()) > assistant.MaxRequest:
		return fiber.NewError(http.StatusRequestEntityTooLarge, fmt.Sprintf("the message has %d bytes; at most %d are accepted", len(c.Body()), assistant.MaxRequest))
	case bytes.HasPrefix(bytes.TrimLeft(c.Body(), " \t\r\n"), []byte("[")):
		return fiber.NewError(http.StatusBadRequest, "several messages in one request are not accepted; send one at a time")
	}
	var m message
	_ = json.Unmarshal(c.Body(), &m) // the SDK says what is wrong
	if m.Method == "subscriptions/listen" {
		return fiber.NewError(http.StatusMethodNotAllowed, "this server has no streams")
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), assistantTime)
	defer cancel()
	s, err := a.serverFor(c)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(context.WithValue(ctx, serverKey{}, s), http.MethodPost, "/mcp", bytes.NewReader(c.Body()))
	if err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	r.Host = string(c.Request().Host())
	c.Request().Header.VisitAll(func(name, value []byte) { r.Header.Add(string(name), string(value)) })
	w := &sdkAnswer{header: http.Header{}, status: http.StatusOK}
	a.handler.ServeHTTP(w, r)
	return w.send(c, m)
}

// serverFor returns the server whose tools ask the API as the caller of a request.
func (a *assistantHandlers) serverFor(c *fiber.Ctx) (*mcp.Server, error) {
	api, err := client.New(access.Of(c.UserContext()).At, "")
	if err != nil {
		return nil, fmt.Errorf("ask as the caller: %w", err)
	}
	_, token, _ := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
	api.Authorize(strings.TrimSpace(token))
	api.Via(&inside{serve: a.inside, from: c.Context().RemoteAddr(), forwarded: c.Get(fiber.HeaderXForwardedFor), agent: c.Get(fiber.HeaderUserAgent)})
	who := access.Who(c.UserContext())
	return assistant.New(assistant.Config{
		API: api, Access: who.Access, Writes: &assistant.Writes{Codes: a.codes, Caller: who.Token, Client: nameIn(c.Get(headerSession))}, Calls: a.limits.of(who.Token), Schemas: a.schemas, Logger: a.log,
	}), nil
}

// sdkAnswer is an answer of the SDK. It is a http.ResponseWriter.
type sdkAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *sdkAnswer) Header() http.Header            { return w.header }
func (w *sdkAnswer) WriteHeader(status int)         { w.status = status }
func (w *sdkAnswer) Write(data []byte) (int, error) { return w.body.Write(data) }

// send sends the answer to a message. What is no JSON is an error of the SDK in plain text.
func (w *sdkAnswer) send(c *fiber.Ctx, m message) error {
	kind := w.header.Get(fiber.HeaderContentType)
	isJSON := strings.HasPrefix(kind, fiber.MIMEApplicationJSON)
	if w.status >= http.StatusBadRequest && !isJSON {
		return fiber.NewError(w.status, strings.TrimSpace(w.body.String()))
	}
	if m.Method == "initialize" && w.status == http.StatusOK {
		c.Set(headerSession, sessionOf(m.Params.ClientInfo.Name))
	}
	c.Status(w.status)
	if w.body.Len() == 0 {
		return nil
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(w.body.Bytes())
}

// sessionOf returns what a client of an older protocol repeats with each message: its name, since only
// initialize has it. The server keeps nothing.
func sessionOf(name string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(trail.AssistantName(name)))
}

// nameIn returns the name in a session, "" if there is none.
func nameIn(session string) string {
	name, err := base64.RawURLEncoding.DecodeString(session)
	if err != nil {
		return ""
	}
	return string(name)
}

// codes are the codes of all servers, by the keys of the cluster.
type codes struct{ conn *cluster.Conn }

func (c codes) Code(text []byte) string             { return c.conn.Tokens().Confirmation(text, time.Now()) }
func (c codes) Holds(text []byte, code string) bool { return c.conn.Tokens().Confirms(code, text) }

// limits bounds how often tools are called with each token. It is safe for concurrent use.
type limits struct {
	mu     sync.Mutex
	tokens map[string]*rate.Limiter
}

// maxLimits is how many tokens have a limit before those that have rested for a minute are forgotten.
const maxLimits = 1000

// of returns the limit of a token.
func (l *limits) of(token string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if limit := l.tokens[token]; limit != nil {
		return limit
	}
	if l.tokens == nil {
		l.tokens = map[string]*rate.Limiter{}
	}
	if len(l.tokens) >= maxLimits {
		for id, limit := range l.tokens {
			if limit.Tokens() >= float64(limit.Burst()) {
				delete(l.tokens, id)
			}
		}
	}
	limit := assistant.NewLimit()
	l.tokens[token] = limit
	return limit
}
