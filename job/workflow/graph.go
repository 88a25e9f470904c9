package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/exact"
)

// Graph is the steps of one workflow and how they follow each other. It is not changed after [New], and
// safe for concurrent use.
type Graph struct {
	steps   []Step
	index   map[string]int
	sources [][]int // of each step, in the order of its edges
	next    [][]int // the steps that come after each step, in the order of the document
	order   []int   // each step after its sources

	proposals int // how many names New has looked for among all
}

// maxProposals bounds how many unknown names are compared with all others.
const maxProposals = 10

// Problem is what is wrong with a graph. Reason reads on after Field, which is a path such as
// steps[2].after.
type Problem struct{ Field, Reason string }

// New returns the graph of the steps, or what is wrong with them, in the order of the document.
func New(steps []Step) (*Graph, []Problem) {
	if len(steps) > MaxSteps {
		return nil, []Problem{{"steps", fmt.Sprintf("has %d; at most %d are allowed: put some of them into a job of their own and call it", len(steps), MaxSteps)}}
	}
	g := &Graph{steps: slices.Clone(steps), index: make(map[string]int, len(steps))}
	problems := g.addNames()
	problems = append(problems, g.addEdges()...)
	if len(problems) > 0 {
		return nil, problems
	}
	if circle := g.sort(); circle != nil {
		return nil, []Problem{{"steps", "lead in a circle: " + strings.Join(circle, " → ")}}
	}
	return g, nil
}

// Len returns how many steps there are.
func (g *Graph) Len() int { return len(g.steps) }

// Step returns a step by its place in the document.
func (g *Graph) Step(i int) *Step { return &g.steps[i] }

// Index returns the place of the step of that name, and whether there is one.
func (g *Graph) Index(name string) (i int, ok bool) {
	i, ok = g.index[name]
	return i, ok
}

// Next returns the steps that come after step i, in the order of the document. The caller does not
// change it.
func (g *Graph) Next(i int) []int { return g.next[i] }

// Order returns all steps, each after its sources. The caller does not change it.
func (g *Graph) Order() []int { return g.order }

// Start returns the states before anything has begun.
func (g *Graph) Start() []State { return slices.Repeat([]State{Waiting}, len(g.steps)) }

// addNames fills in the index.
func (g *Graph) addNames() (problems []Problem) {
	for i := range g.steps {
		s, field := &g.steps[i], fmt.Sprintf("steps[%d].step", i)
		if why := wrongName(s.Name); why != "" {
			problems = append(problems, Problem{field, why})
			continue
		}
		if first, twice := g.index[s.Name]; twice {
			problems = append(problems, Problem{field, fmt.Sprintf("%q is the name of steps[%d] already", s.Name, first)})
			continue
		}
		g.index[s.Name] = i
		if s.Rerun != "" && s.Rerun != RerunAlways {
			problems = append(problems, Problem{fmt.Sprintf("steps[%d].rerun", i), fmt.Sprintf("%q must be always, or left out", clip.Text(string(s.Rerun), MaxName))})
		}
	}
	return problems
}

// wrongName says what is wrong with the name of a step, if anything. A name is part of an expression,
// where a '-' would be a minus.
func wrongName(s string) string {
	if s == "" {
		return "is missing; name the step, such as load_eu"
	}
	ok := s[0] >= 'a' && s[0] <= 'z'
	for _, c := range []byte(s) {
		ok = ok && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_')
	}
	switch {
	case !ok:
		return fmt.Sprintf("%q may have only lower-case letters, digits and '_', and begins with a letter", clip.Text(s, MaxName))
	case len(s) > MaxName:
		return fmt.Sprintf("has %d characters; at most %d are allowed", len(s), MaxName)
	}
	return ""
}

