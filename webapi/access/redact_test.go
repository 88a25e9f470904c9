package access

import (
	"encoding/json"
	"errors"
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
		for _, task := range secretTasks {
			stored := jobWith(t, task)
			before, _ := json.Marshal(stored)
			shown, _ := json.Marshal(HiddenJob(by, stored))
			for grant, word := range words {
				// The sign-in of a request is part of the request, which is hidden as a whole.
				inHTTP := grant == rights.Secrets && stored.Task.HTTP != nil && !by.Sees(rights.Scripts, "billing")
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
