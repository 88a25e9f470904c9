package xxljob_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
)

// Whoever has the access token can register as many addresses as they like, and must not fill the log
// by it.
func TestExecutorsThatAreSeveralAreLoggedInSteps(t *testing.T) {
	run(t, func(w *world) {
		var log bytes.Buffer
		w.logger = slog.New(slog.NewTextHandler(&log, nil))
		b := w.startBridge("one")
		for n := range 40 {
			_ = b.Register(w.ctx, wire.Registration{Group: "EXECUTOR", AppName: "billingApp", Address: fmt.Sprintf("http://10.0.1.%d:9999", n)}, "") // tells that nobody listens there
		}
		for n := range 20 {
			w.startExecutor(fmt.Sprintf("10.0.2.%d:9999", n), nil)
		}
		w.online(20)
		time.Sleep(time.Minute)
		b.end()
		for what, want := range map[string]int{"executor registered, but cannot be reached": 6, "executor attached": 5} {
			if n := strings.Count(log.String(), what); n != want {
				t.Errorf("%d lines of %q, want %d:\n%s", n, what, want, log.String())
			}
		}
	})
}
