package powerjob

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/internal/foreign"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// The types of node.
const (
	jobNode, decisionNode, nestedNode = 1, 2, 3
)

// Bounds of what is converted.
const (
	maxCondition = 1 << 10 // bytes
	maxWays      = 100     // that lead to a step
)

// decisionWait is how long a step waits for the handler that decides in the place of a script.
const decisionWait = 10 * time.Minute

// way is how a node is reached: from a step, or from the start if step is negative, while the condition holds.
type way struct {
	step      int
	condition string
}

// flow is a workflow while its graph is converted.
type flow struct {
	im    *importer
	e     *Entry
	nodes []node
	into  [][]edge // of each node
	at    map[number]int
	names map[int]string  // of the nodes that are steps
	taken map[string]bool // names of steps
	ways  map[int][]way
	// skippable are the steps that may be skipped.
	skippable map[int]bool
	err       error
}

// workflow makes a job of a workflow.
func (im *importer) workflow(w *workflowInfo) Entry {
	e := Entry{Workflow: true, ID: int64(w.ID), Title: w.WfName, Outcome: Imported, Origin: originOf("workflow", w.ID, w.WfName)}
	e.Job = im.base(&e, &w.about, im.workflows[w.ID], w.WfName, w.WfDescription)
	e.Job.Overlap, e.Job.OnFailure = overlapOf(1), job.FailureStops
	if w.MaxWfInstanceNum != nil {
		e.Job.Overlap = overlapOf(*w.MaxWfInstanceNum)
	}
	if e.Outcome != Imported {
		settle(&e)
		return e
	}
	g := w.PEWorkflowDAG
	if g == nil {
		g = w.DAG
	}
	if g == nil || len(g.Nodes) == 0 {
		e.leave(Broken, "peworkflowDAG has no nodes: write what /workflow/fetch answers into the file, which has them")
		return e
	}
	f := &flow{im: im, e: &e, nodes: g.Nodes, at: map[number]int{}, names: map[int]string{}, taken: map[string]bool{}, ways: map[int][]way{}, skippable: map[int]bool{}}
	order, err := f.order(g)
	if err != nil {
		e.leave(Broken, "%v", err)
		return e
	}
	for _, i := range order {
		f.convert(i)
		if f.err != nil {
			e.leave(Broken, "%v", f.err)
			return e
		}
	}
	if len(e.Job.Steps) == 0 {
		e.leave(Skipped, "all its nodes are disabled")
		return e
	}
	settle(&e)
	return e
}

// ownName is the name that a node has while edges are checked.
var ownName = regexp.MustCompile(`\bn\d+\b`)

// order checks the nodes and edges, and returns each node after those before it.
func (f *flow) order(g *graph) ([]int, error) {
	steps := make([]workflow.Step, len(g.Nodes))
	f.into = make([][]edge, len(g.Nodes))
	for i, n := range g.Nodes {
		if _, twice := f.at[n.NodeID]; twice {
			return nil, fmt.Errorf("nodes[%d].nodeId %d is that of another node", i, n.NodeID)
		}
		f.at[n.NodeID] = i
		steps[i].Name = "n" + strconv.Itoa(i)
		if n.JobID == 0 && n.WfID == 0 && n.NodeType != decisionNode {
			return nil, fmt.Errorf("nodes[%d].jobId is missing: write what /workflow/fetch answers into the file; /workflow/list leaves it out", i)
		}
		if n.NodeType < 0 || n.NodeType > nestedNode {
			return nil, fmt.Errorf("nodes[%d].nodeType %d is not known: 1 is a job, 2 a decision, 3 a workflow", i, n.NodeType)
		}
	}
	for k, e := range g.Edges {
		from, known := f.at[e.From]
		if !known {
			return nil, fmt.Errorf("edges[%d].from %d is no node", k, e.From)
		}
		to, known := f.at[e.To]
		if !known {
			return nil, fmt.Errorf("edges[%d].to %d is no node", k, e.To)
		}
		if slices.ContainsFunc(steps[to].After, func(a workflow.Edge) bool { return a.Step == steps[from].Name }) {
			continue
		}
		steps[to].After = append(steps[to].After, workflow.Edge{Step: steps[from].Name})
		f.into[to] = append(f.into[to], e)
	}
	sorted, problems := workflow.New(steps)
	if len(problems) > 0 {
		reason := ownName.ReplaceAllStringFunc(problems[0].Reason, func(name string) string {
			i, _ := strconv.Atoi(name[1:])
			return f.titleOf(&f.nodes[i])
		})
		return nil, fmt.Errorf("edges: the nodes %s", reason)
	}
	return sorted.Order(), nil
}

