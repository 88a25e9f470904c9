package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Bounds of a graph.
const (
	MaxSteps = 1000
	MaxEdges = 5000
	MaxName  = 63 // bytes
)

// Step is where a step stands in a graph: the part of its document that says when it runs.
type Step struct {
	// Name is what others call the step: a lower-case letter, and up to 62 of lower-case letters,
	// digits and '_'.
	Name string `json:"step"`
	// After lists the steps that it comes after. Without any it runs at the start.
	After Edges `json:"after,omitempty"`
	// Join says how many of the edges have to be met. Defaults to all.
	Join Join `json:"join,omitzero"`
	// Finally has the step run after all steps that are not finally ones, whatever became of them.
	Finally bool `json:"finally,omitempty"`
	// MayFail keeps a bad end of the step from being a bad end of the run. No edge is changed by it.
	MayFail bool `json:"may_fail,omitempty"`
	// Rerun says whether a step that succeeded is repeated because a descendant is. Defaults to no.
	Rerun Rerun `json:"rerun,omitempty"`
}

// Rerun says when a run that repeats another repeats a step that succeeded there.
type Rerun string

// RerunAlways repeats the step whenever one of its descendants is repeated.
const RerunAlways Rerun = "always"

// On says after which ends of its source an edge is met.
type On string

// The conditions of an edge.
const (
	OnSuccess On = "success" // the source succeeded
	OnFailure On = "failure" // it ended badly; see [State.EndedBadly]
	OnEnd     On = "end"     // either of both: it ran, and nobody cancelled it
	OnAlways  On = "always"  // it is final, whatever it is
)

// Known reports whether o is one of the conditions above.
func (o On) Known() bool {
	switch o {
	case OnSuccess, OnFailure, OnEnd, OnAlways:
		return true
	}
	return false
}

// Met reports whether an edge with this condition is met by a source that is final in state s.
func (o On) Met(s State) bool {
	switch o {
	case OnFailure:
		return s.EndedBadly()
	case OnEnd:
		return s.EndedWell() || s.EndedBadly()
	case OnAlways:
		return s.Final()
	case OnSuccess:
	}
	return s.EndedWell()
}

// Edge is a source of a step, and the ends of it that count.
type Edge struct {
	Step string `json:"step"`
	// On defaults to success.
	On On `json:"on,omitempty"`
}

// MarshalJSON writes the name alone if success is waited for.
func (e Edge) MarshalJSON() ([]byte, error) {
	if e.On == "" || e.On == OnSuccess {
		return json.Marshal(e.Step)
	}
	type plain Edge
	return json.Marshal(plain(e))
}

// UnmarshalJSON reads an object, or the name alone as text.
func (e *Edge) UnmarshalJSON(data []byte) error {
	*e = Edge{}
	switch data[0] {
	case '"':
		if err := json.Unmarshal(data, &e.Step); err != nil {
			return err
		}
	case '{':
		if err := e.unmarshalObject(data); err != nil {
			return err
		}
	default:
		return errors.New("must be the name of a step, or an object with step and on")
	}
	if e.On == "" {
		e.On = OnSuccess
	}
	return nil
}

// unmarshalObject reads an object. Some programs that write YAML take the word on for the truth value.
func (e *Edge) unmarshalObject(data []byte) error {
	type plain Edge
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode((*plain)(e))
	if err == nil {
		return nil
	}
	switch field, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); {
	case !unknown:
		return err
	case field == `"true"`:
		return errors.New(`is not a known field; write "on", in quotes`)
	default:
		return errors.New("is not a known field; there are step and on")
	}
}

// Edges are the sources of a step. In JSON, a single edge may be written without a list.
type Edges []Edge

// UnmarshalJSON reads a list of edges, or one edge.
func (e *Edges) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case 'n': // null
		*e = nil
		return nil
	case '[':
		type plain Edges
		return json.Unmarshal(data, (*plain)(e))
	}
	var one Edge
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	*e = Edges{one}
	return nil
}

// Join says how many edges of a step have to be met for it to run.
type Join struct {
	// Taken wants one met edge at least, and of the others only such as were skipped: the end of
	// branches of which not all were taken.
	Taken bool
	// Least is the number of edges that are enough; zero is all of them, unless Taken is set. The step
	// runs as soon as they are met.
	Least int
}

// String returns "all", "taken", "any", or the number.
func (j Join) String() string {
	switch {
	case j.Taken:
		return "taken"
	case j.Least == 1:
		return "any"
	case j.Least != 0:
		return strconv.Itoa(j.Least)
	}
	return "all"
}

// early reports whether the step may run before all of its sources are final.
func (j Join) early() bool { return j.Least != 0 }

// MarshalJSON writes the join as it is read.
func (j Join) MarshalJSON() ([]byte, error) {
	if j.Least > 1 {
		return []byte(strconv.Itoa(j.Least)), nil
	}
	return json.Marshal(j.String())
}

// UnmarshalJSON reads "all", "taken", "any", or a number.
func (j *Join) UnmarshalJSON(data []byte) error {
	*j = Join{}
	switch text := string(data); text {
	case `"all"`, "null":
	case `"taken"`:
		j.Taken = true
	case `"any"`:
		j.Least = 1
	default:
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("%.40s must be all, taken, any, or how many of after are enough", text)
		}
		j.Least = n
	}
	return nil
}
