package xxljob_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/internal/xxlstandin"
	"github.com/carillon-scheduler/carillon/job"
)

// chatty writes lines at once, and then one a second for as many seconds.
func chatty(lines, seconds int) map[string]xxlstandin.Handler {
	return map[string]xxlstandin.Handler{"chatty": func(ctx context.Context, _ xxlstandin.Run, log func(string)) (string, error) {
		for n := range lines {
			log(fmt.Sprintf("第 %d 行", n))
		}
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for n := range seconds {
			select {
			case <-tick.C:
				log(fmt.Sprintf("second %d", n))
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		return "", nil
	}}
}

func TestTheLogComesWhileTheRunGoesOn(t *testing.T) {
	for _, dialect := range []string{xxlstandin.A, xxlstandin.C} {
		t.Run(dialect, func(t *testing.T) {
			run(t, func(w *world) {
				one := w.startBridge("one")
				w.startExecutor("10.0.0.1:9999", chatty(10_000, 60), func(c *xxlstandin.Config) { c.Dialect = dialect })
				w.online(1)
				id := w.begin(w.save("billing-app/chatty", handler("chatty")))
				w.until("10,000 lines", 10*time.Second, func() bool { return len(w.log(id)) > 10_000 })
				if n := len(w.endsOf(id)); n != 0 {
					w.Fatal("the run has ended already")
				}
				one.kill() // the next one reads on, and what it reads twice counts once
				w.startBridge("two")
				end := w.wantEnd(id, 2*time.Minute, job.StatusSucceeded, "")
				lines := w.log(id)
				if len(lines) != 10_061 || lines[1] != "第 0 行" || lines[10_060] != "second 59" || end.LogLines != 10_061 || w.lastSeq(id) != 10_061 {
					w.Errorf("%d lines, from %q to %q; the end says %d", len(lines), lines[1], lines[len(lines)-1], end.LogLines)
				}
			})
		})
	}
}

func TestALongLineIsCutInPieces(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		long := strings.Repeat("长", bus.MaxLogText) // three times as many bytes
		w.startExecutor("10.0.0.1:9999", map[string]xxlstandin.Handler{"long": func(_ context.Context, _ xxlstandin.Run, log func(string)) (string, error) {
			log(long)
			log("after")
			return "", nil
		}})
		w.online(1)
		id := w.begin(w.save("billing-app/long", handler("long")))
		w.wantEnd(id, 10*time.Second, job.StatusSucceeded, "")
		lines := w.log(id)
		if joined := strings.Join(lines[1:len(lines)-1], ""); joined != long || lines[len(lines)-1] != "after" || w.lastSeq(id) != int64(len(lines)) {
			w.Errorf("%d lines; %d bytes of %d; the last has number %d", len(lines), len(joined), len(long), w.lastSeq(id))
		}
	})
}

func TestAnExecutorThatDoesNotHandOutTheLogCostsTheLogOnly(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		w.startExecutor("10.0.0.1:9999", handlers, func(c *xxlstandin.Config) {
			c.Slow = func(path string) time.Duration {
				if path == "/log" {
					return time.Hour
				}
				return 0
			}
		})
		w.online(1)
		id := w.begin(w.save("billing-app/ok", handler("ok")))
		end := w.wantEnd(id, 5*time.Second, job.StatusSucceeded, "")
		if took := end.FinishedAt.Sub(end.StartedAt); took > 2*time.Second {
			w.Errorf("the end waited %s for the log", took)
		}
		w.until("a line says so", time.Minute, func() bool {
			lines := w.log(id)
			return len(lines) == 1 && strings.Contains(lines[0], "does not hand out the log from line 1 on")
		})
	})
}

func TestALogInPagesIsReadToItsEnd(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		w.startExecutor("10.0.0.1:9999", map[string]xxlstandin.Handler{"pages": func(_ context.Context, _ xxlstandin.Run, log func(string)) (string, error) {
			for n := range 20_000 {
				log(fmt.Sprintf("line %d", n))
			}
			time.Sleep(2 * time.Second)
			log("LAST LINE")
			return "", errors.New("so it fails")
		}}, func(c *xxlstandin.Config) { c.Page = 500 })
		w.online(1)
		id := w.begin(w.save("billing-app/pages", handler("pages")))
		end := w.wantEnd(id, 10*time.Second, job.StatusFailed, "so it fails")
		if lines := w.log(id); len(lines) != 20_002 || lines[20_001] != "LAST LINE" || end.LogLines != 20_002 || end.LogOpen {
			w.Errorf("%d lines, the last is %q; the end says %d", len(lines), lines[len(lines)-1], end.LogLines)
		}
		if last := w.lastSeq(id); last != 20_002 {
			w.Errorf("the last line has number %d: those who follow the log would miss lines", last)
		}
	})
}

func TestPagesThatComeSlowlyFollowTheEnd(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		w.startExecutor("10.0.0.1:9999", map[string]xxlstandin.Handler{"pages": func(_ context.Context, _ xxlstandin.Run, log func(string)) (string, error) {
			for n := range 1000 {
				log(fmt.Sprintf("line %d", n))
			}
			return "", nil
		}}, func(c *xxlstandin.Config) {
			c.Page = 10
			c.Slow = func(path string) time.Duration {
				if path == "/log" {
					return time.Second / 2
				}
				return 0
			}
		})
		w.online(1)
		id := w.begin(w.save("billing-app/pages", handler("pages")))
		if end := w.wantEnd(id, 10*time.Second, job.StatusSucceeded, ""); !end.LogOpen {
			w.Error("the end does not say that lines follow")
		}
		w.until("the word that no more lines come", 2*time.Minute, func() bool { return w.saidLast(id) })
		if lines := w.log(id); len(lines) != 1001 || lines[1000] != "line 999" {
			w.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
		}
	})
}

func TestAnExecutorWithoutLogsIsNamedAsTheCause(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		w.startExecutor("10.0.0.1:9999", handlers, func(c *xxlstandin.Config) {
			c.Answer = func(a http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/log" {
					_, _ = io.WriteString(a, `{"code":200,"msg":null}`)
				}
				return r.URL.Path == "/log"
			}
		})
		w.online(1)
		id := w.begin(w.save("billing-app/ok", handler("ok")))
		w.wantEnd(id, 5*time.Second, job.StatusSucceeded, "")
		w.until("a line says so", time.Minute, func() bool {
			lines := w.log(id)
			return len(lines) == 1 && strings.Contains(lines[0], "has neither content nor data")
		})
	})
}
