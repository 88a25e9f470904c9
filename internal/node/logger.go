package node

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// NewLogger returns a logger for the flags --log-level and --log-format, which writes to a file
// or a terminal.
func NewLogger(to io.Writer, level, format string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, &job.InvalidError{Field: "log-level", Reason: fmt.Sprintf("%q must be debug, info, warn or error", level)}
	}
	opts := &slog.HandlerOptions{Level: l, ReplaceAttr: plainly}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(to, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(to, opts)), nil
	default:
		return nil, &job.InvalidError{Field: "log-format", Reason: fmt.Sprintf("%q must be text or json", format)}
	}
}

// plainly says what an error means by which nats.go refuses to send while it is not
// connected. Packages say so where they judge an error; others log it as it came.
func plainly(_ []string, a slog.Attr) slog.Attr {
	if err, ok := a.Value.Any().(error); ok && errors.Is(err, nats.ErrReconnectBufExceeded) {
		a.Value = slog.StringValue(strings.ReplaceAll(err.Error(), nats.ErrReconnectBufExceeded.Error(), "not connected to NATS"))
	}
	return a
}
