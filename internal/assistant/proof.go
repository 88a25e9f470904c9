package assistant

import (
	"context"
	"encoding/json"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

type span struct {
	Job     string    `json:"job,omitempty" jsonschema:"group/name; without it, all jobs of the group, or all"`
	Group   string    `json:"group,omitempty" jsonschema:"an executor group"`
	Outcome string    `json:"outcome,omitempty" jsonschema:"of one job: only fires with this outcome, such as missed or skipped"`
	From    time.Time `json:"from,omitzero" jsonschema:"fire time, inclusive, RFC 3339, by default a day before to"`
	To      time.Time `json:"to,omitzero" jsonschema:"fire time, exclusive, RFC 3339, by default now"`
}

func (t *tools) ledger(ctx context.Context, s span) (any, error) {
	from, to := client.Optional(s.From), client.Optional(s.To)
	if s.Job == "" {
		page, err := t.api.Verified(ctx, client.VerifyLedgerParams{From: from, To: to, Group: client.Optional(s.Group)}, func(client.VerifiedPage) {}, func(error, time.Duration) {})
		page.Days = nil // a row for each job and day
		return page, err
	}
	name, err := job.ParseName(s.Job)
	if err != nil {
		return nil, err
	}
	params := client.GetJobLedgerParams{From: from, To: to, Limit: client.Optional(maxList)}
	if s.Outcome != "" {
		params.Outcome = &[]client.Outcome{client.Outcome(s.Outcome)}
	}
	return client.Read[client.LedgerPage](t.api.GetJobLedger(ctx, name.Group(), name.Short(), &params))
}

type incidentQuery struct {
	State string `json:"state,omitempty" jsonschema:"open, firing, acknowledged, snoozed or resolved"`
	Group string `json:"group,omitempty" jsonschema:"an executor group"`
	Job   string `json:"job,omitempty" jsonschema:"group/name"`
}

func (t *tools) listIncidents(ctx context.Context, q incidentQuery) (any, error) {
	return client.Read[json.RawMessage](t.api.ListIncidents(ctx, &client.ListIncidentsParams{
		State: client.Optional(q.State), Group: client.Optional(q.Group), Job: client.Optional(q.Job), Sort: client.Optional("severity"), Limit: client.Optional(maxList),
	}))
}

func (t *tools) listWaiting(ctx context.Context, _ struct{}) (any, error) {
	return client.Read[json.RawMessage](t.api.ListApprovals(ctx, &client.ListApprovalsParams{}))
}
