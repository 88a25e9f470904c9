package bench

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

func TestEachShapeOfAWorkflowHasItsEdges(t *testing.T) {
	for shape, want := range map[string]int{shapeChain: 24, shapeFan: 24, shapeLayers: 10*10 + 5*10, shapeWide: 0} {
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

// wantTimes checks which figures are compared.
func wantTimes(t *testing.T, r *benchResult, want ...string) {
	t.Helper()
	if got := slices.Sorted(maps.Keys(r.Times)); !slices.Equal(got, want) || r.Lost != 0 || r.Doubled != 0 {
		t.Errorf("compared are %v, want %v: %+v", got, want, r)
	}
}

func TestAWorkflowIsMeasuredByItsSteps(t *testing.T) {
	t.Parallel() // it waits more than it works
	r, err := benchWorkflow(t.Context(), benchOptions{jobs: 2, steps: 12, shape: shapeLayers, rival: besideWatched, turns: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Count != 24 || r.Rate <= 0 || r.RawRate <= 0 {
		t.Errorf("%+v", r)
	}
	wantTimes(t, r, "cpu")
}

func TestAChainIsMeasuredBesideChildren(t *testing.T) {
	t.Parallel() // it waits more than it works
	r, err := benchWorkflow(t.Context(), benchOptions{jobs: 2, steps: 5, shape: shapeChain, rival: besideChildren, turns: 2})
	if err != nil {
		t.Fatal(err)
	}
	if r.Count != 20 || r.P99 <= 0 || r.RawP99 <= 0 {
		t.Errorf("%+v", r)
	}
	wantTimes(t, r, "cpu", "p50", "p99")
}

func TestRunningWorkflowsAreTakenOver(t *testing.T) {
	t.Parallel() // it waits more than it works
	r, err := benchRunning(t.Context(), benchOptions{jobs: 20, steps: 3, turns: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Count != 60 || r.Seconds <= 0 || r.RawSeconds <= 0 {
		t.Errorf("%+v", r)
	}
}

func TestAFanOutIsMeasuredBesideOthers(t *testing.T) {
	t.Parallel() // it waits more than it works
	r, err := benchFanout(t.Context(), benchOptions{jobs: 20, rate: 10, steps: 30, turns: 1, runFor: 6 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if r.Count != 2 {
		t.Errorf("%+v", r)
	}
	wantTimes(t, r, "cpu", "p50", "p99", "p99_of_pieces", "seconds")
}

func TestALargeDefinitionIsMeasuredBesideASmallOne(t *testing.T) {
	t.Parallel() // it waits more than it works
	r, err := benchDefinition(t.Context(), benchOptions{jobs: 2, turns: 1, runFor: 2 * time.Second, kilobytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	if r.Count != 4 {
		t.Errorf("%+v", r)
	}
}

func TestTurnsAlternateAndAreCompared(t *testing.T) {
	var order []string
	of := func(name string, results ...benchResult) measurement {
		return func(context.Context) (*benchResult, error) {
			order = append(order, name)
			r := results[0]
			results = results[1:]
			return &r, nil
		}
	}
	all, err := inTurns(t.Context(), 2,
		of("a", benchResult{Rate: 10, CPUMicros: 30, Count: 3}, benchResult{Rate: 20, CPUMicros: 50, Count: 4, Lost: 1}),
		of("b", benchResult{Rate: 5, CPUMicros: 20, P99: 1}, benchResult{Rate: 5, CPUMicros: 20, P99: 1, Doubled: 2}))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "b", "a"}; !slices.Equal(order, want) {
		t.Errorf("measured %v, want %v", order, want)
	}
	r := all[0].beside(all[1])
	if r.Rate != 15 || r.RawRate != 5 || r.Count != 7 || r.Lost != 1 || r.Doubled != 2 || !maps.Equal(r.Times, map[string]float64{"cpu": 2}) {
		t.Errorf("%+v", r)
	}
}
