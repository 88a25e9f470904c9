package job

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// When says after which end of a parent's run a child runs.
type When string

// When a child runs.
const (
	OnSuccess When = "success" // it succeeded
	OnFailure When = "failure" // it failed, timed out or was lost, and is not tried again
	OnEnd     When = "end"     // either; not when somebody cancelled it
)

// Bounds of children.
const (
	MaxChildren = 32
	// MaxChain is how many parents a run may have above it. Cycles are refused when jobs
	// are saved; this stops one that two people saved at the same moment.
	MaxChain = 100
	// MaxCalls is how many calls of workflows may lead to a run, for the same reason.
	MaxCalls = 8
)

// Child is a job that runs after this one. In JSON it may also be written as the name
// alone.
type Child struct {
	Job Name `json:"job"`
	// On defaults to success.
	On When `json:"on,omitempty"`
	// PassResult gives the child what the parent returned as its parameters.
	PassResult bool `json:"pass_result,omitempty"`
}

// UnmarshalJSON reads an object, or the name alone as text.
func (c *Child) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, &c.Job)
	}
	type plain Child
	return decodeWithin("children", data, (*plain)(c))
}

// Wants reports whether the child runs after a parent's run that ended so.
func (c Child) Wants(s Status) bool {
	switch c.On {
	case OnFailure:
		return s == StatusFailed || s == StatusTimedOut || s == StatusLost
	case OnEnd:
		return s != StatusCancelled && s != StatusSkipped && s != StatusMissed
	case OnSuccess:
	}
	return s == StatusSucceeded
}

func (j Job) withDefaultChildren() []Child {
	children := slices.Clone(j.Children)
	for i := range children {
		if children[i].On == "" {
			children[i].On = OnSuccess
		}
	}
	return children
}

func (j Job) validateChildren() []error {
	var errs []error
	if len(j.Children) > MaxChildren {
		errs = append(errs, Invalid("children", "has %d; at most %d are allowed", len(j.Children), MaxChildren))
	}
	seen := map[Name]bool{}
	for i, c := range j.Children {
		field := fmt.Sprintf("children[%d]", i)
		if _, err := ParseName(string(c.Job)); err != nil {
			errs = append(errs, Invalid(field+".job", "%q must be group/name", clip.Text(string(c.Job), maxQuoted)))
		}
		if c.Job == j.Job {
			errs = append(errs, Invalid(field+".job", "is the job itself; a fixed_delay schedule repeats a job"))
		}
		if seen[c.Job] {
			errs = append(errs, Invalid(field+".job", "%q is listed twice", clip.Text(string(c.Job), maxQuoted)))
		}
		seen[c.Job] = true
		switch c.On {
		case OnSuccess, OnFailure, OnEnd, "":
		default:
			errs = append(errs, Invalid(field+".on", "%q must be success, failure or end", clip.Text(string(c.On), maxQuoted)))
		}
	}
	return errs
}

// Followers returns the jobs of which runs begin because of those of j: its children, and those that its steps call.
func (j *Job) Followers() []Name {
	var names []Name
	for _, c := range j.Children {
		names = append(names, c.Job)
	}
	for i := range j.Steps {
		if called := j.Steps[i].Call; called != "" {
			names = append(names, called)
		}
	}
	return names
}

// RefuseCycle returns an *[InvalidError] for field "children" or "steps" if there is a cycle, as
// [Job.Cycle] looks for one, that says along which jobs it leads.
func (j Job) RefuseCycle(followers func(Name) []Name) error {
	cycle := j.Cycle(followers)
	if cycle == nil {
		return nil
	}
	names := make([]string, len(cycle))
	for i, name := range cycle {
		names[i] = string(name)
	}
	field := "steps"
	if slices.ContainsFunc(j.Children, func(c Child) bool { return c.Job == cycle[1] }) {
		field = "children"
	}
	return Invalid(field, "lead back to the job itself: %s", strings.Join(names, " → "))
}

// Cycle looks for a way from a job back to itself along [Job.Followers]. followers returns
// those of a stored job; for j itself its own are taken. It returns the names along
// the cycle, beginning and ending with j's, or nil.
func (j Job) Cycle(followers func(Name) []Name) []Name {
	seen := map[Name]bool{}
	var walk func(path []Name, of []Name) []Name
	walk = func(path []Name, of []Name) []Name {
		for _, name := range of {
			if name == j.Job {
				return append(slices.Clone(path), name)
			}
			if seen[name] {
				continue
			}
			seen[name] = true
			if found := walk(append(path, name), followers(name)); found != nil {
				return found
			}
		}
		return nil
	}
	return walk([]Name{j.Job}, j.Followers())
}
