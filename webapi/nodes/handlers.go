package nodes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/fleet"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// executors is what is known of executors.
type executors struct {
	instances func(context.Context) ([]fleet.Instance, error)
	// announced returns the handlers of a group that have been announced.
	announced func(ctx context.Context, group string) ([]bus.Handler, error)
}

// present is what the bus knows.
func (v *View) present() executors {
	return executors{
		instances: func(ctx context.Context) ([]fleet.Instance, error) {
			known, err := v.conn.Instances().FleetNow(ctx)
			return known.Instances, err
		},
		announced: v.conn.Instances().Handlers,
	}
}

// lately is what was known a second ago, of live instances alone.
func (v *View) lately() executors {
	return executors{
		instances: func(ctx context.Context) ([]fleet.Instance, error) {
			known, err := v.call(ctx)
			return known.Instances, err
		},
		announced: func(context.Context, string) ([]bus.Handler, error) { return nil, nil },
	}
}

// Handlers returns what is known of a group's handlers, by name.
func (v *View) Handlers(ctx context.Context, group string) ([]api.HandlerItem, error) {
	return v.present().handlersOf(ctx, group)
}

// handlersOf returns what is known of a group's handlers, by name: those that have been
// announced, with the instances that have them now, and those of executors that only
// name them in their heartbeats.
func (e executors) handlersOf(ctx context.Context, group string) ([]api.HandlerItem, error) {
	announced, err := e.announced(ctx, group)
	if err != nil {
		return nil, err
	}
	instances, err := e.instances(ctx)
	if err != nil {
		return nil, err
	}
	items := map[string]*api.HandlerItem{}
	for _, a := range announced {
		items[a.Handler] = &api.HandlerItem{
			Handler: a.Handler, Description: a.Description, ParamsSchema: a.Params, Version: a.Version, AnnouncedAt: a.At, Instances: []string{},
		}
	}
	for _, i := range instances {
		if i.Group != group {
			continue
		}
		for _, name := range i.Handlers {
			if name == fleet.AnyHandler { // it does not know the names
				continue
			}
			if items[name] == nil {
				items[name] = &api.HandlerItem{Handler: name}
			}
			items[name].Instances = append(items[name].Instances, i.Instance)
		}
	}
	list := make([]api.HandlerItem, 0, len(items))
	for _, item := range items {
		slices.Sort(item.Instances)
		list = append(list, *item)
	}
	slices.SortFunc(list, func(a, b api.HandlerItem) int { return strings.Compare(a.Handler, b.Handler) })
	return list, nil
}

// CheckJob checks a job that is about to be saved, as checkHandler does.
func (v *View) CheckJob(ctx context.Context, j *job.Job) (warnings []api.FieldError, err error) {
	return v.checkHandler(ctx, j, v.present())
}

// checkHandler checks a job that is about to be saved against what is known of its
// handler, and of its group's executors. The error says what is wrong with its
// parameters; a task that nobody does is only worth a warning, for its executor may not
// have been started yet.
func (v *View) checkHandler(ctx context.Context, j *job.Job, by executors) (warnings []api.FieldError, err error) {
	instances, err := by.instances(ctx)
	if err != nil {
		return nil, err
	}
	if !manned(instances, j.Job.Group()) {
		warnings = append(warnings, api.FieldError{Field: "job", Reason: reason.Text(reason.GroupWaits.With(j.Job.Group()))})
	}
	if j.Task.Handler == "" {
		return append(warnings, checkKind(instances, j)...), nil
	}
	err = v.CheckParams(ctx, j.Job.Group(), j.Task.Handler, j.Params)
	if !errors.Is(err, job.ErrNotFound) {
		return warnings, err
	}
	if slices.ContainsFunc(instances, func(i fleet.Instance) bool { return i.Group == j.Job.Group() && i.Can(&j.Task) }) {
		return warnings, nil
	}
	known, err := by.handlersOf(ctx, j.Job.Group())
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, k := range known {
		if k.Handler == j.Task.Handler {
			return warnings, nil
		}
		names = append(names, k.Handler)
	}
	if len(names) == 0 {
		names = []string{"none"}
	}
	return append(warnings, api.FieldError{Field: "task.handler", Reason: reason.Text(reason.HandlerUnknown.With(j.Task.Handler, j.Job.Group(), strings.Join(names, ", ")))}), nil
}

