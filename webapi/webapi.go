package webapi

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"carillon/alert"
	"carillon/audit"
	"carillon/auth"
	"carillon/auth/oidc"
	"carillon/bus/cluster"
	"carillon/frontend"
	"carillon/internal/seal"
	"carillon/job"
	"carillon/ledger"
	"carillon/logstore"
)

// Config says where to serve, and how.
type Config struct {
	// Addr is the address to listen on: a loopback one, unless TLS or BehindProxy is
	// set. Port 0 is any that is free. Defaults to "127.0.0.1:8080".
	Addr string
	// Listener is used instead of Addr when it is set; Run closes it. The same holds
	// for its address. Defaults to none.
	Listener net.Listener
	// TLS has the server speak TLS. Defaults to none.
	TLS *tls.Config
	// BehindProxy says that clients reach the server through a proxy only, which
	// speaks TLS with them and appends their address to X-Forwarded-For. Defaults to
	// false.
	BehindProxy bool
	// PublicURL is where people reach the server, for links. Defaults to the address
	// that it listens on.
	PublicURL string
	// Hosts are names by which clients may call the server besides localhost and
	// loopback addresses, without port. Defaults to none with plain HTTP on loopback,
	// else to any.
	Hosts []string
	// Local takes everybody on this machine for an administrator. It needs a loopback
	// address, and no proxy. Defaults to false.
	Local bool
	// MaxStreams bounds the live streams open at a time. Defaults to 1024.
	MaxStreams int
	// MaxUserStreams bounds those of one user, whatever sessions and tokens they have.
	// Defaults to 32.
	MaxUserStreams int
	// HeadTimeout is how long a client may take to send the head of a request, the TLS
	// handshake of a new connection included. Defaults to 10 s.
	HeadTimeout time.Duration
	// Grace is how long Run waits, once it is to stop, for streams to say goodbye and
	// requests to end. Defaults to 3 s.
	Grace time.Duration
	// Version is what GET /version tells. Defaults to "dev".
	Version string
	// MasterKey seals secrets, as "carillon secret keygen" prints it. Defaults to none:
	// secrets cannot be set.
	MasterKey string
	// Executors says that NATS asks this cluster who may connect as an executor, as
	// package auth/callout answers. Defaults to false: no credentials are made.
	Executors bool
	// Provider signs people in too. Defaults to none: all have a password.
	Provider *oidc.Provider
	// Retention is how long history is kept while nobody has said otherwise. Defaults to
	// logstore.DefaultRetention.
	Retention *job.Retention
	// Settings are those of the process by their names, for POST /diagnostics. They must have
	// no secrets. Defaults to none.
	Settings map[string]string
	// Profiles says that POST /diagnostics may tell the stacks of goroutines. Defaults to
	// false.
	Profiles bool
	// Registerer takes the package's metrics, and Gatherer gives those that GET
	// /metrics shows. Default to a registry of the server's own.
	Registerer prometheus.Registerer
	Gatherer   prometheus.Gatherer
	// Logger hears of requests at Debug and of our own faults at Error. Defaults to
	// none.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Addr == "" {
		c.Addr = "127.0.0.1:8080"
	}
	if c.MaxStreams == 0 {
		c.MaxStreams = 1024
	}
	if c.MaxUserStreams == 0 {
		c.MaxUserStreams = 32
	}
	if c.HeadTimeout == 0 {
		c.HeadTimeout = 10 * time.Second
	}
	if c.Grace == 0 {
		c.Grace = 3 * time.Second
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.Retention == nil {
		c.Retention = new(logstore.DefaultRetention())
	}
	if c.Registerer == nil || c.Gatherer == nil {
		own := prometheus.NewRegistry()
		c.Registerer, c.Gatherer = own, own
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) validate() error {
	if c.MaxStreams < 0 {
		return invalid("max_streams", "must not be negative")
	}
	if c.MaxUserStreams < 0 {
		return invalid("max_user_streams", "must not be negative")
	}
	if c.HeadTimeout < 0 {
		return invalid("head_timeout", "must not be negative")
	}
	if c.Grace < 0 {
		return invalid("grace", "must not be negative")
	}
	if c.Local && (c.TLS != nil || c.BehindProxy) {
		return invalid("local", "cannot hold together with TLS or behind a proxy: those are for others than this machine")
	}
	if c.PublicURL != "" {
		if u, err := url.Parse(c.PublicURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return invalid("public_url", fmt.Sprintf("%q must be an address such as https://carillon.example.org", c.PublicURL))
		}
	}
	if c.Listener != nil {
		if tcp, ok := c.Listener.Addr().(*net.TCPAddr); ok {
			return c.CheckAddr(tcp.String())
		}
		return nil
	}
	return c.CheckAddr(c.Addr)
}

// CheckAddr returns an *InvalidError for field "http" unless c may be served at addr.
func (c Config) CheckAddr(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	switch {
	case err != nil:
		return invalid("http", fmt.Sprintf("%q must be HOST:PORT, such as 127.0.0.1:8080", addr))
	case isLoopback(host) || c.TLS != nil || c.BehindProxy:
		return nil
	case c.Local:
		return invalid("http", fmt.Sprintf("%q must be a loopback address: everybody who asks counts as an administrator", addr))
	}
	return invalid("http", fmt.Sprintf("%q is not a loopback address, and passwords must not cross a network in the clear: "+
		"give --tls-cert and --tls-key, or --behind-proxy if a proxy speaks TLS for it", addr))
}

// Server serves the HTTP API and the console.
type Server struct {
	cfg       Config
	handlers  *handlers
	contract  *contract
	streams   *streams
	metrics   *metrics
	log       *slog.Logger
	listening chan struct{}
	listener  net.Listener // set before listening is closed
}

// New returns a server. conn must be open (cluster.Conn.Setup or cluster.Conn.Open); it and store
// outlive Run. The error is an *InvalidError when cfg is wrong.
func New(conn *cluster.Conn, store logstore.Store, cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	rules, err := loadContract()
	if err != nil {
		return nil, err
	}
	told := newNews(conn, cfg.Logger)
	x := newIndex(conn, func(name job.Name) { told.note(topicJobs, name.Group(), string(name)) }, cfg.Logger)
	open := newStreams(cfg.MaxStreams, cfg.MaxUserStreams)
	m, err := newMetrics(cfg.Registerer, x, open)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, contract: rules, streams: open, metrics: m, log: cfg.Logger, listening: make(chan struct{})}
	s.handlers = &handlers{
		conn: conn, store: visibleStore{store}, history: store, ledger: ledger.New(conn, visibleStore{store}, *cfg.Retention), index: x, presence: &presence{conn: conn}, week: &week{store: store, index: x, log: cfg.Logger}, news: told, users: auth.NewDirectory(conn, cfg.Logger), audit: audit.New(conn, cfg.Logger), alerts: alert.NewBook(conn),
		version: cfg.Version, log: cfg.Logger, cookie: s.cookie, link: s.link, metrics: m, executors: cfg.Executors,
		provider: cfg.Provider, flowCookie: s.flowCookie, public: s.publicURL,
		retention: *cfg.Retention,
		settings:  cfg.Settings, profiles: cfg.Profiles, gatherer: cfg.Gatherer,
	}
	s.handlers.asked, _ = store.(logstore.Asked)
	s.handlers.stoodIn, _ = store.(StoodIn)
	if cfg.MasterKey != "" {
		if s.handlers.master, err = seal.ParseMaster(cfg.MasterKey); err != nil {
			return nil, invalid("master_key", "is "+err.Error())
		}
	}
	return s, nil
}

