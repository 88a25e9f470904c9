package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// requestTimeout bounds a request and its answer.
	requestTimeout = 10 * time.Second
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 16 << 20

	// A request is repeated for againFor, after pauses that double from againFirst to againMost.
	againFor   = 30 * time.Second
	againFirst = time.Second
	againMost  = 8 * time.Second
)

// ask sends a request, and repeats it while it may help: what it asks for must do no harm when it is done
// twice. body is sent as JSON unless it is nil. The answer is decoded into answer.
func (c *Client) ask(ctx context.Context, method, path string, body, answer any) error {
	begun := c.now()
	for next := againFirst; ; next = min(2*next, againMost) {
		err := c.send(ctx, method, path, body, answer)
		wait, again := repeatAfter(err, next)
		if !again || c.now().Sub(begun)+wait > againFor {
			return err
		}
		if done := c.pause(ctx, wait); done != nil {
			return fmt.Errorf("%w; before that: %w", done, err)
		}
	}
}

// repeatAfter returns how long to pause before a request is repeated, at least next, and whether that may help.
func repeatAfter(err error, next time.Duration) (time.Duration, bool) {
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return 0, false
	case errors.Is(e, ErrUnavailable):
		return max(next, e.After), true
	case errors.Is(e, ErrTooMany):
		return max(next, e.After), e.After > 0
	}
	return 0, false
}

// send sends a request once. The error is an *Error, or that of ctx.
func (c *Client) send(ctx context.Context, method, path string, body, answer any) error {
	var content io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode the request: %w", err)
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.server+path, content)
	if err != nil {
		return fmt.Errorf("ask for %s: %w", path, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.broken(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return c.broken(ctx, err)
	case len(text) > maxAnswer:
		return &Error{Status: resp.StatusCode, Message: fmt.Sprintf("the answer of %s is longer than %d bytes", c.server, maxAnswer)}
	case resp.StatusCode >= http.StatusMultipleChoices:
		e := problem(c.server, resp.StatusCode, resp.Header, text)
		if date, bad := http.ParseTime(resp.Header.Get("Date")); bad == nil {
			e.date = date
		}
		return e
	case answer == nil:
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return &Error{Status: resp.StatusCode, Message: c.server + " did not answer in JSON: is a Carillon server listening there?", cause: err}
	}
	return nil
}

// broken returns the error of a request without a whole answer: that of ctx if it is done.
func (c *Client) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return unreachable(c.server, err)
}
