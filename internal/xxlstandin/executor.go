package xxlstandin

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Config says what an executor is. Required are AppName, Address and Admins.
type Config struct {
	AppName string
	Address string   // that it registers, such as http://10.0.0.5:9999
	Admins  []string // addresses, of which the first that answers is used
	Token   string
	Dialect string // Defaults to A.
	// Old makes it report ends as versions before 2.3 do.
	Old bool
	// Client calls admins. Defaults to one that waits 3 s.
	Client *http.Client
	// Lenient lets runs take as long as they like, and end as they like when they are killed.
	Lenient bool
	// Slow is how long the answer to a request on a path is held back, after it has had its effect.
	// Defaults to not at all.
	Slow func(path string) time.Duration
	// Answer answers in place of the executor, and reports whether it has. Defaults to never.
	Answer func(w http.ResponseWriter, r *http.Request) bool
	// Page is how many lines an answer has of a log at most. Defaults to all.
	Page int
	// RegisterEvery is how often it registers. Defaults to 30 s.
	RegisterEvery time.Duration
	// RepeatEvery is how long callbacks wait that no admin has taken. Defaults to 30 s.
	RepeatEvery time.Duration
	Logger      *slog.Logger // Defaults to none.
}

// Handler does a run. ctx ends when the run is killed or takes too long. What it returns is the message
// of the run, which has failed if there is an error.
type Handler func(ctx context.Context, r Run, log func(line string)) (message string, err error)

// Executor is an executor. Its methods are safe for concurrent use.
type Executor struct {
	cfg      Config
	handlers map[string]Handler
	client   *http.Client
	log      *slog.Logger
	ends     chan end // to the sender of callbacks
	manner   atomic.Pointer[Manner]
	tasks    sync.WaitGroup // goroutines of runs

	mu          sync.Mutex      // guards what follows
	alive       context.Context //nolint:containedctx // that of all runs, which Forget ends
	forget      context.CancelCauseFunc
	jobs        map[int32]*queue // those that have a run
	logs        logBook
	begun       map[int64]int // how often each run has begun
	taken       []Run
	unknownLogs int // requests for the log of a run that has none
}

// answerWithin is how long an admin may take to answer.
const answerWithin = 3 * time.Second

// New returns an executor with handlers by name. The handler "*" does what no other does, and scripts,
// which it runs itself otherwise.
func New(cfg Config, handlers map[string]Handler) *Executor {
	if cfg.Dialect == "" {
		cfg.Dialect = A
	}
	if cfg.Client == nil {
		cfg.Client = &http.Client{Timeout: answerWithin}
	}
	if cfg.RegisterEvery == 0 {
		cfg.RegisterEvery = 30 * time.Second
	}
	if cfg.RepeatEvery == 0 {
		cfg.RepeatEvery = 30 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	e := &Executor{cfg: cfg, handlers: handlers, log: cfg.Logger, client: cfg.Client, ends: make(chan end, 10_000), begun: map[int64]int{}}
	e.Forget()
	return e
}

// Serve registers and serves on l until ctx is done. Then it ends as a process that is killed: it says
// nothing to anybody.
func (e *Executor) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: e, ReadHeaderTimeout: answerWithin}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := server.Serve(l); ctx.Err() == nil {
			return err
		}
		return nil
	})
	g.Go(func() error { return e.register(ctx) })
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

// Leave tells the admin that the executor leaves.
func (e *Executor) Leave(ctx context.Context) error {
	return e.tell(ctx, "registryRemove", e.registration())
}

// Begun returns how often each run has begun, by its number.
func (e *Executor) Begun() map[int64]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.begun)
}

// Taken returns what the executor was asked to do, in order.
func (e *Executor) Taken() []Run {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.taken)
}

// UnknownLogs returns how often it was asked for the log of a run that has none.
func (e *Executor) UnknownLogs() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.unknownLogs
}

// Forget loses all runs and their logs, as a restart does.
func (e *Executor) Forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.forget != nil {
		e.forget(forgotten)
	}
	e.alive, e.forget = context.WithCancelCause(context.Background()) //nolint:forbidigo // outlives the request that starts a run
	e.jobs, e.logs = map[int32]*queue{}, logBook{}
}

func (e *Executor) registration() any {
	return map[string]string{"registryGroup": "EXECUTOR", "registryKey": e.cfg.AppName, "registryValue": strings.TrimSuffix(e.cfg.Address, "/") + "/"}
}

// register registers, again and again.
func (e *Executor) register(ctx context.Context) error {
	every := time.NewTicker(e.cfg.RegisterEvery)
	defer every.Stop()
	for {
		if err := e.tell(ctx, "registry", e.registration()); err != nil && ctx.Err() == nil {
			e.log.WarnContext(ctx, "not registered", "error", err)
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return nil
		}
	}
}
