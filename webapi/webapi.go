package webapi

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/frontend"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/alerts"
	"github.com/carillon-scheduler/carillon/webapi/auditlog"
	"github.com/carillon-scheduler/carillon/webapi/bulk"
	"github.com/carillon-scheduler/carillon/webapi/catalog"
	"github.com/carillon-scheduler/carillon/webapi/contract"
	"github.com/carillon-scheduler/carillon/webapi/export"
	"github.com/carillon-scheduler/carillon/webapi/guard"
	"github.com/carillon-scheduler/carillon/webapi/month"
	"github.com/carillon-scheduler/carillon/webapi/nodes"
	"github.com/carillon-scheduler/carillon/webapi/ping"
	"github.com/carillon-scheduler/carillon/webapi/runs"
	"github.com/carillon-scheduler/carillon/webapi/stream"
)

// Server serves the HTTP API and the console.
type Server struct {
	cfg       Config
	handlers  *handlers
	catalog   *catalog.Catalog
	users     *auth.Directory
	audit     *auditlog.Recorder
	contract  *contract.Contract
	guard     *guard.Guard
	open      *stream.Open
	streams   *stream.Server
	news      *stream.News
	sql       *export.SQL
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
	rules, err := contract.Load()
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, contract: rules, open: stream.NewOpen(cfg.MaxStreams, cfg.MaxUserStreams), news: stream.NewNews(conn, cfg.Logger),
		users: auth.NewDirectory(conn, cfg.Logger), log: cfg.Logger, listening: make(chan struct{}),
	}
	s.sql = export.NewSQL(store, s.users, cfg.Logger)
	visible := access.VisibleStore{Store: store}
	view := nodes.New(conn, cfg.Logger)
	s.catalog = catalog.New(conn, store, view, cfg.GroupJobs, s.news.JobChanged, cfg.Logger)
	s.audit = auditlog.New(conn, visible, cfg.Logger)
	fires := ledger.New(conn, visible, logstore.DefaultRetention())
	history := runs.New(conn, store, fires, s.catalog, view, cfg.Logger)
	s.streams = stream.New(conn, store, history, s.users, s.news, s.open, cfg.Logger)
	if s.metrics, err = newMetrics(cfg.Registerer, s.catalog, s.open); err != nil {
		return nil, err
	}
	var master *seal.Master
	if cfg.MasterKey != "" {
		if master, err = seal.ParseMaster(cfg.MasterKey); err != nil {
			return nil, job.Invalid("master_key", "is %s", err.Error())
		}
	}
	many := bulk.New(conn, store, s.catalog, history, s.audit, cfg.Logger)
	book, months := alert.NewStore(conn), month.New(visible, s.catalog.Search(), s.audit)
	h := &handlers{
		jobHandlers:      &jobHandlers{conn, s.catalog, view, many},
		pingHandlers:     &pingHandlers{ping.New(conn, s.catalog.Search(), s.users, cfg.Logger), s.users.PingTokens(), s.catalog.Search(), strings.TrimSuffix(cfg.PublicURL, "/"), func(c *fiber.Ctx) string { return s.guard.ClientAddress(c) }},
		fireHandlers:     &fireHandlers{s.catalog},
		runHandlers:      &runHandlers{history, many, s.catalog, visible, s.users, cfg.Logger},
		logHandlers:      &logHandlers{history, visible},
		reportHandlers:   &reportHandlers{visible, s.catalog, months, month.NewMailer(months, book)},
		alertHandlers:    &alertHandlers{book, alerts.New(conn, book, store, cfg.Logger), s.catalog, master, visible},
		auditHandlers:    &auditHandlers{s.audit, s.users, cfg.Logger},
		calendarHandlers: &calendarHandlers{conn, s.catalog},
		importHandlers:   &importHandlers{},
		groupHandlers:    &groupHandlers{conn, view, s.catalog, visible, s.users, cfg.Logger},
		secretHandlers:   &secretHandlers{conn, s.catalog, s.users, master, cfg.Executors},
		userHandlers:     &userHandlers{s.users, s.catalog, s.link},
		ledgerHandlers:   &ledgerHandlers{fires, runs.AnswersOf(history), s.catalog.Search(), conn, visible, cfg.Logger},
		backfillHandlers: &backfillHandlers{bulk.BackfillsOf(many)},
		settingHandlers:  &settingHandlers{conn, visible, s.catalog, logstore.DefaultRetention()},
		systemHandlers:   &systemHandlers{conn: conn, store: visible, catalog: s.catalog, version: cfg.Version, log: cfg.Logger},
	}
	h.assistantHandlers = newAssistantHandlers(cfg.NoAssistants, conn, cfg.Logger)
	h.stoodIn, _ = store.(StoodIn)
	h.diagnosticHandlers = &diagnosticHandlers{
		system: h.systemHandlers, groups: h.groupHandlers, conn: conn, store: visible, retention: logstore.DefaultRetention(), version: cfg.Version,
		settings: cfg.Settings, profiles: cfg.Profiles, gatherer: cfg.Gatherer, log: cfg.Logger,
	}
	s.handlers = h
	s.guard = guard.New(s.users, guard.Config{
		TLS: cfg.TLS != nil, BehindProxy: cfg.BehindProxy, Local: cfg.Local, LocalUser: cfg.LocalUser, Hosts: cfg.Hosts,
		GroupOfRun: h.groupOfRun, GroupOfIncident: h.groupOfIncident, LongPing: h.serveLong, MaxPing: ping.MaxBody, Observe: s.metrics.observe,
	}, cfg.Logger)
	h.signInHandlers = &signInHandlers{
		users: s.users, provider: cfg.Provider, cookie: s.guard.Cookie, flowCookie: s.guard.FlowCookie, public: s.publicURL,
		metrics: s.metrics, log: cfg.Logger,
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
	s.listener = stream.Linger(s.listener)
	if s.cfg.TLS != nil {
		s.listener = tls.NewListener(s.listener, s.cfg.TLS)
	}
	app := s.app(ctx, requests)
	close(s.listening)

	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.catalog.Run(ctx) })
	g.Go(func() error { return s.news.Run(ctx, s.catalog.Ready()) })
	g.Go(func() error { return s.users.Run(ctx) })
	g.Go(func() error { return s.audit.Run(ctx) })
	g.Go(func() error { s.handlers.receiver.Run(ctx); return nil })
	g.Go(func() error { s.welcome(ctx); return nil })
	g.Go(func() error { s.catalog.WarmUp(ctx); return nil })
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

