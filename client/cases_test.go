package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// shared are the cases of the clients in all languages; the file explains them.
type shared struct {
	Now   time.Time
	Token string
	Cases []struct {
		Name   string
		Call   call
		Server []exchange
		Pauses []float64
		Result any
		Error  *expectedError
	}
}

type expectedError struct {
	Kind, Code, Field, Message, Run string
	Fields                          []string
	Status                          int
	After                           float64
}

type call struct {
	Do, Job, Run, Reason string
	Key                  *string
	Reset                bool
	Runs                 []call
	Params               any
	Labels               map[string]string
	At, Expires          time.Time
	In                   int64 `json:"in_ms"`
	ExpiresAfter         int64 `json:"expires_ms"`
}

type exchange struct {
	Request struct {
		Method, Path string
		Query        map[string]string
		Body         any
	}
	Answer struct {
		Cut     bool
		Status  int
		Headers map[string]string
		Body    any
		Text    string
	}
}

func TestTheClientPassesTheCasesOfAllLanguages(t *testing.T) {
	data, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var all shared
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Cases) < 30 {
		t.Errorf("there are %d cases, not 30", len(all.Cases))
	}
	for _, c := range all.Cases {
		t.Run(c.Name, func(t *testing.T) {
			p := &player{t: t, token: all.Token, now: all.Now, left: c.Server}
			server := httptest.NewServer(p)
			defer server.Close()
			client, err := New(Config{Server: server.URL, Token: all.Token})
			if err != nil {
				t.Fatal(err)
			}
			now, pauses := all.Now, []float64(nil)
			client.now = func() time.Time { return now }
			client.pause = func(_ context.Context, d time.Duration) error {
				now = now.Add(d)
				pauses = append(pauses, d.Seconds())
				return nil
			}

			result, err := c.Call.do(t.Context(), client)

			if len(p.left) > 0 {
				t.Errorf("%d requests did not come", len(p.left))
			}
			if !reflect.DeepEqual(pauses, c.Pauses) {
				t.Errorf("pauses are %v, not %v", pauses, c.Pauses)
			}
			if c.Error == nil {
				if err != nil {
					t.Fatal(err)
				}
				if got := plain(t, result); !reflect.DeepEqual(got, c.Result) {
					t.Errorf("the result is\n%v, not\n%v", got, c.Result)
				}
				return
			}
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("the error is %v (%T)", err, err)
			}
			want := *c.Error
			if kindOf(e) != want.Kind || want.Code != "" && e.Code != want.Code || e.Field != want.Field || want.Message != "" && e.Message != want.Message ||
				want.Status != 0 && e.Status != want.Status || e.After.Seconds() != want.After || e.RunID != want.Run || !slices.Equal(e.Fields, want.Fields) {
				t.Errorf("the error is %s %+v, not %+v", kindOf(e), e, want)
			}
		})
	}
}

// do does a call, and returns its result as the cases write it.
func (c *call) do(ctx context.Context, client *Client) (any, error) {
	switch c.Do {
	case "run", "run and cancel":
		run, err := client.Run(ctx, c.Job, c.Params, c.options()...)
		if err != nil {
			return nil, err
		}
		if c.Do == "run and cancel" {
			return nil, run.Cancel(ctx, "")
		}
		return fieldsOf(run), nil
	case "run many":
		return c.runMany(ctx, client)
	case "status", "wait":
		ask := client.Status
		if c.Do == "wait" {
			ask = client.Wait
		}
		s, err := ask(ctx, c.Run)
		if err != nil {
			return nil, err
		}
		return present(map[string]any{"run_id": s.ID, "job": s.Job, "status": s.Status, "reason": s.Reason, "result": s.Result}), nil
	case "cancel":
		return nil, client.Cancel(ctx, c.Run, c.Reason)
	case "cancel key":
		return nil, client.CancelKey(ctx, c.Job, *c.Key, c.Reason)
	case "waiting":
		runs := []any{}
		for run, err := range client.Waiting(ctx, c.Job) {
			if err != nil {
				return nil, err
			}
			runs = append(runs, fieldsOf(run))
		}
		return runs, nil
	}
	return nil, fmt.Errorf("there is no call %q", c.Do)
}

func (c *call) runMany(ctx context.Context, client *Client) (any, error) {
	var requests []RunRequest
	for i := range c.Runs {
		requests = append(requests, RunRequest{Job: c.Runs[i].Job, Params: c.Runs[i].Params, Options: c.Runs[i].options()})
	}
	results, err := client.RunMany(ctx, requests)
	list := []any{}
	for _, r := range results {
		if r.Err != nil {
			list = append(list, map[string]any{"error": kindOf(r.Err), "message": r.Err.Error()})
			continue
		}
		list = append(list, fieldsOf(r.Run))
	}
	return list, err
}

