package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// CheckJob checks a job that is about to be saved against what is known of its handlers,
// and of its group's executors. The error says what is wrong with its parameters; a task
// that nobody does is only worth a warning, for its executor may not have been started yet.
func (v *View) CheckJob(ctx context.Context, j *job.Job) (warnings []api.FieldError, err error) {
	return v.checkJob(ctx, j, v.present())
}

// Warnings returns the warnings about a stored job: no executor does such tasks, or its
// parameters do not suit its handlers any more. It leaves out what cannot be checked
// now.
func (v *View) Warnings(ctx context.Context, j *job.Job) []api.FieldError {
	warnings, err := v.checkJob(ctx, j, v.lately())
	for _, p := range job.Problems(err) {
		warnings = append(warnings, api.FieldError{Field: p.Field, Reason: reason.Text(p.Reason)})
	}
	return warnings
}

func (v *View) checkJob(ctx context.Context, j *job.Job, by executors) (warnings []api.FieldError, err error) {
	if j.Elsewhere() { // which needs no executor
		return nil, nil
	}
	c := check{v: v, by: by, group: j.Job.Group(), handlers: map[string]*bus.Handler{}, effort: newEffort()}
	if c.instances, err = by.instances(ctx); err != nil {
		return nil, err
	}
	if !manned(c.instances, c.group) {
		warnings = append(warnings, api.FieldError{Field: "job", Reason: reason.Text(refusal.GroupWaits.With(c.group))})
	}
	warned := map[reason.Text]bool{} // many steps may have the same handler
	for field, task := range j.Tasks() {
		found, err := c.task(ctx, field, task)
		if err != nil {
			return nil, err
		}
		for _, w := range found {
			if !warned[w.Reason] {
				warned[w.Reason] = true
				warnings = append(warnings, w)
			}
		}
	}
	found, err := c.results(ctx, j)
	if err != nil {
		return nil, err
	}
	return append(warnings, found...), errors.Join(fitOwn(j.ParamsSchema, j.Params), c.params(ctx, j))
}

// CheckGiven checks the parameters that a run of a job is given against the job's schema, and those of the
// handlers that get them as they are. Without any, the job's own count, or none. The error has an *InvalidError
// for each thing that is wrong.
func (v *View) CheckGiven(ctx context.Context, j *job.Job, params json.RawMessage) error {
	return errors.Join(fitOwn(j.ParamsSchema, either(params, j.Params, []byte("{}"))), v.checkHandlers(ctx, j, params))
}

// either returns the first parameters that there are.
func either(params ...json.RawMessage) json.RawMessage {
	return params[slices.IndexFunc(params, func(p json.RawMessage) bool { return len(p) > 0 })]
}

// checkHandlers checks the parameters that a run of a job is given against the schemas of its handlers.
func (v *View) checkHandlers(ctx context.Context, j *job.Job, params json.RawMessage) error {
	c := check{v: v, group: j.Job.Group(), handlers: map[string]*bus.Handler{}, effort: newEffort()}
	with := *j
	with.Params = params
	with.Steps = slices.Clone(j.Steps)
	with.Steps = slices.DeleteFunc(with.Steps, func(s job.Step) bool { return len(s.Params) > 0 })
	if len(j.Steps) > 0 && len(with.Steps) == 0 {
		return nil
	}
	return c.params(ctx, &with)
}

// check is a look at one job.
type check struct {
	v         *View
	by        executors
	group     string
	instances []fleet.Instance
	handlers  map[string]*bus.Handler // that have been looked up; nil for one that was not announced
	all       []api.HandlerItem       // of the group, once they have been listed
	listed    bool
	effort    *effort
}

// list returns the handlers of the group.
func (c *check) list(ctx context.Context) (all []api.HandlerItem, err error) {
	if !c.listed {
		if c.all, err = c.by.handlersOf(ctx, c.group); err != nil {
			return nil, err
		}
		c.listed = true
	}
	return c.all, nil
}

// handler returns what a handler was announced with, nil if it was not.
func (c *check) handler(ctx context.Context, name string) (*bus.Handler, error) {
	known, looked := c.handlers[name]
	if looked {
		return known, nil
	}
	known, err := c.v.conn.Instances().Handler(ctx, c.group, name)
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return nil, err
	}
	if err != nil {
		known = nil
	}
	c.handlers[name] = known
	return known, nil
}

// task warns of a task that nobody does.
func (c *check) task(ctx context.Context, field string, task *job.Task) ([]api.FieldError, error) {
	if task.Handler == "" {
		return c.kind(field, task), nil
	}
	announced, err := c.handler(ctx, task.Handler)
	if err != nil || announced != nil || slices.ContainsFunc(c.instances, func(i fleet.Instance) bool { return i.Group == c.group && i.Can(task) }) {
		return nil, err
	}
	known, err := c.list(ctx)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, k := range known {
		if k.Handler == task.Handler {
			return nil, nil
		}
		names = append(names, k.Handler)
	}
	if len(names) == 0 {
		names = []string{"none"}
	}
	return []api.FieldError{{Field: field + ".handler", Reason: reason.Text(refusal.HandlerUnknown.With(task.Handler, c.group, strings.Join(names, ", ")))}}, nil
}

// kind warns of a task of a kind that none of the group's live instances does. A
// group without live instances gets no warning: its runs wait.
func (c *check) kind(field string, task *job.Task) []api.FieldError {
	kinds := map[string]bool{}
	alive := false
	for _, i := range c.instances {
		if i.Group != c.group || !i.Alive() {
			continue
		}
		if alive = true; i.Can(task) {
			return nil
		}
		for _, k := range i.Kinds {
			kinds[k] = true
		}
	}
	if !alive {
		return nil
	}
	return []api.FieldError{{Field: field, Reason: reason.Text(refusal.KindUndone.With(c.group, task.Kind(), strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")))}}
}

// params checks the parameters of a job, and of those of its steps whose parameters are known before a run, against
// the schemas that their handlers were announced with.
func (c *check) params(ctx context.Context, j *job.Job) error {
	if len(j.Steps) == 0 {
		return c.fit(ctx, "params", j.Task.Handler, j.Params)
	}
	var errs []error
	checked := map[string]bool{} // handlers that get the parameters of the job
	for i := range j.Steps {
		s := &j.Steps[i]
		field, params := "steps["+strconv.Itoa(i)+"].params", s.Params
		if len(params) == 0 {
			if checked[s.Task.Handler] {
				continue
			}
			checked[s.Task.Handler] = true
			field, params = "params", j.Params
		} else if refs, err := workflow.References(params); err != nil || len(refs) > 0 {
			continue
		}
		errs = append(errs, c.fit(ctx, field, s.Task.Handler, params))
	}
	return errors.Join(errs...)
}

// fit checks the parameters in a field against the schema of a handler.
func (c *check) fit(ctx context.Context, field, name string, params json.RawMessage) error {
	if name == "" || len(params) == 0 {
		return nil
	}
	known, err := c.handler(ctx, name)
	if err != nil || known == nil || len(known.Params) == 0 {
		return err
	}
	schema, err := compile(known.Params, c.effort)
	if err != nil { // an executor's mistake is no reason to refuse jobs
		return nil //nolint:nilerr // as said
	}
	return schema.fit(field, "handler "+name, params)
}
