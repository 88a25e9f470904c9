package elsewhere

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/carillon-scheduler/carillon/internal/elsewhere/output"
	"github.com/carillon-scheduler/carillon/internal/elsewhere/ping"
	"github.com/carillon-scheduler/carillon/internal/elsewhere/spool"
	"github.com/carillon-scheduler/carillon/internal/pause"
)

const (
	// flushAtEnd bounds how long a command that has ended waits for older pings to be sent.
	flushAtEnd = 2 * time.Second
	// How long the pings of a start and of an end wait before they are sent again.
	startLeast, startMost = 5 * time.Second, 5 * time.Minute
	endLeast, endMost     = 250 * time.Millisecond, 2 * time.Second
)

// DefaultServer is where pings go if nothing names a server: where "carillon dev" listens.
const DefaultServer = "http://127.0.0.1:8822"

// reporter sends what becomes of one command.
type reporter struct {
	options Options
	given   Access
	spool   *spool.Spool // nil if there can be none
	server  func() (*ping.Server, error)
	grumble *grumbler

	flush   sync.Once
	flushed chan struct{} // is closed when the older pings are sent
}

// newReporter looks nothing up but the environment.
func newReporter(o Options) *reporter {
	r := &reporter{options: o, given: o.Access.given(), flushed: make(chan struct{})}
	dir, err := spool.Dir()
	if err == nil {
		r.spool = spool.At(dir)
	}
	r.grumble = &grumbler{dir: dir}
	r.server = sync.OnceValues(func() (*ping.Server, error) {
		access, err := r.given.completed(DefaultServer)
		if err != nil {
			return nil, err
		}
		return access.of()
	})
	return r
}

// end is how a command ended.
type end struct {
	code    int
	message string
	took    time.Duration
	at      instant
}

// read starts to read the output, if it should be.
func (r *reporter) read(ctx context.Context) *output.Reader {
	if r.options.NoOutput || r.options.Problem != nil {
		return output.Unread()
	}
	read, err := output.Start(ctx, r.options.Force)
	if err != nil {
		r.grumble.say(err)
		return output.Unread()
	}
	return read
}

// begin reports the start in the background, again and again while the server is away, until stop is called.
func (r *reporter) begin(ctx context.Context, at instant) (stop func()) {
	if r.options.Problem != nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		p := ping.New(r.options.Job, ping.Start, r.options.Run)
		again := pause.Backoff{Least: startLeast, Most: startMost, Jitter: true}
		for ctx.Err() == nil {
			err := r.send(ctx, p, at)
			if _, refused := errors.AsType[*ping.RefusedError](err); err == nil || refused || isSetup(err) {
				return // the end complains
			}
			if again.Wait(ctx) != nil {
				return
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// send sends a ping once, and the older ones in the background once the server has taken it.
func (r *reporter) send(ctx context.Context, p *ping.Ping, at instant) error {
	server, err := r.server()
	if err != nil {
		return setupError{err}
	}
	if err := server.Send(ctx, p, at.elapsed()); err != nil {
		return err
	}
	if r.spool != nil {
		r.flush.Do(func() { go r.sendOlder(context.WithoutCancel(ctx)) }) // end bounds it
	}
	return nil
}

// sendOlder sends pings of the spool.
func (r *reporter) sendOlder(ctx context.Context) {
	defer close(r.flushed)
	_, _ = flush(ctx, r.spool, spool.AtOnce, func(text string) { r.grumble.say(errors.New(text)) })
}

// end reports the end. If it cannot be sent within the patience, it is kept.
func (r *reporter) end(ctx context.Context, e end, read *output.Reader) {
	if r.options.Problem != nil {
		r.grumble.say(r.options.Problem)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.Patience)
	defer cancel()
	p := ping.New(r.options.Job, ping.End, r.options.Run)
	p.Exit, p.Took, p.Message = new(min(e.code, ping.MaxExitCode)), max(e.took, time.Millisecond), e.message
	if e.code < 0 || e.code > ping.MaxExitCode { // Windows has greater ones
		p.Exit, p.Message = new(ping.MaxExitCode), fmt.Sprintf("exit code %d", uint32(e.code)) //nolint:gosec // as Windows writes it
	}
	kept, err := read.Kept(r.options.Patience / 2)
	if err != nil {
		r.grumble.say(fmt.Errorf("read the output: %w", err))
	}
	p.Output = r.textOf(kept)
	lost := 0
	if r.spool != nil {
		if lost = r.spool.Lost(); lost > 0 {
			p.Message = strings.TrimPrefix(fmt.Sprintf("%s; %d older pings were lost: the spool was full", p.Message, lost), "; ")
		}
	}
	if err = r.sendUntil(ctx, p, e.at); err == nil {
		if lost > 0 {
			r.spool.Told()
		}
		r.awaitOlder(ctx)
		return
	}
	if _, refused := errors.AsType[*ping.RefusedError](err); refused || isSetup(err) {
		r.grumble.say(err)
	}
	r.keep(p, e.at)
}

// sendUntil sends a ping again and again until ctx is done, or it is of no use. It returns the last error.
func (r *reporter) sendUntil(ctx context.Context, p *ping.Ping, at instant) error {
	again := pause.Backoff{Least: endLeast, Most: endMost, Jitter: true}
	for {
		err := r.send(ctx, p, at)
		if _, refused := errors.AsType[*ping.RefusedError](err); err == nil || refused || isSetup(err) {
			return err
		}
		deadline, _ := ctx.Deadline()
		if busy, is := errors.AsType[*ping.BusyError](err); is && time.Until(deadline) < busy.After {
			return err // it is kept now rather than later
		}
		if again.Wait(ctx) != nil {
			return err
		}
	}
}

// awaitOlder waits a moment for the older pings.
func (r *reporter) awaitOlder(ctx context.Context) {
	if r.spool == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushAtEnd)
	defer cancel()
	select {
	case <-r.flushed:
	case <-ctx.Done():
	}
}

// keep puts a ping into the spool.
func (r *reporter) keep(p *ping.Ping, at instant) {
	err := errors.New("there is no folder to keep pings in: set HOME or XDG_STATE_HOME")
	if r.spool != nil {
		err = r.spool.Put(&spool.Kept{Ping: *p, Server: r.given.Server, CA: r.given.CA, Token: r.given.Token, Happened: at.Instant})
	}
	if err != nil {
		r.grumble.say(err)
	}
}

// textOf returns the output that is sent, without the secrets of the mask. If the mask cannot be read,
// nothing is sent.
func (r *reporter) textOf(kept output.Kept) []byte {
	var secrets [][]byte
	if r.options.Mask != "" {
		data, err := os.ReadFile(r.options.Mask)
		if err != nil {
			r.grumble.say(fmt.Errorf("the output is not sent: read mask: %w", err))
			return nil
		}
		for line := range bytes.Lines(data) {
			if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
				secrets = append(secrets, line)
			}
		}
		slices.SortFunc(secrets, func(a, b []byte) int { return len(b) - len(a) }) // one may contain another
	}
	return kept.Text(secrets)
}

// setupError is the error of a configuration by which nothing can be sent.
type setupError struct{ err error }

func (e setupError) Error() string { return e.err.Error() }
func (e setupError) Unwrap() error { return e.err }

func isSetup(err error) bool {
	_, is := errors.AsType[setupError](err)
	return is
}
