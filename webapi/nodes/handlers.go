package nodes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/fleet"
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
func validateParams(field string, h *bus.Handler, params json.RawMessage) error {
	schema := compile(h.Params)
	if schema == nil {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(params))
	if err != nil {
		return job.Invalid(field, "is not JSON")
	}
	if n := beyondJudgement(value); n != "" {
		return job.Invalid(field, "must not have %s: handler %s has a schema, which judges numbers with at most four digits in their exponents", clip.Text(n, 40), h.Handler)
	}
	if wrong, isWrong := errors.AsType[*jsonschema.ValidationError](schema.Validate(value)); isWrong {
		return errors.Join(leaves(wrong, field, h.Handler)...)
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
func leaves(e *jsonschema.ValidationError, field, handler string) []error {
	if len(e.Causes) == 0 {
		english := message.NewPrinter(language.English)
		return []error{job.Invalid(pathOf(field, e.InstanceLocation), "does not fit handler %s: %s", handler, e.ErrorKind.LocalizedString(english))}
	}
	var errs []error
	for _, cause := range e.Causes {
		errs = append(errs, leaves(cause, field, handler)...)
	}
	return errs
}

// pathOf returns a place in the parameters of a field as fields are named elsewhere.
func pathOf(field string, location []string) string {
	var path strings.Builder
	path.WriteString(field)
	for _, part := range location {
		if _, err := strconv.Atoi(part); err == nil {
			path.WriteString("[" + part + "]")
		} else {
			path.WriteString("." + part)
		}
	}
	return path.String()
}
