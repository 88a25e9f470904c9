package access

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/trail"
)

// HideEntry hides in an entry what somebody has no grant for.
func HideEntry(access rights.List, e *trail.Entry) {
	for i := range e.Changes {
		c := &e.Changes[i]
		hideChange(access, e.Group, c.Field, &c.From, &c.To)
	}
}

// Hidden stands where a document has something that the caller has no grant for. A
// document that comes back with it keeps what is stored there.
const Hidden = "(hidden)"

// ofDocuments are the grants without which a document has something hidden.
var ofDocuments = []rights.Grant{rights.Logs, rights.Params, rights.Scripts, rights.Secrets}

// SeesAll reports whether nothing of any document is hidden from somebody.
func SeesAll(access rights.List) bool {
	for _, g := range ofDocuments {
		if !access.Sees(g, rights.Everywhere) {
			return false
		}
	}
	return true
}

// HideChanges hides in a list of changes what HiddenJob hides in the documents.
func HideChanges(access rights.List, group string, changes []api.FieldChange) {
	for i := range changes {
		c := &changes[i]
		hideChange(access, group, c.Field, &c.From, &c.To)
	}
}

// hideChange hides what a field was and is, if somebody has no grant for it.
func hideChange(access rights.List, group, field string, from, to *any) {
	if rest, ofStep := strings.CutPrefix(field, "steps."); ofStep { // and the name of the step
		_, field, _ = strings.Cut(rest, ".")
	}
	params := field == "params" || field == "result"
	secret := strings.HasPrefix(field, "task.env") || strings.HasPrefix(field, "task.http.auth")
	task := strings.HasPrefix(field, "task.")
	if params && !access.Sees(rights.Params, group) || secret && !access.Sees(rights.Secrets, group) || task && !secret && !access.Sees(rights.Scripts, group) {
		*from, *to = Hidden, Hidden
	}
}

// HiddenJob returns a job as somebody may see it. It shares nothing with j that it
// changes.
func HiddenJob(access rights.List, j job.Job) job.Job {
	group := j.Job.Group()
	j.Params, j.Result = hiddenParams(access, group, j.Params), hiddenParams(access, group, j.Result)
	j.Task = hiddenTask(access, group, j.Task)
	j.Steps = slices.Clone(j.Steps)
	for i := range j.Steps {
		s := &j.Steps[i]
		s.Params, s.Task = hiddenParams(access, group, s.Params), hiddenTask(access, group, s.Task)
	}
	return j
}

// hiddenParams returns parameters, or what a run returns, as somebody may see them.
func hiddenParams(access rights.List, group string, params json.RawMessage) json.RawMessage {
	if len(params) > 0 && !access.Sees(rights.Params, group) {
		params, _ = json.Marshal(Hidden) // a constant
	}
	return params
}

// hiddenTask returns a task as somebody may see it.
func hiddenTask(access rights.List, group string, of job.Task) job.Task {
	t := of
	if !access.Sees(rights.Secrets, group) {
		t.Env = HiddenValues(t.Env)
		if t.HTTP != nil && t.HTTP.Auth != (job.HTTPAuth{}) {
			request := *t.HTTP
			request.Auth = job.HTTPAuth{Bearer: Hidden}
			t.HTTP = &request
		}
	}
	if !access.Sees(rights.Scripts, group) {
		t = job.Task{Handler: t.Handler, Shell: hiddenText(t.Shell), Stdin: hiddenText(t.Stdin), Dir: t.Dir, Env: t.Env, Secrets: t.Secrets}
		switch {
		case len(of.Command) > 0:
			t.Command = []string{Hidden}
		case of.HTTP != nil:
			t.HTTP = &job.HTTP{Method: of.HTTP.Method, URL: "https://hidden.invalid"}
		case of.Script != nil:
			t.Script = &job.Script{Language: of.Script.Language, Source: Hidden}
		}
	}
	return t
}

func hiddenText(s string) string {
	if s == "" {
		return ""
	}
	return Hidden
}

// HiddenValues returns names without their values.
func HiddenValues(env map[string]string) map[string]string {
	if env == nil {
		return nil
	}
	out := make(map[string]string, len(env))
	for k := range env {
		out[k] = Hidden
	}
	return out
}
