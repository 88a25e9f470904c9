package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/rights"
)

// addChangesTo registers the tools that change things, if the caller can use them anywhere.
func (t *tools) addChangesTo(s *mcp.Server) {
	if t.writes == nil || !t.access.MaySomewhereWith(rights.Operator, rights.Assist) {
		return
	}
	addChange(t, s, "run", "Run a job now.", t.run)
	addChange(t, s, "rerun", "Rerun a run that has ended, with its fire time and parameters.", t.rerun)
	addChange(t, s, "pause", "Pause a job: its fires are recorded as skipped.", t.pause)
	addChange(t, s, "resume", "Resume a paused job.", t.resume)
	addChange(t, s, "acknowledge", "Acknowledge an incident: its reminders stop.", t.acknowledge)
}

// proposed is what would happen to a job.
type proposed struct {
	Would      string          `json:"would"`
	Job        job.Name        `json:"job"`
	Title      string          `json:"title,omitempty"`
	Version    int             `json:"version"`
	Paused     bool            `json:"paused"`
	Params     json.RawMessage `json:"params,omitempty"` // given for the run
	NextFires  []client.Fire   `json:"next_fires,omitempty"`
	FiresToday int             `json:"fires_within_a_day,omitempty"`
	LastRuns   []client.Run    `json:"last_runs,omitempty"`
}

// revision is the state of a job.
type revision struct {
	Revision uint64 `json:"revision"`
}

// shownOfJob is how many fires and runs of a job a proposal has.
const shownOfJob = 3

// jobNamed returns a job, and what a proposal says of it.
func (t *tools) jobNamed(ctx context.Context, named, would string) (*client.JobItem, *proposed, error) {
	name, err := job.ParseName(named)
	if err != nil {
		return nil, nil, err
	}
	item, err := client.Read[client.JobItem](t.api.GetJob(ctx, name.Group(), name.Short(), &client.GetJobParams{Fires: client.Optional(shownOfJob), Runs: client.Optional(shownOfJob)}))
	if err != nil {
		return nil, nil, err
	}
	d := &item.Definition
	return &item, &proposed{Would: would, Job: name, Title: d.Title, Version: d.Version, Paused: d.Paused, NextFires: item.NextFires, LastRuns: item.LastRuns}, nil
}

// paramsOf returns parameters that are given as text.
func paramsOf(text string) (json.RawMessage, error) {
	if text != "" && !json.Valid([]byte(text)) {
		return nil, job.Invalid("params", `must be JSON, such as {"day": "2026-03-01"}`)
	}
	return json.RawMessage(text), nil
}

type runArgs struct {
	Job    string `json:"job" jsonschema:"group/name"`
	Params string `json:"params,omitempty" jsonschema:"parameters as the text of a JSON value, instead of those of the job"`
	confirmation
}

func (t *tools) run(ctx context.Context, a runArgs) (*change, error) {
	item, about, err := t.jobNamed(ctx, a.Job, "run this job once, now")
	if err != nil {
		return nil, err
	}
	if about.Params, err = paramsOf(a.Params); err != nil {
		return nil, err
	}
	name := about.Job
	return &change{
		group: name.Group(), about: about, state: revision{item.Revision}, link: "/jobs/" + string(name),
		make: func(ctx context.Context, id job.RunID, as client.RequestEditorFn) (any, error) {
			body := client.RunJobJSONRequestBody{RunID: id, Params: about.Params}
			return client.Read[client.RunAccepted](t.api.RunJob(ctx, name.Group(), name.Short(), &client.RunJobParams{}, body, as))
		},
	}, nil
}

type rerunArgs struct {
	Run    string `json:"run" jsonschema:"the id of a run"`
	Params string `json:"params,omitempty" jsonschema:"parameters as the text of a JSON value, instead of those of the run"`
	confirmation
}

// proposedRerun is what would happen to a run.
type proposedRerun struct {
	Would  string          `json:"would"`
	Run    client.Run      `json:"run"` // its newest attempt
	Status job.Status      `json:"status"`
	Steps  int             `json:"steps,omitempty"` // of a workflow: all are repeated
	Params json.RawMessage `json:"params,omitempty"`
}

func (t *tools) rerun(ctx context.Context, a rerunArgs) (*change, error) {
	id, err := job.ParseRunID(a.Run)
	if err != nil {
		return nil, err
	}
	detail, err := client.Read[client.RunDetail](t.api.GetRun(ctx, string(id)))
	if err != nil {
		return nil, err
	}
	if len(detail.Attempts) == 0 {
		return nil, fmt.Errorf("the history has no attempt of run %s yet", id)
	}
	if !detail.Status.Final() {
		return nil, fmt.Errorf("run %s is %s; only a run that has ended can be rerun", id, detail.Status)
	}
	item, _, err := t.jobNamed(ctx, string(detail.Job), "")
	if err != nil {
		return nil, err
	}
	about := &proposedRerun{Would: "rerun this run", Run: detail.Attempts[0], Status: detail.Status, Steps: detail.Steps}
	if about.Params, err = paramsOf(a.Params); err != nil {
		return nil, err
	}
	state := struct {
		Status   job.Status `json:"status"`
		Attempts int        `json:"attempts"`
		revision
	}{detail.Status, len(detail.Attempts), revision{item.Revision}}
	return &change{
		group: detail.Job.Group(), about: about, state: state, link: "/runs/" + string(id),
		make: func(ctx context.Context, key job.RunID, as client.RequestEditorFn) (any, error) {
			body := client.RerunRunJSONRequestBody{Key: string(key), Params: about.Params}
			return client.Read[client.RunAccepted](t.api.RerunRun(ctx, string(id), &client.RerunRunParams{}, body, as))
		},
	}, nil
}

