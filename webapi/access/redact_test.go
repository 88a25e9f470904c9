package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// jobWith returns a job of group billing with parameters and a task.
func jobWith(t *testing.T, task string) job.Job {
	t.Helper()
	j, err := job.Decode([]byte(`{"job":"billing/x","schedule":{"cron":"@daily"},"params":{"a":"SECRETPARAM"},"task":` + task + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// workflowWith returns a job of group billing with two steps that do a task, with parameters.
func workflowWith(t *testing.T, task string) job.Job {
	t.Helper()
	const step = `{"step":"%s","params":{"a":"SECRETPARAM"},"task":`
	j, err := job.Decode([]byte(`{"job":"billing/x","steps":[` + fmt.Sprintf(step, "a") + `{"handler":"first"}},` + fmt.Sprintf(step, "b") + task + `}],"result":"SECRETPARAM"}`))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// seeing returns the access of an editor of billing with some grants.
func seeing(grants ...rights.Grant) rights.List {
	return rights.List{{Role: rights.Editor, Group: "billing", Grants: append([]rights.Grant{}, grants...)}}
}

// secretTasks are one of each kind, each with all that can be secret about it.
var secretTasks = []string{
	`{"shell":"echo SECRETSCRIPT","stdin":"SECRETSCRIPT","env":{"A":"SECRETENV"}}`,
	`{"command":["prog","SECRETSCRIPT"],"env":{"A":"SECRETENV"}}`,
	`{"http":{"url":"https://example.org/SECRETSCRIPT","headers":{"x":"SECRETSCRIPT"},"auth":{"user":"a","password":"SECRETENV"}}}`,
	`{"script":{"language":"shell","source":"SECRETSCRIPT"},"env":{"A":"SECRETENV"}}`,
	`{"handler":"report"}`,
}

func TestAJobIsShownWithoutWhatOneHasNoGrantFor(t *testing.T) {
	t.Parallel()
	words := map[rights.Grant]string{rights.Params: "SECRETPARAM", rights.Scripts: "SECRETSCRIPT", rights.Secrets: "SECRETENV"}
	for _, grants := range [][]rights.Grant{nil, {rights.Params}, {rights.Scripts}, {rights.Secrets}, {rights.Params, rights.Scripts}, {rights.Params, rights.Scripts, rights.Secrets}} {
		by := seeing(grants...)
		var all []job.Job
		for _, task := range secretTasks {
			all = append(all, jobWith(t, task), workflowWith(t, task))
		}
		for _, stored := range all {
			before, _ := json.Marshal(stored)
			shown, _ := json.Marshal(HiddenJob(by, stored))
			for grant, word := range words {
				// The sign-in of a request is part of the request, which is hidden as a whole.
				inHTTP := grant == rights.Secrets && strings.Contains(string(before), `"http"`) && !by.Sees(rights.Scripts, "billing")
				if want := strings.Contains(string(before), word) && by.Sees(grant, "billing") && !inHTTP; strings.Contains(string(shown), word) != want {
					t.Errorf("with %v, %s is shown: %v, want %v: %s", grants, word, !want, want, shown)
				}
			}
			if after, _ := json.Marshal(stored); string(after) != string(before) {
				t.Errorf("the stored job became %s", after)
			}
			// What comes back as it was shown keeps what is stored.
			var back job.Job
			if err := json.Unmarshal(shown, &back); err != nil {
				t.Fatal(err)
			}
			back.Description = "edited"
			kept, err := Restored(by, &stored, back)
			want := stored
			want.Description = "edited"
			if err != nil || !cmp.Equal(mustJSON(kept), mustJSON(want)) {
				t.Errorf("with %v, %s came back as %s: %v", grants, before, mustJSON(kept), err)
			}
		}
	}
}

func mustJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func TestWhatOneHasNoGrantForIsNotSet(t *testing.T) {
	t.Parallel()
	stored := jobWith(t, secretTasks[0])
	blind, reader := seeing(), seeing(rights.Params, rights.Scripts)
	for _, c := range []struct {
		by     rights.List
		was    *job.Job
		wish   string
		denied rights.Grant // empty: it may be set
	}{
		{blind, &stored, `{"job":"billing/x","task":{"shell":"env"}}`, rights.Scripts},
		{blind, &stored, `{"job":"billing/x","task":{"shell":"(hidden)","stdin":"x"}}`, rights.Scripts},
		{blind, &stored, `{"job":"billing/x","task":{"command":["(hidden)"]}}`, rights.Scripts},
		{blind, &stored, `{"job":"billing/x","task":{"handler":"h"},"params":1}`, rights.Params},
		{blind, &stored, `{"job":"billing/x","task":{"shell":"(hidden)","stdin":"(hidden)","env":{"A":"new"}}}`, rights.Secrets},
		{blind, &stored, `{"job":"billing/x","task":{"shell":"(hidden)","stdin":"(hidden)","env":{"B":"(hidden)"}}}`, rights.Secrets},
		{blind, &stored, `{"job":"billing/x","task":{"handler":"h"}}`, ""},
		{blind, nil, `{"job":"billing/new","task":{"shell":"env"}}`, rights.Scripts},
		{blind, nil, `{"job":"billing/new","task":{"handler":"h"},"params":1}`, rights.Params},
		{blind, nil, `{"job":"billing/new","task":{"handler":"h"}}`, ""},
		{reader, &stored, `{"job":"billing/x","task":{"shell":"env","env":{"A":"new"}}}`, rights.Secrets},
		{reader, &stored, `{"job":"billing/x","task":{"http":{"url":"https://example.org","auth":{"bearer":"(hidden)"}}}}`, rights.Secrets},
		{reader, &stored, `{"job":"billing/x","task":{"shell":"env","env":{"A":"(hidden)"}},"params":1}`, ""},
	} {
		wish, err := job.Decode([]byte(c.wish))
		if err != nil {
			t.Fatal(err)
		}
		kept, err := Restored(c.by, c.was, wish)
		switch {
		case c.denied == "" && (err != nil || strings.Contains(mustJSON(kept.Task), Hidden)):
			t.Errorf("%s: %v, %s", c.wish, err, mustJSON(kept))
		case c.denied != "" && (!errors.Is(err, problem.ErrForbidden) || !strings.Contains(err.Error(), "grant "+string(c.denied))):
			t.Errorf("%s: %v, want a refusal that names the grant %s", c.wish, err, c.denied)
		}
	}
}

func TestWhatOneHasNoGrantForIsNotSetInStepsOrMovedBetweenThem(t *testing.T) {
	t.Parallel()
	stored := workflowWith(t, secretTasks[0])
	blind, reader := seeing(), seeing(rights.Params, rights.Scripts)
	const first = `{"job":"billing/x","steps":[{"step":"a","task":{"handler":"first"}}`
	for _, c := range []struct {
		by     rights.List
		wish   string
		denied string // empty: it may be set
	}{
		{blind, first + `,{"step":"b","task":{"shell":"env"}}]}`, "steps[1].task"},
		{blind, first + `,{"step":"c","task":{"shell":"(hidden)","stdin":"(hidden)"}}]}`, "steps[1].task"},
		{blind, first + `,{"step":"c","params":"(hidden)","task":{"handler":"h"}}]}`, "steps[1].params"},
		{blind, first + `,{"step":"b","task":{"shell":"(hidden)","stdin":"(hidden)","env":{"A":"new"}}}]}`, "steps[1].task.env.A"},
		{blind, first + `],"result":"${params}"}`, "result"},
		{blind, first + `,{"step":"c","task":{"handler":"h"}}]}`, ""},
		{reader, first + `,{"step":"c","task":{"shell":"env","env":{"A":"(hidden)"}}}]}`, "steps[1].task.env.A"},
		{reader, first + `,{"step":"b","task":{"shell":"env","env":{"A":"(hidden)"}}}]}`, ""},
		{reader, `{"job":"billing/x","task":{"shell":"env","env":{"A":"(hidden)"}}}`, "task.env.A"},
	} {
		wish, err := job.Decode([]byte(c.wish))
		if err != nil {
			t.Fatal(err)
		}
		kept, err := Restored(c.by, &stored, wish)
		switch {
		case c.denied == "" && (err != nil || strings.Contains(mustJSON(kept), Hidden)):
			t.Errorf("%s: %v, %s", c.wish, err, mustJSON(kept))
		case c.denied != "" && (!errors.Is(err, problem.ErrForbidden) || !strings.Contains(err.Error(), c.denied+" ")):
			t.Errorf("%s: %v, want a refusal that names %s", c.wish, err, c.denied)
		}
	}
}

func TestChangesHideWhatTheJobHides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field string
		needs rights.Grant
	}{
		{"params", rights.Params},
		{"task.shell", rights.Scripts},
		{"task.http.url", rights.Scripts},
		{"task.http.auth.password", rights.Secrets},
		{"task.env.A", rights.Secrets},
		{"schedule.cron", ""},
		{"result", rights.Params},
		{"steps.load.params", rights.Params},
		{"steps.load.task.shell", rights.Scripts},
		{"steps.load.task.http.auth.password", rights.Secrets},
		{"steps.load.task.env.A", rights.Secrets},
		{"steps.load.timeout", ""},
		{"steps.params.timeout", ""},
	} {
		for _, grant := range []rights.Grant{rights.Params, rights.Scripts, rights.Secrets, rights.Logs} {
			changes := []api.FieldChange{{Field: c.field, From: "a", To: "b"}}
			HideChanges(seeing(grant), "billing", changes)
			if hidden := changes[0].From == Hidden && changes[0].To == Hidden; hidden != (c.needs != "" && c.needs != grant) {
				t.Errorf("%s with %s alone is %v", c.field, grant, changes[0])
			}
		}
	}
}
