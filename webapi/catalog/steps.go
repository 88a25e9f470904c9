package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/internal/condition"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/exact"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// checkConditions refuses steps whose condition cannot be read, or looks at a step that may not have ended when
// it is judged. The rest of the job is valid.
func checkConditions(j *job.Job) error {
	g, problems := job.Graph(j.Steps)
	if len(problems) > 0 {
		return job.Invalid(problems[0].Field, "%s", problems[0].Reason)
	}
	var errs []error
	var reach *workflow.Reach
	for i := range j.Steps {
		if j.Steps[i].If == "" {
			continue
		}
		if reach == nil {
			reach = g.Reach()
		}
		if why := checkCondition(g, reach, i, j.Steps[i].If); why != "" {
			errs = append(errs, job.Invalid(fmt.Sprintf("steps[%d].if", i), "%s", why))
		}
	}
	return errors.Join(errs...)
}

// checkCondition says what is wrong with the condition of step i, "" for nothing.
func checkCondition(g *workflow.Graph, reach *workflow.Reach, i int, text string) string {
	c, err := condition.Parse(text)
	if err != nil {
		return err.Error()
	}
	for _, w := range c.Words() {
		if why := unknownStatus(w.Text); why != "" {
			return fmt.Sprintf("compares a status with %q at column %d, %s", w.Text, w.Column, why)
		}
	}
	s := g.Step(i)
	for _, name := range c.Steps() {
		what := "status." + name
		if slices.Contains(c.Results(), name) {
			what = "results." + name
		}
		of, known := g.Index(name)
		switch {
		case !known:
			return fmt.Sprintf("looks at %s, but %q is no step%s", what, name, meant(name, g))
		case !reach.Before(of, i):
			return fmt.Sprintf("looks at %s, but %s does not come before %s: add it to after", what, name, s.Name)
		case !reach.Ended(of, i):
			return fmt.Sprintf("looks at %s, which may not have ended when join: %s lets the step run", what, s.Join)
		}
	}
	return ""
}

// endings are the names of the states in which a step can have ended.
var endings = func() (names []string) {
	for _, s := range []workflow.State{
		workflow.Succeeded, workflow.Failed, workflow.TimedOut, workflow.Lost, workflow.Missed, workflow.Cancelled, workflow.Skipped,
	} {
		names = append(names, s.Word())
	}
	return names
}()

// unknownStatus says why no step that has ended has that status, "" if one may have.
func unknownStatus(name string) string {
	if slices.Contains(endings, name) {
		return ""
	}
	if near := exact.Nearest(name, endings); near != "" {
		return fmt.Sprintf("with which no step ends; did you mean %q?", near)
	}
	return "with which no step ends; steps end as " + strings.Join(endings, ", ")
}

// meant proposes the step that has nearly the name, if there is one.
func meant(name string, g *workflow.Graph) string {
	names := make([]string, g.Len())
	for i := range names {
		names[i] = g.Step(i).Name
	}
	slices.Sort(names)
	if near := exact.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
