package executortest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/executortest"
	"github.com/carillon-scheduler/carillon/job"
)

type region struct {
	Region string `json:"region"`
}

type written struct {
	Rows int `json:"rows"`
}

func report(ctx context.Context, run *executor.Run, p region) (written, error) {
	if p.Region == "" {
		return written{}, errors.New("params.region is missing")
	}
	run.Log().InfoContext(ctx, "begun", "region", p.Region, "attempt", run.Attempt())
	run.Progress(50, "half")
	run.Progress(100, "done with "+run.Secret("TOKEN"))
	return written{Rows: 42}, nil
}

func TestAHandlerIsTestedWithoutABroker(t *testing.T) {
	got, end := executortest.Call(t, report, region{"north"}, executortest.Run{Attempt: 2, Secrets: map[string]string{"TOKEN": "s3cret-value"}})
	if end.Status != job.StatusSucceeded || got.Rows != 42 {
		t.Errorf("%s: %+v, %s", end.Status, got, end.Message)
	}
	if want := []string{"begun region=north attempt=2"}; !slices.Equal(end.Log(), want) || !end.Logged("north") || end.Logged("south") {
		t.Errorf("log %q, want %q", end.Log(), want)
	}
	if want := []executor.Progress{{Percent: 50, Text: "half"}, {Percent: 100, Text: "done with ***"}}; !slices.Equal(end.Progress, want) {
		t.Errorf("progress %v, want %v", end.Progress, want)
	}
	if _, end := executortest.Call(t, report, region{}, executortest.Run{}); end.Status != job.StatusFailed || end.Message != "params.region is missing" {
		t.Errorf("%s, %s", end.Status, end.Message)
	}
}

func TestATestSeesWhatARunWouldBecome(t *testing.T) {
	for name, c := range map[string]struct {
		do      executor.HandlerFunc
		run     executortest.Run
		status  job.Status
		message string
	}{
		"a panic": {func(context.Context, *executor.Run) (any, error) { panic("no disk") }, executortest.Run{}, job.StatusFailed, "panic: no disk"},
		"a timeout": {func(ctx context.Context, _ *executor.Run) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, executortest.Run{Timeout: time.Millisecond}, job.StatusTimedOut, "took longer than its timeout of 1ms"},
		"a result that is none": {func(context.Context, *executor.Run) (any, error) { return func() {}, nil }, executortest.Run{}, job.StatusSucceeded, "the result was left out: json: unsupported type: func()"},
		"a result with a part that JSON lacks": {func(context.Context, *executor.Run) (any, error) {
			type row struct {
				Ratio *float64 `json:"ratio"`
			}
			fine, nan := 0.5, math.NaN()
			return map[string]any{"rows": []row{{&fine}, {&nan}}, "ok": 1.5}, nil
		}, executortest.Run{}, job.StatusSucceeded, "the result was left out: result.rows[1].ratio: json: unsupported value: NaN"},
		"a piece": {func(_ context.Context, run *executor.Run) (any, error) {
			if index, total := run.Broadcast(); index != 1 || total != 3 || string(run.Item()) != `"b"` {
				return nil, errors.New("not the piece")
			}
			return nil, nil
		}, executortest.Run{Index: 1, Total: 3, Item: "b"}, job.StatusSucceeded, ""},
		"a step": {func(_ context.Context, run *executor.Run) (any, error) {
			return nil, fmt.Errorf("step %q, cause %s", run.Step(), run.Cause())
		}, executortest.Run{Step: "load"}, job.StatusFailed, `step "load", cause step`},
		"no step": {func(_ context.Context, run *executor.Run) (any, error) {
			return nil, fmt.Errorf("step %q, cause %s", run.Step(), run.Cause())
		}, executortest.Run{}, job.StatusFailed, `step "", cause schedule`},
	} {
		t.Run(name, func(t *testing.T) {
			end := executortest.Do(t, "h", c.run, func(e *executor.Executor) { e.Handle("h", c.do) })
			if got := end.Message[:min(len(end.Message), len(c.message))]; end.Status != c.status || got != c.message {
				t.Errorf("%s: %q; want %s: %q", end.Status, end.Message, c.status, c.message)
			}
		})
	}
}

func TestMiddlewareSurroundsEachHandlerInItsOrder(t *testing.T) {
	var order []string
	layer := func(name string) func(executor.Handler) executor.Handler {
		return func(next executor.Handler) executor.Handler {
			return executor.HandlerFunc(func(ctx context.Context, run *executor.Run) (any, error) {
				order = append(order, name)
				result, err := next.Handle(ctx, run)
				order = append(order, name)
				return result, err
			})
		}
	}
	end := executortest.Do(t, "report", executortest.Run{Params: region{"north"}}, func(e *executor.Executor) {
		executor.Register(e, "report", report)
	}, func(cfg *executor.Config) {
		cfg.Middleware = []func(executor.Handler) executor.Handler{layer("outer"), layer("inner")}
	})
	if want := []string{"outer", "inner", "inner", "outer"}; !slices.Equal(order, want) || end.Status != job.StatusSucceeded {
		t.Errorf("%v, want %v; %s %s", order, want, end.Status, end.Message)
	}
}

func TestAnErrorSaysWhatShallBecomeOfTheRun(t *testing.T) {
	broken := errors.New("the customer is unknown")
	for _, c := range []struct {
		err   error
		final bool
	}{{broken, false}, {executor.Final(broken), true}, {executor.RetryAfter(time.Minute, broken), false}} {
		_, end := executortest.Call(t, func(context.Context, *executor.Run, region) (any, error) { return nil, c.err }, region{}, executortest.Run{})
		if end.Status != job.StatusFailed || end.Final != c.final || end.Message != broken.Error() || !errors.Is(c.err, broken) {
			t.Errorf("%s, final %v: %s", end.Status, end.Final, end.Message)
		}
	}
}

func TestNumbersOfParametersKeepTheirDigits(t *testing.T) {
	echo := func(_ context.Context, _ *executor.Run, p map[string]any) (map[string]any, error) { return p, nil }
	const params = `{"big":1234567890123456789,"decimals":0.1000,"huge":1e400,"odd":9007199254740993,"zero":-0}`
	end := executortest.Do(t, "echo", executortest.Run{Params: json.RawMessage(params)}, func(e *executor.Executor) { executor.Register(e, "echo", echo) })
	if string(end.Result) != params {
		t.Errorf("a handler returned %s of %s", end.Result, params)
	}
}
