package scheduler

import (
	"log/slog"

	"github.com/carillon-scheduler/carillon/bus/doubling"
)

// logs are where a scheduler logs.
type logs struct {
	*slog.Logger
	inSteps *slog.Logger // for lines that groups can cause
}

func newLogs(log *slog.Logger) logs { return logs{log, doubling.Logger(log)} }
