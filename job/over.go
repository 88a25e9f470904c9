package job

import (
	"fmt"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// Overs returns the reference to the list whose elements are the pieces of the step; ok is false if it has
// none. The error says why the text is no reference to a list.
func (m *Map) Overs() (of workflow.Reference, ok bool, err error) {
	if m == nil || m.Over == "" {
		return of, false, nil
	}
	of, err = workflow.ParseReference(m.Over)
	if err == nil && of.Root == workflow.Workflow {
		err = fmt.Errorf("%q is no list; name a result or a parameter", clip.Text(m.Over, maxQuoted))
	}
	return of, true, err
}

// InPieces reports whether the step is done in pieces, if it has a task. Its result is a list then.
func (s *Step) InPieces() bool { return s.Map != nil || s.Route == RouteBroadcast }

// Cut says in a few words into which pieces the step is cut, "" if it is not.
func (s *Step) Cut() string {
	switch {
	case !s.InPieces():
		return ""
	case s.Map == nil:
		return "on every instance"
	case s.Map.Over != "":
		return "for each of " + s.Map.Over
	case s.Map.Split:
		return "for each element of the list that it returns first"
	}
	return fmt.Sprintf("in %d pieces", s.Map.Pieces)
}

// checkOver reports why the list of the pieces of step i cannot be known when it begins.
func (j *Job) checkOver(g *workflow.Graph, reach *workflow.Reach, i int) []error {
	field := fmt.Sprintf("steps[%d].map.over", i)
	r, ok, err := j.Steps[i].Map.Overs()
	switch {
	case !ok || j.Steps[i].Call != "" || j.Steps[i].Wait != nil:
		return nil
	case err != nil:
		return []error{Invalid(field, "%s", err)}
	}
	if why := checkReference(g, r, func(r workflow.Reference, of int) string { return mayLook(g, reach, r, of, i) }); why != "" {
		return []error{Invalid(field, "%s", why)}
	}
	return nil
}
