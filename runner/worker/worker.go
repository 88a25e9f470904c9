package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

// Config says which processes to start. Command is required.
type Config struct {
	// Command is the program and its arguments.
	Command []string
	// Processes is how many of it to keep running. Defaults to 1.
	Processes int
	// KillAfter is how long, for jobs that do not say it, a cancelled run may take to answer, and
	// how long a process may take to end when it is shut down. It must be less than
	// [executor.Config.Patience]. Defaults to 5 s.
	KillAfter time.Duration
	// StartWithin is how long a process may take to register, and how long none may be up; see
	// [Workers.Watch]. Defaults to 1 minute.
	StartWithin time.Duration
	// Logger hears what processes say outside of runs, and of their ends. Defaults to none.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Processes == 0 {
		c.Processes = 1
	}
	if c.KillAfter <= 0 {
		c.KillAfter = 5 * time.Second
	}
	if c.StartWithin <= 0 {
		c.StartWithin = time.Minute
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) validate() error {
	if len(c.Command) == 0 {
		return &job.InvalidError{Field: "worker", Reason: "must not be empty"}
	}
	if c.Processes < 1 || c.Processes > executor.MaxSlots {
		return &job.InvalidError{Field: "worker_processes", Reason: fmt.Sprintf("%d must be between 1 and %d", c.Processes, executor.MaxSlots)}
	}
	return nil
}

// Workers are processes of one command that do the runs of its handlers. A nil one has none.
type Workers struct {
	cfg  Config
	reg  registration // of all of them
	end  context.CancelFunc
	keep sync.WaitGroup // who keep the processes running

	mu      sync.Mutex
	changed chan struct{} // closed when up or a process's free places change, which makes a new one
	up      []*process    // those that have registered
	downAt  time.Time     // when the last of up ended
	down    error         // why it is not back
}

// Start starts the processes, and waits until all have registered the same handlers. The error
// says that one has not, or is an [job.InvalidError]. Then none is left.
func Start(ctx context.Context, cfg Config) (*Workers, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	w := &Workers{cfg: cfg, end: end, changed: make(chan struct{})}
	all := make([]*process, cfg.Processes)
	errs := make([]error, cfg.Processes)
	regs := make([]registration, cfg.Processes)
	var starting sync.WaitGroup
	for i := range all {
		starting.Go(func() { all[i], regs[i], errs[i] = w.launch(ctx, i+1) })
	}
	starting.Wait()
	for i, reg := range regs {
		if errs[i] == nil && errs[0] == nil {
			if how := regs[0].differs(reg); how != "" {
				errs[i] = fmt.Errorf("worker process %d registers something else than process 1: %s", i+1, how)
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		end()
		for _, p := range all {
			if p != nil {
				starting.Go(func() { p.shutdown(cfg.KillAfter) })
			}
		}
		starting.Wait()
		return nil, fmt.Errorf("start worker processes: %w", err)
	}
	w.reg = regs[0]
	for i, p := range all {
		w.add(p)
		w.keep.Go(func() { w.keepRunning(life, i+1, p) })
	}
	cfg.Logger.InfoContext(ctx, "worker processes started", "processes", cfg.Processes, "slots", w.Slots(), "handlers", w.reg.names())
	return w, nil
}

// Slots returns how many runs the processes do at once, all together.
func (w *Workers) Slots() int { return min(w.cfg.Processes*w.reg.Slots, executor.MaxSlots) }

// Register makes e do the runs of the handlers that the processes have registered.
func (w *Workers) Register(e *executor.Executor) {
	if w == nil {
		return
	}
	for _, h := range w.reg.Handlers {
		e.Handle(h.Name, executor.HandlerFunc(w.handle), executor.Describe(h.Description), executor.ParamsSchema(h.Params), executor.ResultSchema(h.Result))
	}
}

// Watch waits until no process has been up for [Config.StartWithin], and returns why. Then the
// executor should stop: its runs would wait. Watch returns nil once ctx is done.
func (w *Workers) Watch(ctx context.Context) error {
	if w == nil {
		<-ctx.Done()
		return nil
	}
	for {
		w.mu.Lock()
		changed, none, why := w.changed, len(w.up) == 0, w.down
		left := w.cfg.StartWithin - time.Since(w.downAt)
		w.mu.Unlock()
		if none && left <= 0 {
			return fmt.Errorf("no worker process has been up for %s: %w", w.cfg.StartWithin, why)
		}
		if !none {
			left = w.cfg.StartWithin // a change comes first
		}
		timer := time.NewTimer(left)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		timer.Stop()
	}
}

// Close asks the processes to end, and kills those that have not after [Config.KillAfter]. It
// comes after the end of the executor, when there are no runs.
func (w *Workers) Close() {
	if w == nil {
		return
	}
	w.end()
	w.keep.Wait()
}

// add makes a process known that has registered.
func (w *Workers) add(p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.places = w.reg.Slots
	w.up = append(w.up, p)
	w.changedLocked()
}

// remove forgets a process that has ended.
func (w *Workers) remove(p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.up = slices.DeleteFunc(w.up, func(other *process) bool { return other == p })
	if len(w.up) == 0 {
		w.downAt, w.down = time.Now(), p.err
	}
	w.changedLocked()
}

// setDown notes why no process is up.
func (w *Workers) setDown(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = err
}

func (w *Workers) changedLocked() {
	close(w.changed)
	w.changed = make(chan struct{})
}
