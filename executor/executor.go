package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nuid"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/job"
)

// sdk names this implementation in heartbeats.
const sdk = "carillon-go/0.1.0"

// MaxSlots bounds [Config.Slots].
const MaxSlots = 10000

// Causes with which the context of a run is cancelled; see [context.Cause].
var (
	ErrTimeout   = errors.New("the run took longer than its timeout")
	errEndBy     = fmt.Errorf("%w: all attempts together", ErrTimeout)
	ErrCancelled = errors.New("the run was cancelled") // wrapped, with who and why
	ErrStopping  = errors.New("the executor is stopping")
)

// Config says how an executor behaves. Group is required.
type Config struct {
	// Group is the executor group whose jobs this program runs: a slug.
	Group string
	// Instance tells this executor from the others of its group: a slug. Defaults to
	// host name, process id and some random letters.
	Instance string
	// Slots is how many runs there may be at once, at most [MaxSlots]. Defaults to 32.
	// [Executor.SetSlots] changes it later.
	Slots int
	// Labels tell what this instance is or has, such as zone=eu: jobs may ask for it.
	// Defaults to none. [Executor.SetLabels] changes them later.
	Labels job.Labels
	// Grace is how long a stopping executor lets its runs go on before it cancels them
	// with ErrStopping, or less if it was asked to drain and the time for that is over before.
	// Defaults to 30 s; less than zero cancels them at once.
	Grace time.Duration
	// Patience is how long a run may take to end once its context is cancelled. Then it
	// is abandoned. Defaults to 10 s, which is longer than package shell needs to kill.
	Patience time.Duration
	// MaxLogLines and MaxLogBytes bound the log of an attempt: what is beyond is counted
	// and dropped. Default to 1,000,000 lines and 64 MiB of text.
	MaxLogLines, MaxLogBytes int
	// Spool is a folder of this executor's own, in which it keeps ends of runs and their
	// log lines while NATS does not store them, so that they outlive a restart. Defaults to
	// none: then a restart while NATS is away loses them. SpoolBytes bounds all files
	// together; it defaults to 64 MiB. What has no room is held in memory only.
	Spool      string
	SpoolBytes int64
	// SecretKey is the group's key, as "carillon secret key" prints it. Runs whose tasks
	// ask for secrets fail without. Defaults to none.
	SecretKey string
	// Secrets returns the value of a secret from a store of your own, in the place of those that Carillon keeps.
	// It is called for each secret of each attempt, concurrently; its error is the run's message. It does not
	// go with SecretKey. Defaults to none.
	Secrets func(ctx context.Context, name string) (string, error)
	// Version of the program, shown beside the instance, of 255 bytes at most. Defaults to "".
	Version string
	// Logger hears what an operator wants to know. Defaults to none.
	Logger *slog.Logger
	// Middleware wraps every handler, also those of kinds: the first of the list is outermost. It may
	// look at the run, change the context, the result and the error, and not call next at all.
	// Defaults to none.
	Middleware []func(next Handler) Handler
	// Observers make those who hear what the executor does, such as metrics.Prometheus and
	// tracing.OpenTelemetry. Defaults to none.
	Observers []NewObserver
	// Schemas makes and checks the JSON schemas of parameters; schema.Of does. Defaults to none:
	// then handlers announce the schemas that [ParamsSchema] gives, unchecked.
	Schemas Schemas
}