// Warnings returns the warnings about a stored job: no executor does such tasks, or its
// parameters do not suit its handler any more. It leaves out what cannot be checked
// now.
func (v *View) Warnings(ctx context.Context, j *job.Job) []api.FieldError {
	warnings, err := v.checkHandler(ctx, j, v.lately())
	for _, p := range job.Problems(err) {
		warnings = append(warnings, api.FieldError{Field: p.Field, Reason: reason.Text(p.Reason)})
	}
	return warnings
}

// checkKind warns of a task of a kind that none of the group's live instances does. A
// group without live instances gets no warning: its runs wait.
func checkKind(instances []fleet.Instance, j *job.Job) []api.FieldError {
	kinds := map[string]bool{}
	alive := false
	for _, i := range instances {
		if i.Group != j.Job.Group() || !i.Alive() {
			continue
		}
		if alive = true; i.Can(&j.Task) {
			return nil
		}
		for _, k := range i.Kinds {
			kinds[k] = true
		}
	}
	if !alive {
		return nil
	}
	return []api.FieldError{{Field: "task", Reason: reason.Text(reason.KindUndone.With(j.Job.Group(), j.Task.Kind(), strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")))}}
}

// CheckParams checks parameters against the schema that a handler was announced with.
// The error is job.ErrNotFound when it was not announced, or has an *InvalidError for
// each thing that is wrong.
func (v *View) CheckParams(ctx context.Context, group, handler string, params json.RawMessage) error {
	known, err := v.conn.Instances().Handler(ctx, group, handler)
	if err != nil || len(known.Params) == 0 || len(params) == 0 {
		return err
	}
	if params, err = job.ParamsAt(params, time.Now(), time.UTC); err != nil { // as some run will have them
		return err
	}
	return validateParams(known, params)
}

// beyondJudgement returns a number in a value whose exponent is so large that the library for schemas
// would need long for it, or crash; "" if there is none.
func beyondJudgement(value any) string {
	switch v := value.(type) {
	case json.Number:
		if i := strings.IndexAny(string(v), "eE"); i >= 0 && len(strings.TrimLeft(string(v)[i+1:], "+-0")) > 4 {
			return string(v)
		}
	case []any:
		for _, part := range v {
			if n := beyondJudgement(part); n != "" {
				return n
			}
		}
	case map[string]any:
		for _, part := range v {
			if n := beyondJudgement(part); n != "" {
				return n
			}
		}
	}
	return ""
}

// validateParams has no error for a schema that cannot be used: an executor's mistake is
// no reason to refuse jobs.
func validateParams(h *bus.Handler, params json.RawMessage) error {
	schema := compile(h.Params)
	if schema == nil {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(params))
	if err != nil {
		return job.Invalid("params", "is not JSON")
	}
	if n := beyondJudgement(value); n != "" {
		return job.Invalid("params", "must not have %s: handler %s has a schema, which judges numbers with at most four digits in their exponents", clip.Text(n, 40), h.Handler)
	}
	if wrong, isWrong := errors.AsType[*jsonschema.ValidationError](schema.Validate(value)); isWrong {
		return errors.Join(leaves(wrong, h.Handler)...)
	}
	return nil
}

// compile returns nil for what is no schema.
func compile(text json.RawMessage) *jsonschema.Schema {
	const name = "params.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // a schema from the bus must not have anything fetched
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = c.AddResource(name, document)
	}
	if err != nil {
		return nil
	}
	schema, err := c.Compile(name)
	if err != nil {
		return nil
	}
	return schema
}

// leaves returns what is wrong at the ends of the tree of reasons.
func leaves(e *jsonschema.ValidationError, handler string) []error {
	if len(e.Causes) == 0 {
		english := message.NewPrinter(language.English)
		return []error{job.Invalid(pathOf(e.InstanceLocation), "does not fit handler %s: %s", handler, e.ErrorKind.LocalizedString(english))}
	}
	var errs []error
	for _, cause := range e.Causes {
		errs = append(errs, leaves(cause, handler)...)
	}
	return errs
}

// pathOf returns a place in the parameters as fields are named elsewhere.
func pathOf(location []string) string {
	var path strings.Builder
	path.WriteString("params")
	for _, part := range location {
		if _, err := strconv.Atoi(part); err == nil {
			path.WriteString("[" + part + "]")
		} else {
			path.WriteString("." + part)
		}
	}
	return path.String()
}