// Listening returns a channel that is closed when Run listens.
func (s *Server) Listening() <-chan struct{} { return s.listening }

// Addr returns the address on which the server listens, once Listening is closed.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Run serves until ctx is done. Then streams get "bye", requests that have begun end,
// both within Grace, and it returns nil. It may be called once.
func (s *Server) Run(ctx context.Context) error {
	if s.listener = s.cfg.Listener; s.listener == nil {
		var err error
		var lc net.ListenConfig
		if s.listener, err = lc.Listen(ctx, "tcp", s.cfg.Addr); err != nil {
			return fmt.Errorf("listen on %s: %w", s.cfg.Addr, err)
		}
	}
	// Requests outlive ctx, so that those which have begun can end.
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s.listener = lingers(s.listener)
	if s.cfg.TLS != nil {
		s.listener = tls.NewListener(s.listener, s.cfg.TLS)
	}
	app := s.app(ctx, requests)
	close(s.listening)

	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.handlers.index.run(ctx) })
	g.Go(func() error { return s.handlers.news.run(ctx) })
	g.Go(func() error { return s.handlers.users.Run(ctx) })
	g.Go(func() error { return s.handlers.audit.Run(ctx) })
	g.Go(func() error { s.welcome(ctx); return nil })
	g.Go(func() error { s.handlers.warmUp(ctx); return nil })
	g.Go(func() error {
		if err := app.Listener(s.listener); err != nil && !errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("serve on %s: %w", s.listener.Addr(), err)
		}
		return nil
	})
	g.Go(func() error {
		<-ctx.Done()
		s.shutdown(context.WithoutCancel(ctx), app)
		return nil
	})
	return g.Wait()
}