func (c Config) withDefaults() Config {
	if c.Instance == "" {
		c.Instance = defaultInstance()
	}
	if c.Slots == 0 {
		c.Slots = 32
	}
	if c.Grace == 0 {
		c.Grace = 30 * time.Second
	}
	if c.Patience == 0 {
		c.Patience = 10 * time.Second
	}
	if c.MaxLogLines == 0 {
		c.MaxLogLines = 1_000_000
	}
	if c.MaxLogBytes == 0 {
		c.MaxLogBytes = 64 << 20
	}
	if c.SpoolBytes == 0 {
		c.SpoolBytes = 64 << 20
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) validate() error {
	errs := []error{job.CheckSlug("executor_group", c.Group), job.CheckSlug("instance", c.Instance)}
	errs = append(errs, checkSlots(c.Slots), c.Labels.Validate())
	if c.MaxLogLines < 0 || c.MaxLogBytes < 0 {
		errs = append(errs, &job.InvalidError{Field: "max_log_lines", Reason: "and max_log_bytes must not be negative"})
	}
	if c.SpoolBytes < 0 {
		errs = append(errs, &job.InvalidError{Field: "spool_bytes", Reason: fmt.Sprintf("%d must not be negative", c.SpoolBytes)})
	}
	if len(c.Version) > bus.MaxVersion {
		errs = append(errs, &job.InvalidError{Field: "version", Reason: fmt.Sprintf("has %d bytes; at most %d are allowed", len(c.Version), bus.MaxVersion)})
	}
	if c.Patience < 0 {
		errs = append(errs, &job.InvalidError{Field: "patience", Reason: fmt.Sprintf("%v must not be negative", c.Patience)})
	}
	return errors.Join(errs...)
}

// defaultInstance returns a slug that no other process has.
func defaultInstance() string {
	host := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, strings.ToLower(hostname()))
	host = strings.Trim(host[:min(len(host), 40)], "-_")
	if host == "" {
		host = "host"
	}
	random := strings.ToLower(nuid.Next())
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), random[len(random)-6:])
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

// Executor pulls the triggers of one group and does the runs. Register handlers
// first, then call Run, once.
type Executor struct {
	cfg  Config
	conn *jet.Conn
	log  *slog.Logger
	// clock has the time by NATS' clock, for all instants that are told.
	clock clock
	key   *seal.Key // opens the group's secrets; nil without one

	observers observers
	ownsConn  bool // Run closes it
	registry  registry
	out       publisher

	running   atomic.Bool
	hurry     chan struct{} // closed when a stop is to leave runs no time
	hurryOnce sync.Once

	settings settings
	spool    *spool // set by Run; nil: nothing is kept on disk
	ends     *ends
}

// New returns an executor on conn, which stays the caller's. The error holds an
// *job.InvalidError for each wrong field of cfg, or is that of an observer.
func New(conn *jet.Conn, cfg Config) (*Executor, error) {
	e, err := configure(cfg)
	if err != nil {
		return nil, fmt.Errorf("configure executor: %w", err)
	}
	if err := e.use(conn); err != nil {
		return nil, err
	}
	return e, nil
}

// use gives e its connection.
func (e *Executor) use(conn *jet.Conn) error {
	if err := e.out.connect(conn.NC); err != nil {
		return fmt.Errorf("configure executor: %w", err)
	}
	e.conn = conn
	return nil
}

// configure returns an executor without a connection.
func configure(cfg Config) (*Executor, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	key, err := parseSecretKey(cfg)
	if err != nil {
		return nil, err
	}
	e := &Executor{
		hurry: make(chan struct{}),
		cfg:   cfg, key: key,
		log:      cfg.Logger.With("executor_group", cfg.Group, "instance", cfg.Instance),
		settings: newSettings(cfg),
	}
	for _, observe := range cfg.Observers {
		o, err := observe(About{Group: cfg.Group, Instance: cfg.Instance})
		if err != nil {
			return nil, err
		}
		e.observers = append(e.observers, o)
	}
	e.ends = newEnds(e)
	e.registry = newRegistry(&e.cfg)
	e.out.log, e.out.observers = e.log, e.observers
	e.observers.countSlots(0, cfg.Slots)
	return e, nil
}

// Instance returns the name that tells this executor from the others of its group.
func (e *Executor) Instance() string { return e.cfg.Instance }