// addEdges fills in the sources and next steps.
func (g *Graph) addEdges() (problems []Problem) {
	g.sources, g.next = make([][]int, len(g.steps)), make([][]int, len(g.steps))
	edges := 0
	for i := range g.steps {
		s := &g.steps[i]
		edges += len(s.After)
		for k, e := range s.After {
			field := fmt.Sprintf("steps[%d].after", i)
			if len(s.After) > 1 {
				field = fmt.Sprintf("%s[%d]", field, k)
			}
			source, why := g.source(i, e)
			if why == "" && slices.Contains(g.sources[i], source) {
				why = fmt.Sprintf("%q is listed twice", e.Step)
			}
			if why != "" {
				problems = append(problems, Problem{field, why})
				continue
			}
			g.sources[i] = append(g.sources[i], source)
			g.next[source] = append(g.next[source], i)
		}
		problems = append(problems, g.wrongJoin(i)...)
	}
	if edges > MaxEdges {
		problems = append(problems, Problem{"steps", fmt.Sprintf("have %d dependencies; at most %d are allowed", edges, MaxEdges)})
	}
	return problems
}

// source returns the source that an edge of step i names, or what is wrong with the edge.
func (g *Graph) source(i int, e Edge) (source int, why string) {
	source, known := g.index[e.Step]
	switch {
	case !known:
		return 0, g.unknown(e.Step)
	case source == i:
		return 0, "is the step itself"
	case e.On != "" && !e.On.Known():
		return 0, fmt.Sprintf("has on %q; write success, failure, end or always", clip.Text(string(e.On), MaxName))
	case g.steps[source].Finally && !g.steps[i].Finally:
		return 0, e.Step + " is a finally step, which only finally steps may follow"
	case !g.steps[source].Finally && g.steps[i].Finally:
		return 0, e.Step + " is no finally step: a finally step comes after all of them anyhow"
	}
	return source, ""
}

// unknown says that no step has the name, and which was meant.
func (g *Graph) unknown(name string) string {
	why := fmt.Sprintf("%q is no step", clip.Text(name, MaxName))
	if g.proposals++; g.proposals > maxProposals {
		return why
	}
	if near := exact.Nearest(name, slices.Sorted(maps.Keys(g.index))); near != "" {
		return fmt.Sprintf("%s; did you mean %q?", why, near)
	}
	return why
}

// wrongJoin says what is wrong with the join of step i, if anything.
func (g *Graph) wrongJoin(i int) []Problem {
	s, field := &g.steps[i], fmt.Sprintf("steps[%d].join", i)
	switch {
	case s.Join == Join{}:
	case len(s.After) == 0:
		return []Problem{{field, s.Join.String() + " says how many of after are enough, but there is no after"}}
	case s.Join.Least < 0 || s.Join.Least > len(s.After):
		return []Problem{{field, fmt.Sprintf("%d must be between 1 and the number of steps in after, which is %d", s.Join.Least, len(s.After))}}
	}
	return nil
}

// sort fills in the order. It returns the names along a circle if there is one, beginning and ending
// with the same.
func (g *Graph) sort() (circle []string) {
	open := make([]int, len(g.steps)) // sources that are not in the order yet
	for i := range g.steps {
		open[i] = len(g.sources[i])
		if open[i] == 0 {
			g.order = append(g.order, i)
		}
	}
	for k := 0; k < len(g.order); k++ {
		for _, n := range g.next[g.order[k]] {
			if open[n]--; open[n] == 0 {
				g.order = append(g.order, n)
			}
		}
	}
	if len(g.order) == len(g.steps) {
		return nil
	}
	// Whoever is left has a source that is left. Going from source to source leads into a circle.
	at := slices.IndexFunc(open, func(n int) bool { return n > 0 })
	var path []int
	for !slices.Contains(path, at) {
		path = append(path, at)
		k := slices.IndexFunc(g.sources[at], func(s int) bool { return open[s] > 0 })
		at = g.sources[at][k]
	}
	path = append(path[slices.Index(path, at):], at)
	slices.Reverse(path)
	for _, i := range path {
		circle = append(circle, g.steps[i].Name)
	}
	return circle
}