// disabled reports whether a node counts as done without being run.
func disabled(n *node) bool { return n.Enable != nil && !*n.Enable }

// convert makes a step of a node, unless it only leads on; then it is part of the ways of those after it.
func (f *flow) convert(i int) {
	n := &f.nodes[i]
	var ways []way
	for _, e := range f.into[i] {
		from := f.at[e.From]
		source := &f.nodes[from]
		switch _, isStep := f.names[from]; {
		case isStep && source.NodeType == decisionNode:
			ways = append(ways, way{from, field("results", f.names[from]) + " == " + branch(e)})
		case isStep:
			ways = append(ways, way{step: from})
		case source.NodeType == decisionNode && !disabled(source):
			ways = append(ways, f.through(from, e)...)
		default:
			ways = append(ways, f.waysOf(from)...)
		}
	}
	slices.SortFunc(ways, func(a, b way) int { return a.step - b.step })
	f.ways[i] = slices.Compact(ways)
	if len(f.ways[i]) > maxWays {
		f.err = fmt.Errorf("nodes[%d]: more than %d ways lead to it", i, maxWays)
		return
	}
	if disabled(n) {
		f.e.note("node %s is disabled and was left out", f.titleOf(n))
		return
	}
	if n.NodeType == decisionNode {
		if _, ok := f.condition(i); ok {
			return
		}
	}
	f.add(i)
}

// branch returns on which result of a decision an edge leads on.
func branch(e edge) string {
	return strconv.FormatBool(strings.EqualFold(strings.TrimSpace(e.Property), "true"))
}

// waysOf returns how a node that is no step is reached: at the start, if nothing comes before it.
func (f *flow) waysOf(i int) []way {
	if len(f.into[i]) == 0 {
		return []way{{step: -1}}
	}
	return f.ways[i]
}

// through returns the ways over an edge of a decision.
func (f *flow) through(decision int, e edge) []way {
	condition, _ := f.condition(decision)
	if branch(e) == "false" {
		condition = "!(" + condition + ")"
	}
	var ways []way
	for _, w := range f.waysOf(decision) {
		if w.condition != "" {
			w.condition = both(w.condition, condition)
		} else {
			w.condition = condition
		}
		if len(w.condition) > maxCondition {
			f.err = fmt.Errorf("nodes[%d]: the conditions up to here have %d bytes; at most %d are allowed", decision, len(w.condition), maxCondition)
			return nil
		}
		ways = append(ways, w)
	}
	return ways
}

func both(a, b string) string { return inParens(a) + " && " + inParens(b) }

func inParens(condition string) string {
	if strings.Contains(condition, "||") {
		return "(" + condition + ")"
	}
	return condition
}

// condition returns what the script of a decision says, if it only compares values that are known to come from one step,
// or from the parameters of the run.
func (f *flow) condition(decision int) (string, bool) {
	base, steps := "params", map[int]bool{}
	for _, w := range f.waysOf(decision) {
		if w.step >= 0 {
			steps[w.step], base = true, field("results", f.names[w.step])
		}
	}
	if len(steps) > 1 {
		return "", false
	}
	text, ok := translate(f.nodes[decision].NodeParams, base)
	return text, ok && len(text) <= maxCondition-len("!()")
}

func (f *flow) titleOf(n *node) string {
	if n.NodeName == "" {
		return strconv.FormatInt(int64(n.NodeID), 10)
	}
	return strconv.Quote(foreign.Line(n.NodeName, job.MaxTitle))
}

// nameFor takes a name for the step of a node.
func (f *flow) nameFor(n *node) string {
	name := strings.ReplaceAll(foreign.Slug(n.NodeName), "-", "_")
	id := fmt.Sprintf("_%d", n.NodeID)
	if name == "" || name[0] < 'a' {
		name = "node" + id
	}
	if f.taken[name] {
		f.e.note("node %s is step %s, since another step has the plain name", f.titleOf(n), name+id)
	}
	for f.taken[name] {
		name += id
	}
	f.taken[name] = true
	return name
}

