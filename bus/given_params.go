package bus

import (
	"encoding/json"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// GivenParams are parameters that a step gets in one of its rounds in the place of its own: Params are all of
// them, any JSON value, SetParams some fields of an object; null removes a field. They are taken as they are:
// no reference in them is replaced.
type GivenParams struct {
	Params    json.RawMessage            `json:"params,omitempty"`
	SetParams map[string]json.RawMessage `json:"set_params,omitempty"`
}

// Nothing reports whether the step gets its own.
func (g *GivenParams) Nothing() bool { return len(g.Params)+len(g.SetParams) == 0 }

// Size returns about how many bytes they have.
func (g *GivenParams) Size() int {
	n := len(g.Params)
	for name, v := range g.SetParams {
		n += len(name) + len(v) + len(`"":,`)
	}
	return n
}

// Of returns what the step gets whose own parameters are these. It returns false if fields of them are to be
// changed and they are no object.
func (g *GivenParams) Of(own json.RawMessage) (json.RawMessage, bool) {
	switch {
	case len(g.Params) > 0:
		return g.Params, true
	case len(g.SetParams) > 0:
		return job.ChangeParams(own, g.SetParams)
	}
	return own, true
}

// Validate returns an *InvalidError if they cannot be passed on.
func (g *GivenParams) Validate() error {
	switch n := g.Size(); {
	case len(g.Params) > 0 && len(g.SetParams) > 0:
		return job.Invalid("set_params", "does not go with params")
	case len(g.Params) > 0 && !json.Valid(g.Params):
		return job.Invalid("params", "must be JSON")
	case n > job.MaxParams:
		return &job.InvalidError{Field: "params", Reason: reason.TooManyBytes.With(n, job.MaxParams)}
	}
	return nil
}
