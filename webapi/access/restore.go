package access

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/exact"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// Restored returns a document that somebody sends with what is stored where it has
// what they were shown in its place. Steps are the same if their names are. The error is
// ErrForbidden if it changes, or for a new job or step sets, what they have no grant for.
// was is the stored job, nil if there is none.
func Restored(access rights.List, was *job.Job, wish job.Job) (_ job.Job, err error) {
	var before job.Job
	if was != nil {
		before = *was
	}
	r := restorer{access, wish.Job.Group()}
	if wish.Params, err = r.params("params", before.Params, wish.Params); err != nil {
		return wish, err
	}
	if wish.Result, err = r.params("result", before.Result, wish.Result); err != nil {
		return wish, err
	}
	if len(wish.Steps) == 0 {
		wish.Task, err = r.task("task", before.Task, wish.Task)
		return wish, err
	}
	wish.Steps, err = r.steps(before.Steps, wish.Steps)
	return wish, err
}

// restorer puts back into documents of a group what somebody may not see.
type restorer struct {
	access rights.List
	group  string
}

func (r restorer) denied(g rights.Grant, field string) error {
	return problem.Explain(problem.ErrForbidden, refusal.NeedsGrantToChange.With(field, g, r.group))
}

// steps returns steps with what is stored for those of the same names.
func (r restorer) steps(before, wish []job.Step) (_ []job.Step, err error) {
	stored := make(map[string]*job.Step, len(before))
	for i := range before {
		stored[before[i].Name] = &before[i]
	}
	whole := make([]job.Step, len(wish))
	for i, s := range wish {
		was := stored[s.Name]
		if was == nil {
			was = &job.Step{}
		}
		field := fmt.Sprintf("steps[%d].", i)
		if s.Params, err = r.params(field+"params", was.Params, s.Params); err != nil {
			return wish, err
		}
		if s.Task, err = r.task(field+"task", was.Task, s.Task); err != nil {
			return wish, err
		}
		whole[i] = s
	}
	return whole, nil
}

// params returns parameters, or those that are stored if the caller may not see them.
func (r restorer) params(field string, before, wish json.RawMessage) (json.RawMessage, error) {
	if r.access.Sees(rights.Params, r.group) {
		return wish, nil
	}
	if len(wish) > 0 && !exact.Same(wish, hiddenParams(r.access, r.group, before)) {
		return wish, r.denied(rights.Params, field)
	}
	return before, nil
}

// task returns a task with what is stored where the caller may not see it. before is
// zero if there was no such task.
func (r restorer) task(field string, before, wish job.Task) (job.Task, error) {
	shown := hiddenTask(r.access, r.group, before)
	if !r.access.Sees(rights.Scripts, r.group) {
		switch {
		case before.Kind() != "" && reflect.DeepEqual(withoutEnv(wish), withoutEnv(shown)):
			env := wish.Env
			wish = before
			wish.Env = env
		case wish.Kind() != job.KindHandler:
			return wish, r.denied(rights.Scripts, field)
		}
	}
	if r.access.Sees(rights.Secrets, r.group) {
		return wish, nil
	}
	env := make(map[string]string, len(wish.Env))
	for k, v := range wish.Env {
		old, known := before.Env[k]
		if !known || v != Hidden {
			return wish, r.denied(rights.Secrets, field+".env."+k)
		}
		env[k] = old
	}
	if wish.Env != nil {
		wish.Env = env
	}
	if h := wish.HTTP; h != nil && h.Auth != (job.HTTPAuth{}) && r.access.Sees(rights.Scripts, r.group) {
		if before.HTTP == nil || h.Auth != shown.HTTP.Auth {
			return wish, r.denied(rights.Secrets, field+".http.auth")
		}
		request := *h
		request.Auth = before.HTTP.Auth
		wish.HTTP = &request
	}
	return wish, nil
}

// withoutEnv returns a task without what the grant for secrets is about: that is
// looked at by itself.
func withoutEnv(t job.Task) job.Task {
	t.Env = nil
	return t
}
