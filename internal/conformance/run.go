package conformance

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Options say which cases to run on which executor.
type Options struct {
	Command  []string  // of the executor
	Cases    string    // only those whose name has this in it; "" is all
	AtOnce   int       // how many cases run at once, each with NATS and an executor of its own; 0 is 4
	Slow     bool      // also those that take more than ten seconds
	OnlySlow bool      // only those that take more than ten seconds
	Log      io.Writer // hears what the executor prints; nil: shown with a case that fails
}

// Outcome is what became of a case.
type Outcome struct {
	Case
	Failed  string // why; "" if it passed
	LeftOut bool   // it is slow, and was not asked for
	Sent    []string
	Heard   []string // from the executor, from the beginning of the case on
	Printed string   // by the executor
	Took    time.Duration
}

// Run runs the cases side by side, each on a NATS server and an executor of its own, and tells told
// the outcome of each, in their order. The error says that they could not run.
func Run(ctx context.Context, o Options, told func(Outcome)) error {
	var chosen []Case
	for _, c := range Cases() {
		if strings.Contains(c.Name, o.Cases) && (c.Slow || !o.OnlySlow) {
			chosen = append(chosen, c)
		}
	}
	outcomes := make([]chan Outcome, len(chosen))
	for i := range outcomes {
		outcomes[i] = make(chan Outcome, 1)
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(cmp.Or(o.AtOnce, 4) + 1)
	work.Go(func() error {
		for _, outcome := range outcomes {
			select {
			case o := <-outcome:
				told(o)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for i, c := range chosen {
		work.Go(func() error {
			if c.Slow && !o.Slow && !o.OnlySlow {
				outcomes[i] <- Outcome{Case: c, LeftOut: true}
				return nil
			}
			outcome, err := one(ctx, o, c)
			if err != nil {
				return err
			}
			outcomes[i] <- outcome
			return nil
		})
	}
	return work.Wait()
}

// one runs a case on a stage and an executor of its own.
func one(ctx context.Context, o Options, c Case) (_ Outcome, err error) {
	began := time.Now()
	s, err := newStage(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	defer s.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan struct{})
	go func() { defer close(served); s.serve(ctx) }()
	defer func() { cancel(); <-served }()
	printed := &output{also: o.Log}
	p, err := start(ctx, o.Command, s.proxy.url(), printed)
	if err != nil {
		return Outcome{}, err
	}
	defer p.kill()
	t := &test{stage: s, ctx: ctx, exec: p}
	out := Outcome{Case: c, Failed: t.attempt(c)}
	out.Took, out.Sent, out.Printed = time.Since(began), t.sent, printed.String()
	for _, h := range s.since(t.from, func(h heard) bool { return !strings.HasPrefix(h.subject, "_INBOX") }) {
		out.Heard = append(out.Heard, h.String())
	}
	return out, nil
}

// attempt waits for the executor and runs the case. It returns why it failed; "" if it passed.
func (t *test) attempt(c Case) (failed string) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			failed = p.text
		default:
			panic(p) // a mistake of the case is no pass
		}
	}()
	if failed := t.started(); failed != "" {
		return failed
	}
	c.run(t)
	if !c.Newer {
		t.checkShapes()
	}
	return ""
}

// startLimit is how long an executor may take to start. Runtimes such as Java's need a while on a
// busy machine, and how fast they are is not what a case is about.
const startLimit = 2 * time.Minute

// started waits for the executor's first heartbeat. It returns why none came; "" if one did.
func (t *test) started() string {
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	go func() {
		select {
		case <-t.exec.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	if _, ok := t.await(ctx, 0, 1, startLimit, isBeat); ok {
		return ""
	}
	select {
	case <-t.exec.ended:
		return fmt.Sprintf("the executor has ended: %v", t.exec.err)
	default:
		return fmt.Sprintf("no heartbeat within %s of the start", startLimit)
	}
}

// output keeps the end of what the executor prints.
type output struct {
	mu   sync.Mutex
	kept bytes.Buffer
	also io.Writer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.also != nil {
		_, _ = o.also.Write(p) // only shown
	}
	if o.kept.Len() > 64<<10 {
		o.kept.Next(32 << 10)
	}
	return o.kept.Write(p)
}

// String returns what was kept.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept.String()
}
