package job

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/exact"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// Step is a step of a workflow: a task of the job's group, and when it is done. What it leaves out is
// taken from the job.
type Step struct {
	workflow.Step
	Title string `json:"title,omitempty"`
	// If is a condition on params, results and status. The step is skipped if it is false.
	If   string `json:"if,omitempty"`
	Task Task   `json:"task,omitzero"`
	// Call is the job, of any group, that the step runs in the place of a task. It gets Params in the place of
	// its own, if there are any. Timeout is then for the whole called run.
	Call Name `json:"call,omitempty"`
	// Wait is what the step waits for in the place of a task.
	Wait *Wait `json:"wait,omitempty"`
	// Params is any JSON value, in whose texts references are replaced; see [workflow.Reference].
	// Without it the step gets those of the run.
	Params   json.RawMessage `json:"params,omitempty"`
	Delivery Delivery        `json:"delivery,omitempty"`
	Route    Route           `json:"route,omitempty"`
	Labels   Labels          `json:"labels,omitzero"` // without any, they are those of the job
	Priority Priority        `json:"priority,omitempty"`
	Retry    *Retry          `json:"retry,omitempty"`
	// Map has the step done in pieces, as a job. AtOnce is how many pieces of a broadcast may be out at
	// once, SucceedsIf how many pieces have to succeed.
	Map        *Map  `json:"map,omitempty"`
	AtOnce     int   `json:"at_once,omitempty"`
	SucceedsIf Share `json:"succeeds_if,omitzero"`
	// StartWithin is how long the step may wait for a free instance. Zero is no limit, or
	// [FinallyLimit] in a finally step.
	StartWithin   Duration `json:"start_within,omitempty"`
	Timeout       Duration `json:"timeout,omitempty"`
	WarnAfter     Duration `json:"warn_after,omitempty"`
	KillGrace     Duration `json:"kill_grace,omitempty"`
	MaxDeliveries int      `json:"max_deliveries,omitempty"`
}

// Tasks yields each task of the job with its path in the document: "task", or one such as "steps[3].task".
// Steps that call a job or wait have none.
func (j *Job) Tasks() iter.Seq2[string, *Task] {
	return func(yield func(string, *Task) bool) {
		if len(j.Steps) == 0 {
			yield("task", &j.Task)
		}
		for i := range j.Steps {
			if j.Steps[i].HasTask() && !yield(fmt.Sprintf("steps[%d].task", i), &j.Steps[i].Task) {
				return
			}
		}
	}
}

// HasTask reports whether the step does a task, and neither calls a job nor waits.
func (s *Step) HasTask() bool { return s.Call == "" && s.Wait == nil }

// FinallyLimit is how long a finally step may wait for an instance, and how long an attempt of it may
// take, if neither the step nor its job says so. With it a run that is called off ends.
const FinallyLimit = Duration(time.Hour)

// FailurePolicy says what the first bad end of a step does to the other steps.
type FailurePolicy string

// What a bad end does. The end of a step that may fail does nothing.
const (
	FailureContinues FailurePolicy = "continue" // each goes by its edges
	FailureStops     FailurePolicy = "stop"     // those that have not begun are cancelled
	FailureCancels   FailurePolicy = "cancel"   // and those that have are killed
)

// Graph returns the graph of steps.
func Graph(steps []Step) (*workflow.Graph, []workflow.Problem) {
	places := make([]workflow.Step, len(steps))
	for i := range steps {
		places[i] = steps[i].Step
	}
	return workflow.New(places)
}

// Effective returns the step as a job of its own. What the step does not set is taken from j, unless the step calls
// another job, which has its own. One that waits has nothing but the name.
func (s *Step) Effective(j *Job) Job {
	if s.Wait != nil {
		return Job{Job: j.Job}
	}
	if s.Call != "" {
		of := Job{Job: j.Job, Timeout: s.Timeout, Params: s.Params}
		if s.Finally {
			of.Timeout = cmp.Or(of.Timeout, FinallyLimit)
		}
		return of
	}
	of := Job{
		Job: j.Job, Delivery: cmp.Or(s.Delivery, j.Delivery), Route: cmp.Or(s.Route, j.Route), Labels: s.Labels,
		Priority: cmp.Or(s.Priority, j.Priority), Retry: j.Retry, StartWithin: s.StartWithin, Timeout: cmp.Or(s.Timeout, j.Timeout),
		WarnAfter: cmp.Or(s.WarnAfter, j.WarnAfter), KillGrace: cmp.Or(s.KillGrace, j.KillGrace),
		MaxDeliveries: cmp.Or(s.MaxDeliveries, j.MaxDeliveries), Task: s.Task, Params: s.Params,
		Map: s.Map, AtOnce: s.AtOnce, SucceedsIf: s.SucceedsIf,
	}
	if s.Labels == nil {
		of.Labels = j.Labels
	}
	if s.Retry != nil {
		of.Retry = *s.Retry
	}
	of.Retry = of.Retry.withDefaults(of.Delivery)
	if s.Finally {
		of.StartWithin, of.Timeout = cmp.Or(of.StartWithin, FinallyLimit), cmp.Or(of.Timeout, FinallyLimit)
	}
	return of
}

