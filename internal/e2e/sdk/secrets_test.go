package sdk_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/seal"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

var master = seal.NewMaster()

// sealed stores a secret of group g as the API does.
func (w *world) sealed(name, value string) {
	w.t.Helper()
	key := master.Group("g")
	if err := w.conn.Secrets().Put(w.t.Context(), &bus.Secret{Group: "g", Secret: name, KeyID: key.ID(), Sealed: key.Seal(name, value)}); err != nil {
		w.t.Fatal(err)
	}
}

func asks(secrets map[string]string) func(*bus.Trigger) {
	return func(t *bus.Trigger) { t.Task.Secrets = secrets }
}

func TestARunGetsItsSecretsAndSaysNothingOfThem(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		w.sealed("db", "pa55 word&\nsecond line")
		w.sealed("port", "123456")
		w.sealed("short", "x")
		w.start("a", executor.Config{SecretKey: master.Group("g").Text()}, handler(func(ctx context.Context, run *executor.Run) (any, error) {
			got := run.Secret("DB")
			if got != "pa55 word&\nsecond line" {
				t.Errorf("the handler got %q", got)
			}
			env := strings.Join(run.Environ(), "\n")
			if !strings.Contains(env, "DB=pa55 word&\nsecond line\n") || !strings.Contains(env, "S=x\n") {
				t.Errorf("environment:\n%s", env)
			}
			if text, err := run.Expand("${DB} ${PORT}", nil); err != nil || text != got+" 123456" {
				t.Errorf("expanded: %q, %v", text, err)
			}
			out := run.Stdout()
			_, _ = out.Write([]byte("connect with pa55 word& or pa55+word%26 or pa55%20word&\nand second line; x\n"))
			run.Log().InfoContext(ctx, "port", "port", 123456)
			run.Progress(50, "at 123456")
			time.Sleep(3 * time.Second)
			if run.Attempt() == 2 {
				return nil, errors.New("refused: pa55 word&")
			}
			return map[string]any{"url": "db://pa55 word&", "port": 123456}, nil
		}))
		secrets := map[string]string{"DB": "db", "PORT": "port", "S": "short"}
		first := w.trigger(asks(secrets))
		second := w.trigger(asks(secrets), func(t *bus.Trigger) { t.Attempt = 2 })
		time.Sleep(time.Minute)
		w.wantStatus(first.RunID, job.StatusSucceeded, "the result was left out: it has a secret in it")
		w.wantStatus(second.RunID, job.StatusFailed, "refused: ***")
		var text strings.Builder
		for _, l := range append(w.lines(first.RunID), w.lines(second.RunID)...) {
			text.WriteString(l.Text + "\n")
		}
		for _, e := range w.events() {
			text.WriteString(e.Message + string(e.Result) + e.Text + "\n")
		}
		for _, part := range []string{"pa55", "second line", "123456"} {
			if strings.Contains(text.String(), part) {
				t.Errorf("%q is in what the run said:\n%s", part, text.String())
			}
		}
		if !strings.Contains(text.String(), "connect with *** or *** or ***\nand ***; x\n") {
			t.Errorf("the lines are\n%s", text.String())
		}
	})
}

func TestSecretsOfAStoreOfYourOwnAreMasked(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		w.sealed("db", "not this one")
		vault := func(_ context.Context, name string) (string, error) { return "pa55 of " + name, nil }
		w.start("a", executor.Config{Secrets: vault}, handler(func(_ context.Context, run *executor.Run) (any, error) {
			return nil, errors.New("refused: " + run.Secret("DB"))
		}))
		tr := w.trigger(asks(map[string]string{"DB": "db"}))
		time.Sleep(10 * time.Second)
		w.wantStatus(tr.RunID, job.StatusFailed, "refused: ***")
	})
}

func TestARunWithoutItsSecretsFailsAtOnceAndSaysWhy(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		w.sealed("db", "value")
		fails := func(name string, cfg executor.Config, secret, message string) {
			t.Helper()
			i := w.start(name, cfg, handler(func(context.Context, *executor.Run) (any, error) {
				t.Error("the handler has begun")
				return nil, nil
			}))
			tr := w.trigger(asks(map[string]string{"DB": secret}))
			time.Sleep(10 * time.Second)
			w.wantStatus(tr.RunID, job.StatusFailed, message)
			i.stop()
		}
		fails("a", executor.Config{}, "db", "this executor has no key for them; give it the key of its group")
		fails("b", executor.Config{SecretKey: master.Group("g").Text()}, "other", `there is no secret "other" in group g; set it with: carillon secret set other --group g`)
		fails("c", executor.Config{SecretKey: seal.NewMaster().Group("g").Text()}, "db", `open secret "db": it is sealed with key `+master.Group("g").ID())

		vault := func(_ context.Context, name string) (string, error) {
			return "", errors.New("the vault has no " + name)
		}
		fails("d", executor.Config{Secrets: vault}, "db", "the vault has no db")

		conn := w.connect("x")
		if _, err := executor.New(conn.Conn, executor.Config{Group: "g", Secrets: vault, SecretKey: master.Group("g").Text()}); !errors.Is(err, job.ErrInvalid) {
			t.Errorf("two sources of secrets: %v", err)
		}
		for _, wrong := range []string{"x", master.Text(), master.Group("other").Text()} {
			if _, err := executor.New(conn.Conn, executor.Config{Group: "g", SecretKey: wrong}); !errors.Is(err, job.ErrInvalid) {
				t.Errorf("%v", err)
			}
		}
	})
}

func TestARunWaitsForItsSecretsAndScriptWhileNATSCannotServeThem(t *testing.T) {
	for _, away := range []time.Duration{20 * time.Second, 5 * time.Minute} {
		bustest.Run(t, began, func(t *testing.T) {
			w := newWorld(t)
			w.sealed("db", "value")
			script := &job.Script{Language: "shell", Source: "true"}
			script.Digest = job.DigestOf(script.Source)
			if _, err := w.conn.JS.Publish(t.Context(), bus.SubjectScript("g", script.Digest), []byte(script.Source)); err != nil {
				t.Fatal(err)
			}
			script.Source = ""
			buckets := []string{"KV_" + bus.BucketSecret, "KV_" + bus.BucketScript}
			serve := func(yes bool) {
				t.Helper()
				for _, bucket := range buckets {
					w.change(bucket, func(cfg *jetstream.StreamConfig) { cfg.AllowDirect = yes })
				}
			}
			w.start("a", executor.Config{SecretKey: master.Group("g").Text()}, func(e *executor.Executor) {
				e.Handle("h", executor.HandlerFunc(func(context.Context, *executor.Run) (any, error) { return nil, nil }))
				e.HandleKind(job.KindScript, executor.HandlerFunc(func(ctx context.Context, run *executor.Run) (any, error) {
					_, err := run.Script(ctx)
					return nil, err
				}))
			})
			serve(false)
			runs := []*bus.Trigger{
				w.trigger(asks(map[string]string{"DB": "db"})),
				w.trigger(func(t *bus.Trigger) { t.Task = job.Task{Script: script} }),
			}
			time.Sleep(away)
			serve(true)
			time.Sleep(time.Minute)
			for _, tr := range runs {
				if away < time.Minute {
					w.wantStatus(tr.RunID, job.StatusSucceeded, "")
				} else {
					w.wantStatus(tr.RunID, job.StatusFailed, "unavailable")
				}
			}
		})
	}
}