// Run pulls triggers, takes those that are routed to it, and does runs until ctx is
// done. Then it takes no more, waits [Config.Grace] for its runs, cancels the rest with
// [ErrStopping] and gives their triggers back. Somebody may also ask it over the bus to
// drain: then it waits for its runs, however long they take or for as long as the request
// says, cancels what is left as at the end of Grace, and returns. It returns nil after such a
// stop, at most Grace + Patience + 5 s after ctx is done. All goroutines that it started have returned by then, but for
// those of handlers that ignore their context.
//
// NATS may be away when Run begins or go away later, and the group may be unknown
// to the scheduler: Run carries on as soon as it can. It takes no work before it has
// reported the ends that [Config.Spool] holds. The error is not nil when Run was called
// before, a registration was wrong, another process uses the same spool, or another instance
// of this name lives ([job.ErrConflict]).
func (e *Executor) Run(ctx context.Context) (err error) {
	if e.conn == nil {
		return errors.New("run executor: it has no connection; it can only rehearse")
	}
	if !e.running.CompareAndSwap(false, true) {
		return errors.New("run executor: it has run before; make a new one")
	}
	if e.ownsConn {
		defer e.conn.NC.Close()
	}
	if err := errors.Join(e.registry.invalid...); err != nil {
		return fmt.Errorf("run executor: %w", err)
	}
	if e.cfg.Spool != "" {
		if e.spool, err = openSpool(e.cfg.Spool, e.cfg.SpoolBytes); err != nil {
			return fmt.Errorf("run executor: %w", err)
		}
		defer func() { err = errors.Join(err, e.spool.close()) }()
	}
	// Runs and their last words outlive ctx: stop says for how long.
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(ErrStopping)
	defer e.out.js.CleanupPublisher()

	if e.spool != nil {
		e.reportKept(ctx)
	}
	l, err := newLoop(life, e)
	if err != nil {
		return fmt.Errorf("run executor: %w", err)
	}
	l.serve(ctx, life, false)
	e.log.InfoContext(ctx, "executor stopping", "running", len(l.attempts.live))
	e.stop(life, end, l)
	e.log.InfoContext(ctx, "executor stopped")
	if l.presence.conflict != nil {
		return fmt.Errorf("run executor: %w", l.presence.conflict)
	}
	return nil
}

// GiveBack ends [Config.Grace] early: a stopping executor returns its runs to their group at once. Call it
// at a program's second stop signal. A call before the stop takes effect at the stop. It is safe to call
// at any time, repeatedly, and from any goroutine.
func (e *Executor) GiveBack() { e.hurryOnce.Do(func() { close(e.hurry) }) }

// stop ends what Run began, each step with a limit of its own.
func (e *Executor) stop(life context.Context, end context.CancelCauseFunc, l *loop) {
	step := func(limit time.Duration) {
		ctx, cancel := context.WithTimeout(life, limit)
		defer cancel()
		l.serve(ctx, life, true)
	}
	grace := e.cfg.Grace
	if !l.intake.drainBy.IsZero() { // the drain that was asked for leaves them no more time than that
		grace = min(grace, time.Until(l.intake.drainBy))
	}
	l.drain(life)
	e.unlessHurried(life, max(grace, 0), func(ctx context.Context) { l.serve(ctx, life, true) })
	l.cancelAll(ErrStopping)
	// A little longer than the loop needs to abandon a handler that ignores this.
	step(e.cfg.Patience + tickEvery)
	l.keepLines(life)
	step(lastWords)
	if len(l.attempts.live) > 0 { // their events cannot be stored
		end(ErrStopping)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(life), lastWords)
		defer cancel()
		l.serve(ctx, life, true)
	}
	l.leave(life)
}

// unlessHurried calls do with a context that is done after a while, or when nobody is to wait any more.
func (e *Executor) unlessHurried(life context.Context, limit time.Duration, do func(context.Context)) {
	ctx, cancel := context.WithTimeout(life, limit)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-e.hurry:
			cancel()
		case <-ctx.Done():
		}
	})
	do(ctx)
	cancel()
	watch.Wait()
}

// lastWords is how long a stopping executor waits for answers from NATS.
const lastWords = 2 * time.Second
