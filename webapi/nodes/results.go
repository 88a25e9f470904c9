package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// results warns of references to fields that a step's result has not, as its handler was announced.
func (c *check) results(ctx context.Context, j *job.Job) (warnings []api.FieldError, err error) {
	steps := make(map[string]*job.Step, len(j.Steps))
	for i := range j.Steps {
		steps[j.Steps[i].Name] = &j.Steps[i]
	}
	look := func(field string, value json.RawMessage) error {
		refs, _ := workflow.References(value) // they can be read, or the job is refused
		for _, r := range refs {
			of := steps[r.Step]
			if r.Root != workflow.Results || of == nil || r.Optional || len(r.Path) == 0 {
				continue
			}
			if of.InPieces() {
				if r.Path[0].Field != "" {
					text := fmt.Sprintf("results.%s is the list of what its pieces return; write results.%s[0] for that of the first", r.Step, r.Step)
					warnings = append(warnings, api.FieldError{Field: field, Reason: reason.Text(text)})
				}
				continue
			}
			known, err := c.fieldsOf(ctx, of.Task.Handler)
			if err != nil {
				return err
			}
			if name := r.Path[0].Field; known != nil && name != "" && !slices.Contains(known, name) {
				text := fmt.Sprintf("results.%s has no field %s; it has %s", r.Step, name, strings.Join(known, ", "))
				warnings = append(warnings, api.FieldError{Field: field, Reason: reason.Text(text)})
			}
		}
		return nil
	}
	for i := range j.Steps {
		if err := look(fmt.Sprintf("steps[%d].params", i), j.Steps[i].Params); err != nil {
			return nil, err
		}
		if m := j.Steps[i].Map; m != nil {
			over, _ := json.Marshal(m.Over) //nolint:errchkjson // a text
			if err := look(fmt.Sprintf("steps[%d].map.over", i), over); err != nil {
				return nil, err
			}
		}
	}
	return warnings, look("result", j.Result)
}

// fieldsOf returns the fields that the result of a handler can have, sorted; nil if that is not known.
func (c *check) fieldsOf(ctx context.Context, handler string) ([]string, error) {
	if handler == "" {
		return nil, nil
	}
	announced, err := c.handler(ctx, handler)
	if err != nil || announced == nil {
		return nil, err
	}
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Additional json.RawMessage            `json:"additionalProperties"`
	}
	known := json.Unmarshal(announced.Result, &schema) == nil
	if !known || len(schema.Properties) == 0 || len(schema.Additional) > 0 && string(schema.Additional) != "false" {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(schema.Properties)), nil
}