// switched is a job after it was paused or resumed.
type switched struct {
	Job       job.Name      `json:"job"`
	Version   int           `json:"version"`
	Paused    bool          `json:"paused"`
	NextFires []client.Fire `json:"next_fires"`
}

func switchedJob(item *client.JobItem) *switched {
	d := &item.Definition
	return &switched{Job: d.Job.Job, Version: d.Version, Paused: d.Paused, NextFires: item.NextFires}
}

// ifMatch returns the condition that a job has a revision.
func ifMatch(revision uint64) *string { return new(`"` + strconv.FormatUint(revision, 10) + `"`) }

type pauseArgs struct {
	Job   string    `json:"job" jsonschema:"group/name"`
	Until time.Time `json:"until,omitzero" jsonschema:"when the job resumes by itself, RFC 3339, by default never"`
	Note  string    `json:"note,omitempty" jsonschema:"the reason, for the audit log"`
	confirmation
}

func (t *tools) pause(ctx context.Context, a pauseArgs) (*change, error) {
	item, about, err := t.jobNamed(ctx, a.Job, "pause this job: fires from now on are skipped")
	if err != nil {
		return nil, err
	}
	name := about.Job
	if about.Paused {
		return nil, fmt.Errorf("job %s is paused already", name)
	}
	preview, err := client.Read[client.Preview](t.api.PreviewJob(ctx, name.Group(), name.Short(), &client.PreviewJobParams{}))
	if err != nil {
		return nil, err
	}
	about.FiresToday = preview.PerDay
	return &change{
		group: name.Group(), about: about, state: revision{item.Revision}, link: "/jobs/" + string(name),
		make: func(ctx context.Context, _ job.RunID, as client.RequestEditorFn) (any, error) {
			body := client.PauseJobJSONRequestBody{Until: a.Until, Note: a.Note}
			item, err := client.Read[client.JobItem](t.api.PauseJob(ctx, name.Group(), name.Short(), &client.PauseJobParams{IfMatch: ifMatch(item.Revision)}, body, as))
			return switchedJob(&item), err
		},
	}, nil
}

type resumeArgs struct {
	Job  string `json:"job" jsonschema:"group/name"`
	Note string `json:"note,omitempty" jsonschema:"the reason, for the audit log"`
	confirmation
}

func (t *tools) resume(ctx context.Context, a resumeArgs) (*change, error) {
	item, about, err := t.jobNamed(ctx, a.Job, "resume this job: it fires again")
	if err != nil {
		return nil, err
	}
	name := about.Job
	if !about.Paused {
		return nil, fmt.Errorf("job %s is not paused", name)
	}
	return &change{
		group: name.Group(), about: about, state: revision{item.Revision}, link: "/jobs/" + string(name),
		make: func(ctx context.Context, _ job.RunID, as client.RequestEditorFn) (any, error) {
			body := client.ResumeJobJSONRequestBody{Note: a.Note}
			item, err := client.Read[client.JobItem](t.api.ResumeJob(ctx, name.Group(), name.Short(), &client.ResumeJobParams{IfMatch: ifMatch(item.Revision)}, body, as))
			return switchedJob(&item), err
		},
	}, nil
}

type acknowledgeArgs struct {
	Incident string `json:"incident" jsonschema:"the id of an incident"`
	Note     string `json:"note,omitempty" jsonschema:"what is being done about it"`
	confirmation
}

// proposedAcknowledgement is what would happen to an incident.
type proposedAcknowledgement struct {
	Would    string            `json:"would"`
	Incident string            `json:"incident"`
	Severity alerting.Severity `json:"severity"`
	State    alerting.State    `json:"state"`
	Subject  string            `json:"subject"`
	Summary  string            `json:"summary"`
	Jobs     int               `json:"jobs"`
	Count    int               `json:"bad_runs"`
	OpenedAt time.Time         `json:"opened_at"`
}

func (t *tools) acknowledge(ctx context.Context, a acknowledgeArgs) (*change, error) {
	i, err := client.Read[client.Incident](t.api.GetIncident(ctx, a.Incident))
	if err != nil {
		return nil, err
	}
	if !i.ResolvedAt.IsZero() || !i.AcknowledgedAt.IsZero() {
		return nil, fmt.Errorf("incident %s is resolved or acknowledged already", i.ID)
	}
	about := &proposedAcknowledgement{
		Would: "acknowledge this incident: its reminders stop", Incident: i.ID, Severity: i.Severity, State: i.State, Subject: i.Subject, Summary: i.Summary,
		Jobs: len(i.Jobs) + i.More, Count: i.Count, OpenedAt: i.OpenedAt,
	}
	group := i.Group
	if group == "" {
		group = rights.Everywhere
	}
	state := struct {
		State    alerting.State `json:"state"`
		OpenedAt time.Time      `json:"opened_at"`
	}{i.State, i.OpenedAt}
	return &change{
		group: group, about: about, state: state, link: "/alerts",
		make: func(ctx context.Context, _ job.RunID, as client.RequestEditorFn) (any, error) {
			return client.Read[client.Incident](t.api.AcknowledgeIncident(ctx, i.ID, &client.AcknowledgeIncidentParams{}, client.AcknowledgeIncidentJSONRequestBody{Note: a.Note}, as))
		},
	}, nil
}