// add makes a step of a node.
func (f *flow) add(i int) {
	n := &f.nodes[i]
	s := job.Step{Step: workflow.Step{Name: f.nameFor(n), MayFail: n.SkipWhenFailed != nil && *n.SkipWhenFailed}, Title: foreign.Line(n.NodeName, job.MaxTitle)}
	f.names[i] = s.Name
	f.follow(&s, f.ways[i], i)
	if len(s.If) > maxCondition {
		f.err = fmt.Errorf("nodes[%d]: its condition would have %d bytes; at most %d are allowed", i, len(s.If), maxCondition)
	}
	switch n.NodeType {
	case decisionNode:
		f.decide(&s, n)
	case nestedNode:
		s.Call = f.called(n, "workflow", f.im.workflows[nestedID(n)])
	default:
		name := f.im.jobs[n.JobID]
		if name == "" {
			name = f.im.titled[n.NodeName] // an export of a single job may lack its id
		}
		s.Call, s.Params = f.called(n, "job", name), foreign.Params(n.NodeParams)
	}
	f.e.Job.Steps = append(f.e.Job.Steps, s)
}

func nestedID(n *node) number {
	if n.WfID != 0 {
		return n.WfID
	}
	return n.JobID
}

// called returns the job that a node's step calls, which may be missing in the file.
func (f *flow) called(n *node, what string, name job.Name) job.Name {
	if name != "" {
		return name
	}
	id := n.JobID
	if what == "workflow" {
		id = nestedID(n)
	}
	plain := foreign.Slug(n.NodeName)
	if plain == "" || plain[0] < 'a' {
		plain = fmt.Sprintf("%s-%d", what, id)
	}
	name = job.Name(f.im.options.Group + "/" + plain)
	f.e.note("%s %d of node %s is not in the file: its step calls %s, which has to exist", what, id, f.titleOf(n), name)
	return name
}

// decide has a step do what the script of a decision did.
func (f *flow) decide(s *job.Step, n *node) {
	s.Task.Handler = "decide_" + s.Name
	s.StartWithin = job.Duration(decisionWait)
	params, err := json.Marshal(map[string]string{"script": n.NodeParams})
	if err == nil {
		s.Params = params
	}
	f.e.note("the script of decision %s does more than compare values of one step: write the handler %s, which returns true or false", f.titleOf(n), s.Task.Handler)
}

// follow has a step come after those from which ways lead to it.
func (f *flow) follow(s *job.Step, ways []way, i int) {
	start, conditions := false, []string{}
	var sources []int
	for _, w := range ways {
		if w.step < 0 {
			start = true
		} else if !slices.Contains(sources, w.step) {
			sources = append(sources, w.step)
		}
		if !slices.Contains(conditions, w.condition) {
			conditions = append(conditions, w.condition)
		}
	}
	for _, from := range sources {
		on := workflow.OnSuccess
		if m := f.nodes[from].SkipWhenFailed; m != nil && *m {
			on = workflow.OnEnd
		}
		s.After = append(s.After, workflow.Edge{Step: f.names[from], On: on})
		f.skippable[i] = f.skippable[i] || f.skippable[from]
	}
	switch {
	case len(ways) == 0:
	case len(conditions) == 1 && (!start || len(sources) == 0):
		s.If = conditions[0]
		s.Join.Taken = f.skippable[i] && len(sources) > 1
		f.skippable[i] = f.skippable[i] || s.If != ""
	default:
		// Not all ways have the same condition. Each counts by itself, once all steps before are final.
		var each []string
		for _, w := range ways {
			each = append(each, f.came(w))
		}
		for k := range s.After {
			s.After[k].On = workflow.OnAlways
		}
		f.skippable[i] = true
		if !slices.Contains(each, "") {
			s.If = strings.Join(each, " || ")
		}
	}
}

// came returns the condition that a step is reached on a way, where there are others.
func (f *flow) came(w way) string {
	if w.step < 0 {
		return inParens(w.condition)
	}
	status := field("status", f.names[w.step])
	ran := status + ` == "succeeded"`
	if m := f.nodes[w.step].SkipWhenFailed; m != nil && *m {
		ran = status + ` != "skipped" && ` + status + ` != "cancelled"`
	}
	if w.condition == "" {
		return ran
	}
	return both(ran, w.condition)
}
