package xxljob_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/internal/xxlstandin"
	"github.com/carillon-scheduler/carillon/job"
)

// handlers are those of most tests.
var handlers = map[string]xxlstandin.Handler{
	"ok":   func(context.Context, xxlstandin.Run, func(string)) (string, error) { return "", nil },
	"echo": func(_ context.Context, r xxlstandin.Run, log func(string)) (string, error) { log(r.Params); return r.Params, nil },
	"fail": func(context.Context, xxlstandin.Run, func(string)) (string, error) { return "", errors.New("磁盘已满") },
	"hang": func(ctx context.Context, _ xxlstandin.Run, _ func(string)) (string, error) { <-ctx.Done(); return "", ctx.Err() },
	"wait": func(ctx context.Context, _ xxlstandin.Run, log func(string)) (string, error) {
		log("waiting")
		timer := time.NewTimer(time.Minute)
		defer timer.Stop()
		select {
		case <-timer.C:
			return "waited", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	},
}

func handler(name string) job.Task { return job.Task{Handler: name} }

func TestAnExecutorOfXXLJOBDoesRuns(t *testing.T) {
	for _, dialect := range []string{xxlstandin.A, xxlstandin.B, xxlstandin.C} {
		t.Run(dialect, func(t *testing.T) {
			run(t, func(w *world) {
				w.startBridge("one")
				e := w.startExecutor("10.0.0.1:9999", handlers, func(c *xxlstandin.Config) { c.Dialect = dialect })
				w.online(1)
				echo := w.save("billing-app/echo", handler("echo"))
				id := w.begin(echo, `"你好"`)
				end := w.wantEnd(id, 10*time.Second, job.StatusSucceeded, "")
				if string(end.Result) != `"你好"` || end.Instance != "10-0-0-1-9999" {
					w.Errorf("ended as %+v", end)
				}
				if d := cmp.Diff([]string{"----------- job execute start -----------", "你好"}, w.log(id)); d != "" {
					w.Error(d)
				}
				w.wantEnd(w.begin(w.save("billing-app/fail", handler("fail"))), 10*time.Second, job.StatusFailed, "磁盘已满")
				w.wantEnd(w.begin(w.save("billing-app/nobody", handler("nobody"))), 10*time.Second, job.StatusFailed, "job handler [nobody] not found.")
				if taken := e.Taken(); taken[0].Total != 1 || taken[0].JobID == 0 || taken[0].Glue != "BEAN" || taken[0].Block != "SERIAL_EXECUTION" {
					w.Errorf("asked for %+v", taken[0])
				}
				if n := w.triggers(); n != 0 {
					w.Errorf("%d triggers are left", n)
				}
				i, err := w.conn.Instances(w.ctx)
				w.check(err)
				if len(i) != 1 || i[0].SDK != "xxl-job/"+dialect || i[0].Version == "" || i[0].Host != "10.0.0.1:9999" {
					w.Errorf("shown as %+v", i)
				}
			})
		})
	}
}
