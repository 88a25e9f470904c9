package access

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/exact"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/trail"
	"github.com/carillon-scheduler/carillon/webapi/problem"
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
	secret := strings.HasPrefix(field, "task.env") || strings.HasPrefix(field, "task.http.auth")
	task := strings.HasPrefix(field, "task.")
	if field == "params" && !access.Sees(rights.Params, group) || secret && !access.Sees(rights.Secrets, group) || task && !secret && !access.Sees(rights.Scripts, group) {
		*from, *to = Hidden, Hidden
	}
}

// HiddenJob returns a job as somebody may see it. It shares nothing with j that it
// changes.
func HiddenJob(access rights.List, j job.Job) job.Job {
	group := j.Job.Group()
	if len(j.Params) > 0 && !access.Sees(rights.Params, group) {
		j.Params, _ = json.Marshal(Hidden) // a constant
	}
	t := j.Task
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
		case len(j.Task.Command) > 0:
			t.Command = []string{Hidden}
		case j.Task.HTTP != nil:
			t.HTTP = &job.HTTP{Method: j.Task.HTTP.Method, URL: "https://hidden.invalid"}
		case j.Task.Script != nil:
			t.Script = &job.Script{Language: j.Task.Script.Language, Source: Hidden}
		}
	}
	j.Task = t
	return j
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

// Restored returns a document that somebody sends with what is stored where it has
// what they were shown in its place. The error is ErrForbidden if it changes, or for a
// new job sets, what they have no grant for. was is the stored job, nil if there is
// none.
func Restored(access rights.List, was *job.Job, wish job.Job) (job.Job, error) {
	group := wish.Job.Group()
	var before job.Job
	if was != nil {
		before = *was
	}
	shown := HiddenJob(access, before)
	denied := func(g rights.Grant, field string) error {
		return problem.Explain(problem.ErrForbidden, reason.NeedsGrantToChange.With(field, g, group))
	}
	if !access.Sees(rights.Params, group) {
		if len(wish.Params) > 0 && !exact.Same(wish.Params, shown.Params) {
			return wish, denied(rights.Params, "params")
		}
		wish.Params = before.Params
	}
	if !access.Sees(rights.Scripts, group) {
		switch {
		case was != nil && reflect.DeepEqual(withoutEnv(wish.Task), withoutEnv(shown.Task)):
			env := wish.Task.Env
			wish.Task = before.Task
			wish.Task.Env = env
		case wish.Task.Kind() != job.KindHandler:
			return wish, denied(rights.Scripts, "task")
		}
	}
	if !access.Sees(rights.Secrets, group) {
		env := make(map[string]string, len(wish.Task.Env))
		for k, v := range wish.Task.Env {
			old, known := before.Task.Env[k]
			if !known || v != Hidden {
				return wish, denied(rights.Secrets, "task.env."+k)
			}
			env[k] = old
		}
		if wish.Task.Env != nil {
			wish.Task.Env = env
		}
		if h := wish.Task.HTTP; h != nil && h.Auth != (job.HTTPAuth{}) && access.Sees(rights.Scripts, group) {
			if before.Task.HTTP == nil || h.Auth != shown.Task.HTTP.Auth {
				return wish, denied(rights.Secrets, "task.http.auth")
			}
			request := *h
			request.Auth = before.Task.HTTP.Auth
			wish.Task.HTTP = &request
		}
	}
	return wish, nil
}

// withoutEnv returns a task without what the grant for secrets is about: that is
// looked at by itself.
func withoutEnv(t job.Task) job.Task {
	t.Env = nil
	return t
}
