package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Run is a run that a server has accepted.
type Run struct {
	ID      string    `json:"run_id"`
	Job     string    `json:"job"`     // group/name
	Version int       `json:"version"` // of the job
	Status  Status    `json:"status"`  // when it was accepted or listed
	Due     time.Time `json:"due,omitzero"`
	Existed bool      `json:"existed"` // a request before this one made it
	Reason  string    `json:"-"`       // why it is queued or skipped

	client *Client
}

// wish is the body of a request for a run.
type wish struct {
	Params  any               `json:"params,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	At      string            `json:"at,omitempty"`
	In      string            `json:"in,omitempty"`
	Expires string            `json:"expires,omitempty"`
	Key     *string           `json:"key,omitempty"`
	Reset   bool              `json:"reset,omitempty"`
	RunID   string            `json:"run_id"`
}

// Option is a detail of a run that is asked for.
type Option struct{ set func(*wish) }

// At makes a run begin at an instant, at most 366 days ahead. It does not go with In.
func At(t time.Time) Option { return Option{func(w *wish) { w.At = instant(t) }} }

// In makes a run begin after a while, by the clock of the server.
func In(d time.Duration) Option { return Option{func(w *wish) { w.In = duration(d) }} }

// Expires is how long after it is due a run may begin. Later, it is missed.
func Expires(d time.Duration) Option { return Option{func(w *wish) { w.Expires = duration(d) }} }

// ExpiresAt is the instant by which a run must have begun. Later, it is missed.
func ExpiresAt(t time.Time) Option { return Option{func(w *wish) { w.Expires = instant(t) }} }

// Labels replace the labels of the job.
func Labels(labels map[string]string) Option { return Option{func(w *wish) { w.Labels = labels }} }

// Key is a text of 1 to 256 bytes for which the job makes one run, until seven days after that is due and while it
// is alive: other calls with the key return that run.
func Key(text string) Option { return Option{func(w *wish) { w.Key = &text }} }

// Reset makes another run although the run with the key has ended. It needs Key.
func Reset() Option { return Option{func(w *wish) { w.Reset = true }} }

// instant writes an instant with milliseconds.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// duration writes a duration in seconds, or in milliseconds.
func duration(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}

// Run makes a run of a job, group/name. params is anything that JSON can express, instead of the parameters of
// the job; nil keeps those. The run is stored when Run returns it, and goes on without this program. The error
// is an [Error], or that of ctx.
func (c *Client) Run(ctx context.Context, job string, params any, options ...Option) (*Run, error) {
	path, err := pathOf(job)
	if err != nil {
		return nil, err
	}
	w := c.wish(params, options)
	run, err := c.accept(ctx, path, &w)
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusBadRequest && e.Field == "run_id" && !e.date.IsZero() {
		w.RunID = newRunID(e.date) // the clock of this machine is wrong
		run, err = c.accept(ctx, path, &w)
	}
	return run, err
}

// wish returns the body of a request for a run.
func (c *Client) wish(params any, options []Option) wish {
	w := wish{Params: params, RunID: newRunID(c.now())}
	for _, o := range options {
		o.set(&w)
	}
	return w
}

// accept asks for a run at a path of the API.
func (c *Client) accept(ctx context.Context, path string, w *wish) (*Run, error) {
	var answer accepted
	if err := c.ask(ctx, http.MethodPost, path+"/run", w, &answer); err != nil {
		return nil, err
	}
	return answer.run(c), nil
}

// accepted is the answer to a request for a run.
type accepted struct {
	Run
	Reason sentence `json:"reason"`
}

// run returns the run that was accepted.
func (a *accepted) run(c *Client) *Run {
	run := a.Run
	run.Reason, run.client = a.Reason.Text, c
	return &run
}

// Cancel cancels a run that waits or runs. The error is an [ErrEnded] if it has ended.
func (r *Run) Cancel(ctx context.Context, reason string) error {
	return r.client.cancel(ctx, r.ID, r.Job, reason)
}

// Cancel cancels the run with an id. reason is for the audit log, and may be empty. The error is an [ErrEnded]
// if the run has ended.
func (c *Client) Cancel(ctx context.Context, id, reason string) error {
	return c.cancel(ctx, id, "", reason)
}

// CancelKey cancels the run of a job that has a key, as [Client.Cancel] does. The error is an [ErrNotFound] if no run
// has it.
func (c *Client) CancelKey(ctx context.Context, job, key, reason string) error {
	path, err := pathOf(job)
	if err != nil {
		return err
	}
	body := map[string]string{"key": key}
	if reason != "" {
		body["reason"] = reason
	}
	return c.sendCancel(ctx, path+"/cancel", body)
}

// cancel cancels a run. With its job, that works before the history has the run.
func (c *Client) cancel(ctx context.Context, id, job, reason string) error {
	body := map[string]string{}
	if job != "" {
		body["job"] = job
	}
	if reason != "" {
		body["reason"] = reason
	}
	return c.sendCancel(ctx, "/api/v1/runs/"+url.PathEscape(id)+"/cancel", body)
}

// sendCancel asks for the end of a run. The error is an [ErrEnded] if it has ended.
func (c *Client) sendCancel(ctx context.Context, path string, body any) error {
	err := c.ask(ctx, http.MethodPost, path, body, nil)
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusConflict {
		e.kind = ErrEnded
	}
	return err
}

// pathOf returns where the API has a job.
func pathOf(job string) (string, error) {
	group, name, ok := strings.Cut(job, "/")
	if !ok || group == "" || name == "" || strings.Contains(name, "/") {
		return "", invalid("job", "must be group/name, such as mail/welcome")
	}
	return "/api/v1/jobs/" + url.PathEscape(group) + "/" + url.PathEscape(name), nil
}

// sentence is a reason of the API.
type sentence struct {
	Text string `json:"text"`
}
