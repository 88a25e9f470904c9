package executor

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"github.com/carillon-scheduler/carillon/bus"
)

// logHandler makes a line of the run's log of each record: the message, then the
// attributes as key=value.
type logHandler struct {
	sink *attrSink
	text slog.Handler // formats attributes only, into sink
}

// attrSink collects what the text handler writes. It is shared by all handlers that
// derive from one by With, and they take turns.
type attrSink struct {
	log *runLog
	mu  sync.Mutex
	buf strings.Builder
}

func (s *attrSink) Write(p []byte) (int, error) { return s.buf.Write(p) }

func newLogHandler(log *runLog) slog.Handler {
	sink := &attrSink{log: log}
	text := slog.NewTextHandler(sink, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && (a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
				return slog.Attr{}
			}
			return a
		},
	})
	return &logHandler{sink: sink, text: text}
}

// Enabled implements [slog.Handler]: a run's log takes everything from debug up.
func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelDebug
}

// Handle implements [slog.Handler].
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	attrs := slog.Record{Level: r.Level, PC: r.PC} // without a time, none is written
	r.Attrs(func(a slog.Attr) bool { attrs.AddAttrs(a); return true })
	h.sink.mu.Lock()
	h.sink.buf.Reset()
	err := h.text.Handle(ctx, attrs)
	tail := strings.TrimSpace(h.sink.buf.String())
	h.sink.mu.Unlock()

	message := r.Message
	if tail != "" {
		message = strings.TrimSpace(message + " " + tail)
	}
	w := &lineWriter{log: h.sink.log, output: bus.OutputLog, level: levelOf(r.Level)}
	for line := range strings.SplitSeq(message, "\n") {
		w.appendLocked([]byte(line)) // nobody else has this writer
		w.lineLocked()
	}
	return err
}

// WithAttrs implements [slog.Handler].
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{sink: h.sink, text: h.text.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{sink: h.sink, text: h.text.WithGroup(name)}
}

func levelOf(level slog.Level) bus.Level {
	switch {
	case level >= slog.LevelError:
		return bus.LevelError
	case level >= slog.LevelWarn:
		return bus.LevelWarn
	case level >= slog.LevelInfo:
		return bus.LevelInfo
	default:
		return bus.LevelDebug
	}
}
