package node

import (
	"log/slog"
	"strings"
	"testing"
)

func TestNoWorkerProcessesAreRefused(t *testing.T) {
	o := workerOptions{command: "exit 0", processes: 0}
	workers, err := o.start(t.Context(), slog.New(slog.DiscardHandler))
	if workers != nil {
		workers.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "worker-processes 0 must be 1 or more") {
		t.Errorf("0 processes: %v", err)
	}
}
