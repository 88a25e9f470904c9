package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/carillon-scheduler/carillon/bus/doubling"
)

// logAdapter hands the server's log lines to slog, and keeps the first fatal
// one: the server reports a failed start nowhere else, and its own logger would
// end the process there.
type logAdapter struct {
	log    *slog.Logger
	counts doubling.Counter // by format: clients can cause most lines

	mu    sync.Mutex
	first error // what the first fatal line was about
}

func newLogAdapter(log *slog.Logger) *logAdapter {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &logAdapter{log: log.With("component", "nats")}
}

// fatal returns the reason of the first fatal line, or nil.
func (a *logAdapter) fatal() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.first
}

// Fatalf implements [server.Logger]. Where the server formats an error into the
// line, that error is the reason: it says more, and can be compared.
func (a *logAdapter) Fatalf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	reason := errors.New(text)
	for _, arg := range v {
		if err, ok := arg.(error); ok {
			reason = err
		}
	}
	a.mu.Lock()
	if a.first == nil {
		a.first = reason
	}
	a.mu.Unlock()
	a.log.Error("nats server gave up", "text", text)
}

// Errorf implements [server.Logger].
func (a *logAdapter) Errorf(format string, v ...any) {
	if n, logged := a.counts.Add(format); logged {
		a.log.Error("nats server error", "text", fmt.Sprintf(format, v...), "times", n)
	}
}

// noPassword is what the server warns of when a user has no password either, as the one
// of nats.conf, whom anybody on the machine may be.
const noPassword = "Plaintext passwords detected, use nkeys or bcrypt" //nolint:gosec // a text

// Warnf implements [server.Logger].
func (a *logAdapter) Warnf(format string, v ...any) {
	if format == noPassword {
		a.Noticef(format, v...)
		return
	}
	if n, logged := a.counts.Add(format); logged {
		a.log.Warn("nats server warning", "text", fmt.Sprintf(format, v...), "times", n)
	}
}

// Noticef implements [server.Logger]. A start alone is a dozen of them, so they
// are for debugging.
func (a *logAdapter) Noticef(format string, v ...any) {
	a.log.Debug("nats server notice", "text", fmt.Sprintf(format, v...))
}

// Debugf implements [server.Logger]; the server is told not to call it.
func (a *logAdapter) Debugf(string, ...any) {}

// Tracef implements [server.Logger]; the server is told not to call it.
func (a *logAdapter) Tracef(string, ...any) {}
