package bench

import (
	"testing"

	"github.com/carillon-scheduler/carillon/job"
)

func TestEachShapeOfAWorkflowHasItsEdges(t *testing.T) {
	for shape, want := range map[string]int{shapeChain: 24, shapeFan: 24, shapeLayers: 10*10 + 5*10} {
		steps := stepsOf(shape, 25)
		g, problems := job.Graph(steps)
		if len(problems) > 0 {
			t.Fatalf("%s: %v", shape, problems)
		}
		edges := 0
		for i := range g.Len() {
			edges += len(g.Step(i).After)
		}
		if edges != want {
			t.Errorf("%s has %d edges, want %d", shape, edges, want)
		}
	}
}

func TestAWorkflowIsMeasuredByItsSteps(t *testing.T) {
	r, err := benchWorkflow(t.Context(), benchOptions{jobs: 2, steps: 12, shape: shapeLayers})
	if err != nil {
		t.Fatal(err)
	}
	if r.Count != 24 || r.Lost != 0 || r.Doubled != 0 || r.Rate <= 0 || r.RawRate <= 0 {
		t.Errorf("%+v", r)
	}
}
