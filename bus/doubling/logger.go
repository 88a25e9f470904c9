package doubling

import (
	"context"
	"log/slog"
)

// keyGroup is the attribute that tells lines of one message apart.
const keyGroup = "executor_group"

// keyTimes is the attribute that has the number of a line.
const keyTimes = "times"

// Logger returns a logger that passes lines to log in steps: it counts them by their message and
// their attribute executor_group. A line that stands for others has their number as "times". Lines at
// Debug are passed on uncounted. It is for lines that outsiders can cause; their messages are
// constants. Loggers made of it by With share its counts.
func Logger(log *slog.Logger) *slog.Logger {
	return slog.New(&handler{Handler: log.Handler(), counts: &Counter{}})
}

// handler is that of a [Logger].
type handler struct {
	slog.Handler
	counts *Counter
	group  string // by With
}

// Handle implements [slog.Handler].
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelInfo {
		return h.Handler.Handle(ctx, r)
	}
	group := h.group
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == keyGroup {
			group = a.Value.String()
		}
		return true
	})
	n, logged := h.counts.Add(r.Message + "\x00" + group)
	if !logged {
		return nil
	}
	if n > 1 {
		r = r.Clone()
		r.AddAttrs(slog.Int(keyTimes, n))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	group := h.group
	for _, a := range attrs {
		if a.Key == keyGroup {
			group = a.Value.String()
		}
	}
	return &handler{h.Handler.WithAttrs(attrs), h.counts, group}
}

// WithGroup implements [slog.Handler].
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.counts, h.group}
}
