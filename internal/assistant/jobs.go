package assistant

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

type jobQuery struct {
	Text  string `json:"text,omitempty" jsonschema:"part of the name, title, description, owner, handler, tag or step"`
	Group string `json:"group,omitempty" jsonschema:"an executor group"`
	State string `json:"state,omitempty" jsonschema:"active, paused, gave_up, manual or ended"`
	Last  string `json:"last,omitempty" jsonschema:"the status of the last run, such as failed"`
}

// foundJob is what an assistant needs of a job.
type foundJob struct {
	Job         job.Name      `json:"job"`
	Title       string        `json:"title,omitempty"`
	Description string        `json:"description,omitempty"`
	Owner       string        `json:"owner,omitempty"`
	Version     int           `json:"version"`
	Schedule    job.Schedule  `json:"schedule"`
	Paused      bool          `json:"paused"`
	PauseReason string        `json:"pause_reason,omitempty"`
	NextFires   []client.Fire `json:"next_fires"`
	LastRuns    []client.Run  `json:"last_runs"`
}

func (t *tools) findJobs(ctx context.Context, q jobQuery) (any, error) {
	params := client.ListJobsParams{
		Q: client.Optional(q.Text), Group: client.Optional(q.Group), Limit: client.Optional(maxList), Fires: client.Optional(3), Runs: client.Optional(1),
	}
	if q.State != "" {
		params.Where = &[]string{"state:" + q.State}
	}
	if q.Last != "" {
		params.Last = &[]client.Status{client.Status(q.Last)}
	}
	page, err := client.Read[client.JobPage](t.api.ListJobs(ctx, &params))
	if err != nil {
		return nil, err
	}
	found := struct {
		Total int        `json:"total"`
		Jobs  []foundJob `json:"jobs"`
	}{Total: page.Total, Jobs: []foundJob{}}
	for i := range page.Items {
		item := &page.Items[i]
		d := &item.Definition
		found.Jobs = append(found.Jobs, foundJob{
			Job: d.Job.Job, Title: d.Title, Description: d.Description, Owner: d.Owner, Version: d.Version, Schedule: d.Schedule, Paused: d.Paused,
			PauseReason: string(item.PauseReason), NextFires: item.NextFires, LastRuns: item.LastRuns,
		})
	}
	return found, nil
}

type minute struct {
	Job string `json:"job" jsonschema:"group/name"`
	At  string `json:"at" jsonschema:"a time such as 2026-03-01 09:00 in the zone of the job, or RFC 3339"`
}

func (t *tools) whyNotRun(ctx context.Context, m minute) (any, error) {
	name, err := job.ParseName(m.Job)
	if err != nil {
		return nil, err
	}
	return client.Read[client.Answer](t.api.WhyJob(ctx, name.Group(), name.Short(), &client.WhyJobParams{At: m.At}))
}

type ahead struct {
	Job   string    `json:"job,omitempty" jsonschema:"group/name; without it, all jobs of the group, or all"`
	Group string    `json:"group,omitempty" jsonschema:"an executor group"`
	From  time.Time `json:"from,omitzero" jsonschema:"RFC 3339, by default now"`
	To    time.Time `json:"to,omitzero" jsonschema:"RFC 3339, by default a day after from; of one job the next 20 fires are listed instead"`
}

func (t *tools) forecast(ctx context.Context, a ahead) (any, error) {
	if a.Job != "" {
		name, err := job.ParseName(a.Job)
		if err != nil {
			return nil, err
		}
		return client.Read[client.Preview](t.api.PreviewJob(ctx, name.Group(), name.Short(), &client.PreviewJobParams{From: client.Optional(a.From), N: client.Optional(20), Requested: new(true)}))
	}
	if a.From.IsZero() {
		a.From = time.Now()
	}
	if a.To.IsZero() {
		a.To = a.From.Add(24 * time.Hour)
	}
	return client.Read[client.FirePage](t.api.ListFires(ctx, &client.ListFiresParams{
		From: &a.From, To: a.To, Group: client.Optional(a.Group), PerJob: client.Optional(5), Limit: client.Optional(maxList), Requested: new(true),
	}))
}

type draft struct {
	Cron     string         `json:"cron,omitempty" jsonschema:"a cron expression of 5 to 7 fields; or give document"`
	Zone     string         `json:"zone,omitempty" jsonschema:"the time zone of cron, by default UTC"`
	Document map[string]any `json:"document,omitempty" jsonschema:"the document of a job, with job (group/name), schedule and task"`
}

func (t *tools) preview(ctx context.Context, d draft) (any, error) {
	if len(d.Document) == 0 {
		return client.Read[client.Preview](t.api.PreviewSchedule(ctx, client.PreviewScheduleJSONRequestBody{Expr: d.Cron, Zone: d.Zone, N: 20}))
	}
	if d.Cron != "" {
		return nil, job.Invalid("cron", "cannot be given together with document")
	}
	named, _ := d.Document["job"].(string)
	name, err := job.ParseName(named)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(d.Document)
	if err != nil {
		return nil, err
	}
	params := &client.PutJobParams{DryRun: client.Optional(true)}
	return client.Read[client.PutJobResult](t.api.PutJobWithBody(ctx, name.Group(), name.Short(), params, "application/json", bytes.NewReader(body)))
}
