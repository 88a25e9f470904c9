package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// lastLines is how many lines explain a run, and comparedLines how many are compared.
const (
	lastLines     = 50
	comparedLines = 1000
)

type oneRun struct {
	Run string `json:"run" jsonschema:"the id of a run"`
}

// explained is a run with what its log says.
type explained struct {
	Run   client.RunDetail `json:"run"`
	Steps json.RawMessage  `json:"steps,omitempty"` // of a workflow
	Log   []client.LogLine `json:"last_log_lines"`
	NoLog string           `json:"no_log,omitempty"` // why it cannot be read
}

func (t *tools) explainRun(ctx context.Context, r oneRun) (any, error) {
	id, err := job.ParseRunID(r.Run)
	if err != nil {
		return nil, err
	}
	var e explained
	if e.Run, err = client.Read[client.RunDetail](t.api.GetRun(ctx, string(id))); err != nil {
		return nil, err
	}
	if e.Run.Steps > 0 {
		if e.Steps, err = client.Read[json.RawMessage](t.api.ListSteps(ctx, string(id), &client.ListStepsParams{})); err != nil {
			return nil, err
		}
	}
	log, err := client.Read[client.LogPage](t.api.GetLogs(ctx, string(id), &client.GetLogsParams{Tail: client.Optional(true), Limit: client.Optional(lastLines)}))
	if err != nil {
		e.NoLog = err.Error()
	}
	e.Log = log.Items
	return e, nil
}

// comparison is a run beside the last one before that succeeded.
type comparison struct {
	Run       *client.Run `json:"run"`
	Good      *client.Run `json:"last_good,omitempty"`
	None      string      `json:"none,omitempty"` // why there is nothing to compare with
	Differing []string    `json:"differing_fields,omitempty"`
	// Line and GoodLine are the first lines that differ; one is missing where a log has ended.
	Line     *client.LogLine `json:"first_differing_line,omitempty"`
	GoodLine *client.LogLine `json:"first_differing_line_of_last_good,omitempty"`
	NoLogs   string          `json:"no_logs,omitempty"`
}

func (t *tools) compareRuns(ctx context.Context, r oneRun) (any, error) {
	id, err := job.ParseRunID(r.Run)
	if err != nil {
		return nil, err
	}
	detail, err := client.Read[client.RunDetail](t.api.GetRun(ctx, string(id)))
	if err != nil {
		return nil, err
	}
	if len(detail.Attempts) == 0 {
		return nil, errors.New("the history has no attempt of the run yet")
	}
	c := &comparison{Run: &detail.Attempts[0]}
	before := c.Run.FireTime
	page, err := client.Read[client.RunPage](t.api.ListRuns(ctx, &client.ListRunsParams{
		Job: &[]string{string(c.Run.Job)}, Status: &[]client.Status{job.StatusSucceeded}, To: &before, Limit: client.Optional(1),
	}))
	if err != nil {
		return nil, err
	}
	if len(page.Items) == 0 {
		c.None = "no run of the job has succeeded before"
		return c, nil
	}
	c.Good = &page.Items[0]
	if c.Differing, err = differing(c.Run, c.Good); err != nil {
		return nil, err
	}
	if err := t.compareLogs(ctx, c); err != nil {
		c.NoLogs = err.Error()
	}
	return c, nil
}

// perRun are fields that differ between any two runs.
var perRun = []string{"run_id", "fire_time", "queued_at", "committed_at", "delivered_at", "started_at", "finished_at"}

// differing returns the names of the fields that differ.
func differing(a, b *client.Run) ([]string, error) {
	fields := func(r *client.Run) (all map[string]any, err error) {
		data, err := json.Marshal(r)
		if err == nil {
			err = json.Unmarshal(data, &all)
		}
		return all, err
	}
	one, err := fields(a)
	if err != nil {
		return nil, err
	}
	other, err := fields(b)
	if err != nil {
		return nil, err
	}
	var names []string
	both := maps.Clone(one)
	maps.Copy(both, other)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if !slices.Contains(perRun, name) && !reflect.DeepEqual(one[name], other[name]) {
			names = append(names, name)
		}
	}
	return names, nil
}

// compareLogs finds the first lines that differ.
func (t *tools) compareLogs(ctx context.Context, c *comparison) error {
	of := func(r *client.Run) ([]client.LogLine, error) {
		page, err := client.Read[client.LogPage](t.api.GetLogs(ctx, string(r.RunID), &client.GetLogsParams{Limit: client.Optional(comparedLines)}))
		return page.Items, err
	}
	lines, err := of(c.Run)
	if err != nil {
		return err
	}
	good, err := of(c.Good)
	if err != nil {
		return err
	}
	for i := range max(len(lines), len(good)) {
		if i < len(lines) && i < len(good) && lines[i].Text == good[i].Text {
			continue
		}
		if i < len(lines) {
			c.Line = &lines[i]
		}
		if i < len(good) {
			c.GoodLine = &good[i]
		}
		return nil
	}
	return nil
}

type logQuery struct {
	Text  string    `json:"text,omitempty" jsonschema:"words that a line must contain; quotes make a phrase, * beside a part of a word matches the rest"`
	Job   string    `json:"job,omitempty" jsonschema:"group/name"`
	Group string    `json:"group,omitempty" jsonschema:"an executor group"`
	Run   string    `json:"run,omitempty" jsonschema:"the id of a run"`
	Level string    `json:"level,omitempty" jsonschema:"debug, info, warn or error"`
	From  time.Time `json:"from,omitzero" jsonschema:"fire time of the run, inclusive, RFC 3339"`
	To    time.Time `json:"to,omitzero" jsonschema:"fire time of the run, exclusive, RFC 3339"`
}

func (t *tools) searchLogs(ctx context.Context, q logQuery) (any, error) {
	params := client.SearchLogsParams{
		Text: client.Optional(q.Text), Group: client.Optional(q.Group), RunID: client.Optional(q.Run),
		From: client.Optional(q.From), To: client.Optional(q.To), Limit: client.Optional(maxList),
	}
	if q.Job != "" {
		params.Job = &[]string{q.Job}
	}
	if q.Level != "" {
		params.Level = &[]client.Level{q.Level}
	}
	return client.Read[json.RawMessage](t.api.SearchLogs(ctx, &params))
}