// MailMonths has the reports of months mailed that are due. Run must have been called: reports need
// its list of jobs.
func (s *Server) MailMonths(ctx context.Context) error {
	return s.handlers.mailer.Round(ctx, time.Now())
}

// shutdown takes no more connections and waits for streams, which have seen that
// Run's context is done, and requests.
func (s *Server) shutdown(ctx context.Context, app *fiber.App) {
	limited, cancel := context.WithTimeout(ctx, s.cfg.Grace)
	defer cancel()
	if err := app.ShutdownWithContext(limited); err != nil {
		s.log.WarnContext(ctx, "requests cut off", "error", err)
		s.open.Cut()
	}
	// Had the app not begun to listen, it would not have closed this.
	_ = s.listener.Close()
	<-s.open.Drained()
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
		BodyLimit:     guard.MaxBody, // of somebody who is signed in: room
		// No route takes forms, which would be written to files while they are read.
		DisablePreParseMultipartForm: true,
		ReadTimeout:                  s.cfg.HeadTimeout,
		WriteTimeout:                 time.Minute,
		IdleTimeout:                  2 * time.Minute,
		ErrorHandler:                 s.guard.Fail,
		JSONEncoder:                  json.Marshal,
		JSONDecoder:                  json.Unmarshal,
	})
	app.Server().HeaderReceived = s.guard.Room
	app.Server().Handler = s.guard.KnownMethods(app, app.Server().Handler)
	s.handlers.inside = app.Server().Handler
	app.Use(s.guard.Outermost(requests), partial, s.guard.Ours, guard.Plain, guard.Pack)
	endpoints := s.endpoints(live)
	for _, op := range s.contract.Operations() {
		route := []fiber.Handler{s.guard.Admit(op.ID), s.contract.Check(op), endpoints[op.ID](s, op)}
		if op.Method == fiber.MethodGet {
			app.Head(op.Route(), route...)
		}
		app.Add(op.Method, op.Route(), route...)
	}
	app.Use(guard.PathPing, s.handlers.serve)
	app.Use(console())
	return app
}

// console serves the console on every path that is not the API's, or that of assistants.
func console() fiber.Handler {
	serve := adaptor.HTTPHandler(frontend.Handler())
	return func(c *fiber.Ctx) error {
		isRead := c.Method() == fiber.MethodGet || c.Method() == fiber.MethodHead
		if !isRead || c.Path() == "/api" || c.Path() == "/mcp" || strings.HasPrefix(c.Path(), "/api/") {
			return c.Next() // to 404, or 405 where another method has a route
		}
		return serve(c)
	}
}
