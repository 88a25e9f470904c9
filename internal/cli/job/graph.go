package job

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

func newGraphCommand() *cobra.Command {
	var mermaid, dot, heat bool
	var diff string
	cmd := &cobra.Command{
		Use:   "graph JOB",
		Short: "Draw the steps of a workflow",
		Long: "Draw the steps of a workflow as its newest version has them: each below those that it follows,\n" +
			"and further to the right. --mermaid and --dot print the graph for Mermaid and Graphviz.\n" +
			"--diff prints the steps and edges in which two versions differ. --heat prints how each step did in\n" +
			"the runs of the last 30 days.",
		Example: "  carillon graph billing/close\n  carillon graph billing/close --mermaid\n  carillon graph billing/close --dot | dot -Tsvg > close.svg\n  carillon graph billing/close --diff 3..4\n  carillon graph billing/close --heat",
		Args:    cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().BoolVar(&mermaid, "mermaid", false, "print a flowchart for Mermaid")
	cmd.Flags().BoolVar(&dot, "dot", false, "print a graph for Graphviz")
	cmd.Flags().StringVar(&diff, "diff", "", "compare two `versions`, such as 3..4")
	cmd.Flags().BoolVar(&heat, "heat", false, "print runs, failures and durations of each step")
	cmd.MarkFlagsMutuallyExclusive("mermaid", "dot", "diff", "heat")
	cmd.ValidArgsFunction = r.JobNames
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := cli.JobName(args[0])
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("diff") {
			return showGraphDiff(cmd, r, name, diff)
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		item, err := client.Read[client.JobItem](api.GetJob(cmd.Context(), name.Group(), name.Short(), &client.GetJobParams{Fires: new(0), Runs: new(0)}))
		if err != nil {
			return err
		}
		steps := item.Definition.Steps
		switch {
		case len(steps) == 0:
			return cli.Usage(errors.New("job " + string(name) + " has no steps"))
		case mermaid:
			return printMermaid(cmd.OutOrStdout(), steps)
		case dot:
			return printDot(cmd.OutOrStdout(), name, steps)
		case heat:
			return showGraphHeat(cmd, r, name, steps)
		}
		return r.Show(cmd.OutOrStdout(), steps, func(t *draw.Table) { drawGraph(t, steps) })
	}
	return cmd
}

// drawGraph draws steps, one a row.
func drawGraph(t *draw.Table, steps []job.Step) {
	t.Row("STEP", "AFTER", "IF", "TASK")
	eachInOrder(steps, func(s *job.Step, name string) {
		t.Row(name, draw.OrDash(t.Cell(cli.StepAfter(s.After, s.Join.String(), s.Finally), 60)), draw.OrDash(t.Cell(s.If, 60)), taskOfStep(t, s))
	})
}

// eachInOrder calls row for each step, with its name indented by how many come before it.
func eachInOrder(steps []job.Step, row func(s *job.Step, name string)) {
	depths := map[string]int{}
	for _, i := range inOrder(steps) {
		s := &steps[i]
		depth := 0
		for _, e := range s.After {
			depth = max(depth, depths[e.Step]+1)
		}
		depths[s.Name] = depth
		row(s, strings.Repeat("  ", depth)+s.Name)
	}
}

// inOrder returns the steps such that each comes after those that it follows, and finally ones at the end.
func inOrder(steps []job.Step) (order []int) {
	done := map[string]bool{}
	var add func(i int)
	add = func(i int) {
		if done[steps[i].Name] {
			return
		}
		done[steps[i].Name] = true
		for _, e := range steps[i].After {
			for k := range steps {
				if steps[k].Name == e.Step {
					add(k)
				}
			}
		}
		order = append(order, i)
	}
	for _, finally := range []bool{false, true} {
		for i := range steps {
			if steps[i].Finally == finally {
				add(i)
			}
		}
	}
	return order
}

func printMermaid(w io.Writer, steps []job.Step) error {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for i := range steps {
		s := &steps[i]
		shape := `["%s"]`
		if s.Finally {
			shape = `(["%s"])`
		}
		fmt.Fprintf(&b, "  s%d"+shape+"\n", i, strings.ReplaceAll(cmp.Or(s.Title, s.Name), `"`, "#quot;"))
	}
	for i := range steps {
		for _, e := range steps[i].After {
			arrow := " --> "
			if e.On != workflow.OnSuccess {
				arrow = " -. " + string(e.On) + " .-> "
			}
			fmt.Fprintf(&b, "  s%d%ss%d\n", placeOf(steps, e.Step), arrow, i)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func placeOf(steps []job.Step, name string) int {
	for i := range steps {
		if steps[i].Name == name {
			return i
		}
	}
	return -1
}

func printDot(w io.Writer, name job.Name, steps []job.Step) error {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  node [shape=box]\n", string(name))
	for i := range steps {
		s := &steps[i]
		style := ""
		if s.Finally {
			style = " style=rounded"
		}
		fmt.Fprintf(&b, "  %s [label=%q%s]\n", s.Name, cmp.Or(s.Title, s.Name), style)
		for _, e := range s.After {
			fmt.Fprintf(&b, "  %s -> %s", e.Step, s.Name)
			if e.On != workflow.OnSuccess {
				fmt.Fprintf(&b, " [label=%s style=dashed]", e.On)
			}
			b.WriteByte('\n')
		}
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}
