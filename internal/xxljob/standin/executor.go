package standin

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Config says what an executor is. Required are Admins, AppName and Handlers.
type Config struct {
	Admins   []string // addresses, of which the first that answers is used
	AppName  string
	Token    string
	Dialect  Dialect            // Defaults to C.
	Address  string             // with which it registers. Defaults to that on which it listens.
	Handlers map[string]Handler // by their names
	// BeatEvery is how often it registers. Defaults to 30 s.
	BeatEvery time.Duration
	// RetryEvery is how long callbacks wait that no admin has taken. Defaults to 30 s.
	RetryEvery time.Duration
	Logger     *slog.Logger // Defaults to none.
}

// Handler does a run, and returns the message of its end.
type Handler func(ctx context.Context, r *Run) (message string, err error)

// Executor is an executor. Its methods are safe for concurrent use.
type Executor struct {
	cfg    Config
	client *http.Client
	log    *slog.Logger
	ends   chan end // to the sender of callbacks
	manner atomic.Pointer[Manner]
	tasks  sync.WaitGroup // goroutines of runs

	mu     sync.Mutex      // guards what follows
	alive  context.Context //nolint:containedctx // that of all runs, which Forget ends
	forget context.CancelCauseFunc
	jobs   map[int64]*queue // those that have a run
	logs   logBook
}

// answerWithin is how long an admin may take to answer.
const answerWithin = 3 * time.Second

// New returns an executor that does not listen yet.
func New(cfg Config) *Executor {
	if cfg.Dialect == "" {
		cfg.Dialect = C
	}
	if cfg.BeatEvery == 0 {
		cfg.BeatEvery = 30 * time.Second
	}
	if cfg.RetryEvery == 0 {
		cfg.RetryEvery = 30 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Executor{
		cfg: cfg, log: cfg.Logger, client: &http.Client{Timeout: answerWithin},
		ends: make(chan end, 10_000), jobs: map[int64]*queue{},
	}
}

// Run serves on l and registers, until ctx is done. Then it says that it goes, and leaves the runs
// that it has. The handler answers what comes; it is e itself, or passes requests on to it.
func (e *Executor) Run(ctx context.Context, l net.Listener, handler http.Handler) error {
	if e.cfg.Address == "" {
		e.cfg.Address = "http://" + l.Addr().String() + "/"
	}
	e.Forget()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: answerWithin}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := server.Serve(l); ctx.Err() == nil {
			return err
		}
		return nil
	})
	g.Go(func() error { return e.beat(ctx) })
	g.Go(func() error { return e.callBack(ctx) })
	g.Go(func() error {
		<-ctx.Done()
		e.Forget()
		return server.Close()
	})
	err := g.Wait()
	e.tasks.Wait()
	return err
}

// Forget loses all runs and their logs, as a restart does.
func (e *Executor) Forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.forget != nil {
		e.forget(forgotten)
	}
	e.alive, e.forget = context.WithCancelCause(context.Background()) //nolint:forbidigo // outlives the request that starts a run
	e.jobs, e.logs = map[int64]*queue{}, logBook{}
}

// beat registers, again and again.
func (e *Executor) beat(ctx context.Context) error {
	registration := map[string]string{"registryGroup": "EXECUTOR", "registryKey": e.cfg.AppName, "registryValue": e.cfg.Address}
	every := time.NewTicker(e.cfg.BeatEvery)
	defer every.Stop()
	for {
		if err := e.tell(ctx, "registry", registration); err != nil && ctx.Err() == nil {
			e.log.WarnContext(ctx, "not registered", "error", err)
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			// The context has ended, and saying goodbye has a limit of its own.
			if err := e.tell(context.WithoutCancel(ctx), "registryRemove", registration); err != nil {
				e.log.WarnContext(ctx, "not deregistered", "error", err)
			}
			return nil
		}
	}
}
