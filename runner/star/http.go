package star

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	starjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// maxAnswer bounds the body of an answer, in bytes; a longer one fails the script.
const maxAnswer = 8 << 20

// request is the builtin http.
func (s Script) request(ctx context.Context, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var method, address, body string
	var headers *starlark.Dict
	var document starlark.Value = starlark.None
	if err := starlark.UnpackArgs("http", args, kwargs, "method", &method, "url", &address, "headers?", &headers, "body?", &body, "json?", &document); err != nil {
		return nil, err
	}
	if s.Client == nil {
		return nil, errors.New("http tasks are not allowed on this executor, and so are the requests of scripts not")
	}
	if document != starlark.None {
		text, err := starlark.Call(&starlark.Thread{}, starjson.Module.Members["encode"], starlark.Tuple{document}, nil)
		if err != nil {
			return nil, err
		}
		body, _ = starlark.AsString(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "Carillon")
	if document != starlark.None {
		req.Header.Set("Content-Type", "application/json")
	}
	if headers != nil {
		for _, entry := range headers.Items() {
			name, isName := starlark.AsString(entry[0])
			value, isValue := starlark.AsString(entry[1])
			if !isName || !isValue {
				return nil, errors.New("headers must be a dict of strings")
			}
			req.Header.Set(name, value)
		}
	}
	resp, err := s.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return answer(resp)
}

// answer returns a response as the language sees it.
func answer(resp *http.Response) (starlark.Value, error) {
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if len(data) > maxAnswer {
		return nil, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	headers := starlark.NewDict(len(resp.Header))
	for name := range resp.Header {
		if err := headers.SetKey(starlark.String(name), starlark.String(resp.Header.Get(name))); err != nil {
			return nil, err
		}
	}
	body := starlark.String(data)
	return starlarkstruct.FromStringDict(starlark.String("answer"), starlark.StringDict{
		"status":  starlark.MakeInt(resp.StatusCode),
		"headers": headers,
		"body":    body,
		"json": starlark.NewBuiltin("json", func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
				return nil, err
			}
			return starlark.Call(thread, starjson.Module.Members["decode"], starlark.Tuple{body}, nil)
		}),
	}), nil
}

// sleep is the builtin sleep.
func sleep(ctx context.Context, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var length starlark.Value
	if err := starlark.UnpackArgs("sleep", args, kwargs, "seconds", &length); err != nil {
		return nil, err
	}
	seconds, ok := starlark.AsFloat(length)
	if !ok || seconds < 0 || seconds > 1e9 {
		return nil, errors.New("sleep: seconds must be a number from 0 up")
	}
	timer := time.NewTimer(time.Duration(seconds * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return starlark.None, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