func (c *call) options() (options []Option) {
	if !c.At.IsZero() {
		options = append(options, At(c.At))
	}
	if c.In != 0 {
		options = append(options, In(time.Duration(c.In)*time.Millisecond))
	}
	if c.ExpiresAfter != 0 {
		options = append(options, Expires(time.Duration(c.ExpiresAfter)*time.Millisecond))
	}
	if !c.Expires.IsZero() {
		options = append(options, ExpiresAt(c.Expires))
	}
	if c.Key != nil {
		options = append(options, Key(*c.Key))
	}
	if c.Reset {
		options = append(options, Reset())
	}
	if c.Labels != nil {
		options = append(options, Labels(c.Labels))
	}
	return options
}

func fieldsOf(r *Run) any {
	return present(map[string]any{"run_id": r.ID, "job": r.Job, "version": r.Version, "status": r.Status, "due": r.Due, "existed": r.Existed, "reason": r.Reason})
}

// present leaves out what is absent.
func present(fields map[string]any) map[string]any {
	for name, value := range fields {
		if v := reflect.ValueOf(value); v.IsZero() {
			delete(fields, name)
		}
	}
	return fields
}

// plain returns a value as JSON has it.
func plain(t *testing.T, v any) (decoded any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &decoded)
	}
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// kindOf names the kind of an error as the cases do.
func kindOf(err error) string {
	for name, kind := range map[string]error{"InvalidParams": ErrInvalidParams, "Forbidden": ErrForbidden, "NotFound": ErrNotFound, "KeyInUse": ErrKeyInUse, "Ended": ErrEnded, "TooMany": ErrTooMany, "Unavailable": ErrUnavailable} {
		if errors.Is(err, kind) {
			return name
		}
	}
	return "Error"
}

// player is a server that expects requests, and has an answer for each.
type player struct {
	t     *testing.T
	token string
	now   time.Time
	left  []exchange
	ids   map[string]any // by what stands for them
}

func (p *player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if len(p.left) == 0 {
		p.t.Errorf("%s %s came, and nothing more was expected", r.Method, r.URL)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	next := p.left[0]
	p.left = p.left[1:]
	p.check(r, &next)
	if next.Answer.Cut {
		panic(http.ErrAbortHandler)
	}
	for name, value := range next.Answer.Headers {
		w.Header().Set(name, value)
	}
	text := []byte(next.Answer.Text)
	if next.Answer.Body != nil {
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "application/json")
		}
		text, _ = json.Marshal(next.Answer.Body)
	}
	w.WriteHeader(next.Answer.Status)
	_, _ = w.Write(text)
}

// check compares a request with the one that is expected.
func (p *player) check(r *http.Request, want *exchange) {
	if r.Method != want.Request.Method || r.URL.EscapedPath() != want.Request.Path {
		p.t.Errorf("the request is %s %s, not %s %s", r.Method, r.URL.EscapedPath(), want.Request.Method, want.Request.Path)
	}
	if got := r.Header.Get("Authorization"); got != "Bearer "+p.token {
		p.t.Errorf("Authorization is %q", got)
	}
	query := map[string]string{}
	for name := range r.URL.Query() {
		query[name] = r.URL.Query().Get(name)
	}
	if len(query)+len(want.Request.Query) > 0 && !reflect.DeepEqual(query, want.Request.Query) {
		p.t.Errorf("the query is %v, not %v", query, want.Request.Query)
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Error(err)
	}
	var body any
	if len(text) > 0 {
		if err := json.Unmarshal(text, &body); err != nil || r.Header.Get("Content-Type") != "application/json" {
			p.t.Errorf("the body is %q of type %q", text, r.Header.Get("Content-Type"))
		}
	}
	expected := want.Request.Body
	p.setIDs(expected, body)
	if !reflect.DeepEqual(body, expected) {
		p.t.Errorf("the body is\n%v, not\n%v", body, expected)
	}
}

// setIDs replaces the placeholders for ids in a body, and in the entries of a batch.
func (p *player) setIDs(expected, body any) {
	fields, _ := expected.(map[string]any)
	sent, _ := body.(map[string]any)
	if id, ok := fields["run_id"].(string); ok {
		fields["run_id"] = p.id(id, sent["run_id"])
	}
	entries, _ := fields["runs"].([]any)
	sentEntries, _ := sent["runs"].([]any)
	for i := range min(len(entries), len(sentEntries)) {
		e, _ := entries[i].(map[string]any)
		s, _ := sentEntries[i].(map[string]any)
		p.setIDs(e["run"], s["run"])
	}
}

// id returns the id for which a placeholder stands: that of the first request that has it.
func (p *player) id(placeholder string, sent any) any {
	if id, known := p.ids[placeholder]; known {
		return id
	}
	at := p.now
	if _, text, ok := strings.Cut(placeholder, " at "); ok {
		at, _ = time.Parse(time.RFC3339, text)
	}
	id, _ := sent.(string)
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
		p.t.Errorf("run_id %q is no UUIDv7", id)
		return "a UUIDv7"
	}
	if ms, _ := strconv.ParseInt(id[:8]+id[9:13], 16, 64); ms != at.UnixMilli() {
		p.t.Errorf("run_id %s is of %s, not of %s", id, time.UnixMilli(ms).UTC(), at)
	}
	if p.ids == nil {
		p.ids = map[string]any{}
	}
	p.ids[placeholder] = sent
	return sent
}