// shutdown takes no more connections and waits for streams, which have seen that
// Run's context is done, and requests.
func (s *Server) shutdown(ctx context.Context, app *fiber.App) {
	limited, cancel := context.WithTimeout(ctx, s.cfg.Grace)
	defer cancel()
	if err := app.ShutdownWithContext(limited); err != nil {
		s.log.WarnContext(ctx, "requests cut off", "error", err)
		s.streams.cut()
	}
	// Had the app not begun to listen, it would not have closed this.
	_ = s.listener.Close()
	<-s.streams.drained()
}

// app returns the routes. Streams end when live is done; requests are served as long
// as the second context is not.
func (s *Server) app(live, requests context.Context) *fiber.App {
	app := fiber.New(fiber.Config{
		AppName:               "carillon",
		DisableStartupMessage: true,
		// What handlers keep of a request must not change when Fiber takes up the next.
		Immutable:     true,
		CaseSensitive: true,
		StrictRouting: true,
		BodyLimit:     MaxBody, // of somebody who is signed in: room
		// No route takes forms, which would be written to files while they are read.
		DisablePreParseMultipartForm: true,
		ReadTimeout:                  s.cfg.HeadTimeout,
		WriteTimeout:                 time.Minute,
		IdleTimeout:                  2 * time.Minute,
		ErrorHandler:                 s.fail,
		JSONEncoder:                  json.Marshal,
		JSONDecoder:                  json.Unmarshal,
	})
	app.Server().HeaderReceived = s.room
	app.Server().Handler = s.knownMethods(app, app.Server().Handler)
	app.Use(s.outermost(requests), partial, s.ours, plain)
	routes := s.contract.checked(app, s.admit)
	routes.Get("/api/v1/runs/export", s.handlers.serveRunsExport(live)) // before /runs/:run_id
	RegisterHandlers(routes, NewStrictHandler(s.handlers, []StrictMiddlewareFunc{acceptText, s.recorded, redacted}))
	routes.Get("/api/v1/runs/:run_id/logs/tail", s.handlers.serveTail(live, s.streams))
	routes.Get("/api/v1/logs/tail", s.handlers.serveWatch(live, s.streams))
	routes.Get("/api/v1/events", s.handlers.serveEvents(live, s.streams))
	routes.Get("/api/v1/audit/export", s.handlers.serveExport(live))
	routes.Post("/api/v1/sql", s.handlers.serveSQL(live))
	routes.Get("/api/docs", s.serveReference())
	routes.Get("/api/openapi.yaml", serveContract)
	routes.Get("/metrics", s.serveMetrics)
	app.Use(console())
	return app
}

// console serves the console on every path that is not the API's.
func console() fiber.Handler {
	serve := adaptor.HTTPHandler(frontend.Handler())
	return func(c *fiber.Ctx) error {
		isRead := c.Method() == fiber.MethodGet || c.Method() == fiber.MethodHead
		if !isRead || c.Path() == "/api" || strings.HasPrefix(c.Path(), "/api/") {
			return c.Next() // to 404, or 405 where another method has a route
		}
		return serve(c)
	}
}

// acceptText marks requests for logs that want text rather than JSON: the generated
// code does not hand the Accept header on.
func acceptText(next StrictHandlerFunc, operation string) StrictHandlerFunc {
	if operation != "GetLogs" {
		return next
	}
	return func(c *fiber.Ctx, request any) (any, error) {
		if c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextPlain) == fiber.MIMETextPlain {
			c.SetUserContext(context.WithValue(c.UserContext(), wantsText{}, true))
		}
		return next(c, request)
	}
}