// validateSteps reports what is wrong with the job as a workflow, or with fields that only workflows have.
func (j *Job) validateSteps() (errs []error) {
	if len(j.Steps) == 0 {
		if j.OnFailure != "" {
			errs = append(errs, Invalid("on_failure", "is for jobs with steps"))
		}
		if len(j.Result) > 0 {
			errs = append(errs, Invalid("result", "is for jobs with steps"))
		}
		if j.Map != nil && j.Map.Over != "" {
			errs = append(errs, Invalid("map.over", "is for steps of a workflow; a job can have map.split"))
		}
		return errs
	}
	errs = append(errs, j.refuseWithSteps()...)
	switch j.OnFailure {
	case FailureContinues, FailureStops, FailureCancels, "":
	default:
		errs = append(errs, Invalid("on_failure", "%q must be continue, stop or cancel", clip.Text(string(j.OnFailure), maxQuoted)))
	}
	g, problems := Graph(j.Steps)
	for _, p := range problems {
		errs = append(errs, Invalid(p.Field, "%s", p.Reason))
	}
	inherited := Problems(errors.Join(j.validateAttempts()...))
	for i := range j.Steps {
		errs = append(errs, j.validateStep(i, inherited)...)
	}
	if g == nil {
		return errs
	}
	reach := g.Reach()
	for i := range j.Steps {
		errs = append(errs, checkReferences(g, fmt.Sprintf("steps[%d].params", i), j.Steps[i].Params, func(r workflow.Reference, of int) string {
			return mayLook(g, reach, r, of, i)
		})...)
		if w := j.Steps[i].Wait; w != nil {
			for field, text := range w.Texts() {
				value, _ := json.Marshal(text)
				errs = append(errs, checkReferences(g, fmt.Sprintf("steps[%d].wait.%s", i, field), value, func(r workflow.Reference, of int) string {
					return mayLook(g, reach, r, of, i)
				})...)
			}
		}
		errs = append(errs, j.checkOver(g, reach, i)...)
		errs = append(errs, j.checkStops(g, i)...)
	}
	if len(j.Result) > MaxParams {
		errs = append(errs, Invalid("result", "has %d bytes; at most %d are passed on", len(j.Result), MaxParams))
	}
	return append(errs, checkReferences(g, "result", j.Result, func(workflow.Reference, int) string { return "" })...)
}

// refuseWithSteps names the fields that a job with steps cannot have.
func (j *Job) refuseWithSteps() (errs []error) {
	refuse := func(wrong bool, field, why string) {
		if wrong {
			errs = append(errs, Invalid(field, "%s", why))
		}
	}
	refuse(j.Task.Kind() != "", "task", "does not go with steps: each step has its own task")
	refuse(j.Map != nil, "map", "does not go with steps; a step may have one")
	refuse(j.SucceedsIf != 0, "succeeds_if", "does not go with steps; a step may have one, and one that may fail has may_fail")
	refuse(j.Route == RouteBroadcast, "route", "broadcast does not go with steps; a step may have it")
	refuse(j.Retry.DropStale, "retry.drop_stale", "does not go with steps: a run of them is not tried again as a whole")
	return errs
}

// validateStep reports what is wrong with step i beside its place in the graph, without what it has inherited
// from the job.
func (j *Job) validateStep(i int, inherited []*InvalidError) (errs []error) {
	if j.Steps[i].Wait != nil {
		return j.validateWait(i)
	}
	if j.Steps[i].Call != "" {
		return j.validateCall(i)
	}
	of := j.Steps[i].Effective(j)
	if of.Elsewhere() {
		return []error{Invalid(fmt.Sprintf("steps[%d].task.watch", i), "belongs to jobs only: call a job that is watched")}
	}
	if j.Route == RouteBroadcast { // which is refused already
		of.Route = j.Steps[i].Route
	}
	errs = append(errs, checkLine("title", j.Steps[i].Title, MaxTitle)...)
	errs = append(errs, of.validateAttempts()...)
	errs = append(errs, of.validatePieces()...)
	problems := Problems(errors.Join(errs...))
	errs = errs[:0]
	for _, p := range problems {
		if !slices.ContainsFunc(inherited, func(of *InvalidError) bool { return *of == *p }) {
			errs = append(errs, Invalid(fmt.Sprintf("steps[%d].%s", i, p.Field), "%s", p.Reason))
		}
	}
	return errs
}

