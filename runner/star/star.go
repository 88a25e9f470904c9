package star

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	starjson "go.starlark.net/lib/json"
	"go.starlark.net/lib/math"
	"go.starlark.net/lib/time"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
)

// Script is a program and what it gets to know.
type Script struct {
	// File names the source in messages.
	File   string
	Source []byte
	// Params is the JSON that the script sees as params. Empty is None.
	Params json.RawMessage
	// Env has the variables of the run and of the task.
	Env map[string]string
	// Client sends the script's requests. Nil refuses them.
	Client *http.Client
	// Output takes a line for each print.
	Output io.Writer
}

var options = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}

// Run executes s until it ends or ctx is done. It returns what the script assigned to
// result, as JSON; nil if it did not. The error has the script's traceback.
func Run(ctx context.Context, s Script) (json.RawMessage, error) {
	predeclared, err := s.names(ctx)
	if err != nil {
		return nil, err
	}
	thread := &starlark.Thread{
		Name:  s.File,
		Print: func(_ *starlark.Thread, line string) { _, _ = io.WriteString(s.Output, line+"\n") },
		Load: func(*starlark.Thread, string) (starlark.StringDict, error) {
			return nil, errors.New("there is nothing to load")
		},
	}
	defer context.AfterFunc(ctx, func() { thread.Cancel(context.Cause(ctx).Error()) })()
	globals, err := starlark.ExecFileOptions(options, thread, s.File, s.Source, predeclared)
	if err != nil {
		return nil, traced(err)
	}
	result, assigned := globals["result"]
	if !assigned {
		return nil, nil
	}
	text, err := starlark.Call(thread, starjson.Module.Members["encode"], starlark.Tuple{result}, nil)
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	encoded, _ := starlark.AsString(text)
	return json.RawMessage(encoded), nil
}

// traced gives an error the script's lines.
func traced(err error) error {
	if e, ok := errors.AsType[*starlark.EvalError](err); ok {
		return errors.New(e.Backtrace())
	}
	return err
}

// names returns what the script finds besides the language's own.
func (s Script) names(ctx context.Context) (starlark.StringDict, error) {
	params, err := decode(s.Params)
	if err != nil {
		return nil, fmt.Errorf("decode params: %w", err)
	}
	item, err := decode(json.RawMessage(s.Env["CARILLON_ITEM"]))
	if err != nil {
		return nil, fmt.Errorf("decode item: %w", err)
	}
	env := starlark.NewDict(len(s.Env))
	for name, value := range s.Env {
		if err := env.SetKey(starlark.String(name), starlark.String(value)); err != nil {
			return nil, fmt.Errorf("set env: %w", err)
		}
	}
	return starlark.StringDict{
		"params": params,
		"item":   item,
		"env":    env,
		"run":    s.run(),
		"json":   starjson.Module,
		"math":   math.Module,
		"time":   time.Module,
		"http": starlark.NewBuiltin("http", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return s.request(ctx, args, kwargs)
		}),
		"sleep": starlark.NewBuiltin("sleep", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return sleep(ctx, args, kwargs)
		}),
	}, nil
}

// run returns what is known of the run.
func (s Script) run() starlark.Value {
	text := func(name string) starlark.Value { return starlark.String(s.Env["CARILLON_"+name]) }
	number := func(name string, otherwise int) starlark.Value {
		if n, err := strconv.Atoi(s.Env["CARILLON_"+name]); err == nil {
			return starlark.MakeInt(n)
		}
		return starlark.MakeInt(otherwise)
	}
	return starlarkstruct.FromStringDict(starlark.String("run"), starlark.StringDict{
		"id": text("RUN_ID"), "job": text("JOB"), "group": text("GROUP"), "cause": text("CAUSE"), "fire_time": text("FIRE_TIME"),
		"instance": text("INSTANCE"), "parent": text("PARENT_RUN_ID"), "step": text("STEP"),
		"version": number("VERSION", 0), "attempt": number("ATTEMPT", 1), "delivery": number("DELIVERY", 1),
		"index": number("BROADCAST_INDEX", 0), "total": number("BROADCAST_TOTAL", 1),
	})
}

// decode returns JSON as a value of the language.
func decode(data json.RawMessage) (starlark.Value, error) {
	if len(data) == 0 {
		return starlark.None, nil
	}
	return starlark.Call(&starlark.Thread{}, starjson.Module.Members["decode"], starlark.Tuple{starlark.String(data)}, nil)
}
