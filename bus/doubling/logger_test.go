package doubling

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestALoggerCountsEachMessageByExecutorGroup(t *testing.T) {
	var out bytes.Buffer
	log := Logger(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	alpha := log.With("executor_group", "alpha", "instance", "a1").WithGroup("more")
	for range 3000 {
		alpha.Warn("gone")
		log.Warn("gone", "executor_group", "alpha")
	}
	log.Warn("gone", "executor_group", "beta")
	log.Info("attached", "executor_group", "alpha")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 15 || !strings.Contains(lines[12], "times=4096") || strings.Contains(lines[0], "times=") {
		t.Errorf("%d lines, want 13 of alpha and 2 more:\n%s", len(lines), out.String())
	}
	out.Reset()
	for range 3 {
		log.Debug("news")
	}
	if n := strings.Count(out.String(), "\n"); n != 3 {
		t.Errorf("%d of 3 lines at Debug", n)
	}
}