// validateCall reports what is wrong with step i, which calls a job, beside its place in the graph.
func (j *Job) validateCall(i int) (errs []error) {
	s := &j.Steps[i]
	refuse := func(wrong bool, field, format string, args ...any) {
		if wrong {
			errs = append(errs, Invalid(fmt.Sprintf("steps[%d].%s", i, field), format, args...))
		}
	}
	for _, err := range Problems(errors.Join(checkLine("title", s.Title, MaxTitle)...)) {
		refuse(true, err.Field, "%s", err.Reason)
	}
	_, bad := ParseName(string(s.Call))
	refuse(bad != nil, "call", "%q must be group/name", clip.Text(string(s.Call), maxQuoted))
	refuse(s.Call == j.Job, "call", "is the job itself")
	refuse(s.Task.Kind() != "", "task", "does not go with call: a step has one of them")
	refuse(s.Timeout < 0, "timeout", "must not be negative")
	refuse(len(s.Params) > MaxParams, "params", "has %d bytes; at most %d are passed on", len(s.Params), MaxParams)
	for _, field := range s.ofTasks() {
		refuse(true, field, "does not go with call: the called job has its own")
	}
	return errs
}

// ofTasks returns which fields are set that go with tasks alone, sorted.
func (s *Step) ofTasks() (fields []string) {
	for field, set := range map[string]bool{
		"delivery": s.Delivery != "", "route": s.Route != "", "labels": s.Labels != nil, "priority": s.Priority != "", "retry": s.Retry != nil,
		"map": s.Map != nil, "at_once": s.AtOnce != 0, "succeeds_if": s.SucceedsIf != 0,
		"start_within": s.StartWithin != 0, "warn_after": s.WarnAfter != 0, "kill_grace": s.KillGrace != 0, "max_deliveries": s.MaxDeliveries != 0,
	} {
		if set {
			fields = append(fields, field)
		}
	}
	slices.Sort(fields)
	return fields
}

// checkStops refuses a step that waits for a bad end after which it could not begin.
func (j *Job) checkStops(g *workflow.Graph, i int) []error {
	if j.OnFailure != FailureStops && j.OnFailure != FailureCancels || j.Steps[i].Finally {
		return nil
	}
	for _, e := range j.Steps[i].After {
		if source, ok := g.Index(e.Step); ok && e.On == workflow.OnFailure && !j.Steps[source].MayFail {
			return []error{Invalid("on_failure", "%s never lets steps[%d] run, which waits for a failure: use continue", j.OnFailure, i)}
		}
	}
	return nil
}

// checkReferences checks each reference in a value. may says why a result must not be looked at, "" if it may.
func checkReferences(g *workflow.Graph, field string, value json.RawMessage, may func(r workflow.Reference, of int) string) (errs []error) {
	refs, err := workflow.References(value)
	if err != nil {
		return []error{Invalid(field, "%s", err)}
	}
	for _, r := range refs {
		if why := checkReference(g, r, may); why != "" {
			errs = append(errs, Invalid(field, "%s", why))
		}
	}
	return errs
}

// checkReference says why there is no such reference, or why it must not be looked at; "" if it may.
func checkReference(g *workflow.Graph, r workflow.Reference, may func(r workflow.Reference, of int) string) string {
	if r.Root != workflow.Results {
		return may(r, 0)
	}
	i, known := g.Index(r.Step)
	if known {
		return may(r, i)
	}
	why := fmt.Sprintf("names ${%s}, but %q is no step", r, r.Step)
	if near := exact.Nearest(r.Step, names(g)); near != "" {
		why = fmt.Sprintf("%s; did you mean %q?", why, near)
	}
	return why
}

// names returns the names of all steps, sorted.
func names(g *workflow.Graph) []string {
	all := map[string]bool{}
	for i := range g.Len() {
		all[g.Step(i).Name] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// mayLook says why step i may not have the reference, to the result of step of if it is to one; "" if it may.
func mayLook(g *workflow.Graph, reach *workflow.Reach, r workflow.Reference, of, i int) string {
	s := g.Step(i)
	switch {
	case r.Root == workflow.Workflow && r.Name == "status" && !s.Finally:
		return fmt.Sprintf("names ${%s}, which only finally steps know", r)
	case r.Root != workflow.Results:
		return ""
	case !reach.Before(of, i):
		return fmt.Sprintf("names ${%s}, but %s does not come before %s: add it to after", r, r.Step, s.Name)
	case !reach.Ended(of, i) && !r.Optional:
		return fmt.Sprintf("names ${%s}, which may not have ended when join lets the step run: write ${%s?} for null until then", r, r)
	}
	return ""
}
