package job

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/manifest"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// graphDiff is how the graphs of two versions of a job differ: in steps and in edges.
type graphDiff struct {
	Job   string       `json:"job"`
	From  int          `json:"from"`
	To    int          `json:"to"`
	Steps []stepChange `json:"steps"` // in order of name
	Edges []edgeChange `json:"edges"` // in order of the steps that they lead to
}

// stepChange is how a step differs. One that was added or removed has no fields.
type stepChange struct {
	Step   string               `json:"step"`
	Change changeKind           `json:"change"`
	Fields []client.FieldChange `json:"fields,omitempty"` // by paths within the step, without after
}

// edgeChange is how an edge differs. One that was added has no From, one that was removed no To.
type edgeChange struct {
	Source string      `json:"source"`
	Step   string      `json:"step"` // that follows the source
	Change changeKind  `json:"change"`
	From   workflow.On `json:"from,omitempty"`
	To     workflow.On `json:"to,omitempty"`
}

type changeKind string

const (
	added   changeKind = "added"
	removed changeKind = "removed"
	changed changeKind = "changed"
)

// sign is what a change is drawn with.
func (c changeKind) sign() string {
	switch c {
	case added:
		return "+"
	case removed:
		return "-"
	case changed:
	}
	return "~"
}

// showGraphDiff shows how the graphs of two versions differ, such as 3..4.
func showGraphDiff(cmd *cobra.Command, r *cli.Remote, name job.Name, versions string) error {
	from, to, err := parseVersions(versions)
	if err != nil {
		return err
	}
	api, err := r.API()
	if err != nil {
		return err
	}
	d, err := client.Read[client.JobDiff](api.DiffJob(cmd.Context(), name.Group(), name.Short(), &client.DiffJobParams{From: &from, To: &to}))
	if err != nil {
		return err
	}
	g, err := diffOfGraphs(d)
	if err != nil {
		return err
	}
	return r.Show(cmd.OutOrStdout(), g, func(t *draw.Table) { drawGraphDiff(t, g) })
}

// parseVersions reads two versions, such as 3..4.
func parseVersions(text string) (from, to int, err error) {
	a, b, ok := strings.Cut(text, "..")
	from, errFrom := strconv.Atoi(a)
	to, errTo := strconv.Atoi(b)
	if !ok || errFrom != nil || errTo != nil || from < 1 || to < 1 {
		return 0, 0, cli.Usage(fmt.Errorf("--diff %q must be two versions, such as 3..4", text))
	}
	return from, to, nil
}

// diffOfGraphs picks what concerns steps and edges out of how two versions differ.
func diffOfGraphs(d client.JobDiff) (graphDiff, error) {
	g := graphDiff{Job: string(d.Job), From: d.From, To: d.To, Steps: []stepChange{}, Edges: []edgeChange{}}
	before, after := map[string]bool{}, map[string]bool{}
	fields := map[string][]client.FieldChange{}
	for _, c := range d.Changes {
		if c.Field == "steps" {
			before, after = namesIn(c.From), namesIn(c.To)
		}
		step, field, ok := strings.Cut(strings.TrimPrefix(c.Field, "steps."), ".")
		if !ok || !strings.HasPrefix(c.Field, "steps.") {
			continue
		}
		if field != "after" {
			fields[step] = append(fields[step], client.FieldChange{Field: field, From: c.From, To: c.To})
			continue
		}
		edges, err := diffOfEdges(step, c)
		if err != nil {
			return graphDiff{}, err
		}
		g.Edges = append(g.Edges, edges...)
	}
	for step := range after {
		if !before[step] {
			g.Steps = append(g.Steps, stepChange{Step: step, Change: added})
			delete(fields, step)
		}
	}
	for step := range before {
		if !after[step] {
			g.Steps = append(g.Steps, stepChange{Step: step, Change: removed})
			delete(fields, step)
		}
	}
	for step, changes := range fields {
		g.Steps = append(g.Steps, stepChange{Step: step, Change: changed, Fields: changes})
	}
	slices.SortFunc(g.Steps, func(a, b stepChange) int { return cmp.Compare(a.Step, b.Step) })
	return g, nil
}

// namesIn returns the texts of a list.
func namesIn(list any) map[string]bool {
	names := map[string]bool{}
	all, _ := list.([]any)
	for _, v := range all {
		if name, ok := v.(string); ok {
			names[name] = true
		}
	}
	return names
}

// diffOfEdges compares what a step follows in two versions.
func diffOfEdges(step string, c client.FieldChange) ([]edgeChange, error) {
	before, errBefore := sourcesIn(c.From)
	after, errAfter := sourcesIn(c.To)
	if err := errors.Join(errBefore, errAfter); err != nil {
		return nil, fmt.Errorf("decode %s: %w", c.Field, err)
	}
	both := maps.Clone(before)
	maps.Copy(both, after)
	var edges []edgeChange
	for _, source := range slices.Sorted(maps.Keys(both)) {
		e := edgeChange{Source: source, Step: step, Change: changed, From: before[source], To: after[source]}
		switch {
		case e.From == e.To:
			continue
		case e.From == "":
			e.Change = added
		case e.To == "":
			e.Change = removed
		}
		edges = append(edges, e)
	}
	return edges, nil
}

// sourcesIn returns the sources in a step's after, and which ends of each count.
func sourcesIn(after any) (map[string]workflow.On, error) {
	sources := map[string]workflow.On{}
	if after == nil {
		return sources, nil
	}
	data, err := json.Marshal(after)
	if err != nil {
		return nil, err
	}
	var edges workflow.Edges
	if err := json.Unmarshal(data, &edges); err != nil {
		return nil, err
	}
	for _, e := range edges {
		sources[e.Step] = cmp.Or(e.On, workflow.OnSuccess)
	}
	return sources, nil
}

// drawGraphDiff draws a change a line: the steps with their fields, then the edges.
func drawGraphDiff(t *draw.Table, g graphDiff) {
	if len(g.Steps)+len(g.Edges) == 0 {
		t.Line(fmt.Sprintf("the steps of versions %d and %d of %s are equal", g.From, g.To, g.Job))
		return
	}
	for _, s := range g.Steps {
		t.Line(s.Change.sign() + " step " + s.Step)
		for _, f := range s.Fields {
			t.Line("    " + manifest.FieldChange(t, f))
		}
	}
	for _, e := range g.Edges {
		text := e.Change.sign() + " edge " + e.Source + " -> " + e.Step
		if e.Change == changed {
			text += ": " + string(e.From) + " -> " + string(e.To)
		} else if on := cmp.Or(e.From, e.To); on != workflow.OnSuccess {
			text += " (" + string(on) + ")"
		}
		t.Line(text)
	}
}
