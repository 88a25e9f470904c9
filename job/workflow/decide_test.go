package workflow_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/carillon-scheduler/carillon/job/workflow"
)

// TestDecideFollowsTheTableOfJoins has step x after a, b and c, in the given states.
func TestDecideFollowsTheTableOfJoins(t *testing.T) {
	decided := func(join, states, want string) {
		t.Helper()
		g := graph(t, "a\nb\nc\nx "+join)
		d := g.Decide(3, []workflow.State(states+"."))
		got := "waits"
		if d.Runs {
			got = "runs"
		}
		if d.Skips {
			got = "skipped by " + fmt.Sprint(d.Unmet)
		}
		if got != want {
			t.Errorf("with %s and %s it %s, want %s", join, states, got, want)
		}
	}
	decided("a,b,c", "sst", "waits")
	decided("a,b,c", "sss", "runs")
	decided("a,b,c", "sSs", "runs")
	decided("a,b,c", "fs.", "waits") // the reason must not depend on which ends first
	decided("a,b,c", "fsk", "skipped by [0 2]")
	decided("taken a,b,c", "skt", "waits")
	decided("taken a,b,c", "skk", "runs")
	decided("taken a,b,c", "skf", "skipped by [1 2]")
	decided("taken a,b,c", "kkk", "skipped by [0 1 2]")
	decided("any a,b,c", "s..", "runs")
	decided("any a,b,c", "ff.", "waits")
	decided("any a,b,c", "ffc", "skipped by [0 1 2]")
	decided("two a,b,c", "s.s", "runs")
	decided("two a,b,c", "f.s", "waits")
	decided("two a,b,c", "fk.", "skipped by [0 1]")
	decided("a:failure,b:end,c:always", "oms", "runs")
	decided("a:failure,b:end,c:always", "lfk", "runs")
	decided("a:failure,b:end,c:always", "sss", "skipped by [0]")
	decided("a:failure,b:end,c:always", "fkc", "skipped by [1]")
	decided("a:failure,b:end,c:always", "ccc", "skipped by [0 1]")
	decided("finally", "ss.", "waits")
	decided("finally", "fkc", "runs")
}

// history is how the steps of a run end, whenever they do.
type history struct {
	ends []workflow.State // of a step that runs
	may  []workflow.State // what its condition says: Ready, Skipped or Failed
}

// randomGraph returns a graph of up to 12 steps, of all joins and conditions.
func randomGraph(r *rand.Rand) []workflow.Step {
	all := make([]workflow.Step, 1+r.IntN(12))
	ons := []workflow.On{"", workflow.OnSuccess, workflow.OnSuccess, workflow.OnFailure, workflow.OnEnd, workflow.OnAlways}
	for i := range all {
		all[i] = workflow.Step{Name: fmt.Sprintf("s%d", i), Finally: i > 0 && (all[i-1].Finally || r.IntN(8) == 0), MayFail: r.IntN(6) == 0}
		for k := range i {
			if all[k].Finally == all[i].Finally && r.IntN(3) == 0 {
				all[i].After = append(all[i].After, workflow.Edge{Step: all[k].Name, On: ons[r.IntN(len(ons))]})
			}
		}
		if n := len(all[i].After); n > 0 {
			switch r.IntN(4) {
			case 0:
				all[i].Join.Taken = true
			case 1:
				all[i].Join.Least = 1 + r.IntN(n)
			}
		}
	}
	return all
}

func randomHistory(r *rand.Rand, n int) history {
	var h history
	ends := []workflow.State("sssssfolmc")
	mays := []workflow.State("rrrrrrkf")
	for range n {
		h.ends = append(h.ends, ends[r.IntN(len(ends))])
		h.may = append(h.may, mays[r.IntN(len(mays))])
	}
	return h
}

// naive returns the states of all steps at the end, each computed from those of its sources alone, with
// no thought for when anything happens.
func naive(all []workflow.Step, h history) []workflow.State {
	known := map[string]workflow.State{}
	met := func(e workflow.Edge) bool {
		s := known[e.Step]
		switch e.On {
		case workflow.OnFailure:
			return s == 'f' || s == 'o' || s == 'l' || s == 'm'
		case workflow.OnEnd:
			return s != 'k' && s != 'c'
		case workflow.OnAlways:
			return true
		case workflow.OnSuccess:
		}
		return s == 's'
	}
	states := make([]workflow.State, len(all))
	for i, s := range all { // sources stand before
		count, skipped := 0, 0
		for _, e := range s.After {
			if met(e) {
				count++
			} else if known[e.Step] == 'k' {
				skipped++
			}
		}
		runs := count == len(s.After)
		if s.Join.Taken {
			runs = count > 0 && count+skipped == len(s.After)
		} else if s.Join.Least > 0 {
			runs = count >= s.Join.Least
		}
		switch {
		case !runs:
			states[i] = 'k'
		case h.may[i] != 'r':
			states[i] = h.may[i]
		default:
			states[i] = h.ends[i]
		}
		known[s.Name] = states[i]
	}
	return states
}

// play is one run, whose steps end in an order by chance.
type play struct {
	t      *testing.T
	g      *workflow.Graph
	h      history
	states []workflow.State
	reach  *workflow.Reach
	judged []bool
	failed string
}

func (p *play) judge(step int) {
	if p.judged[step] {
		p.failed = fmt.Sprintf("step %d is judged twice", step)
	}
	p.judged[step] = true
}

func (p *play) Begin(step int) workflow.State {
	p.judge(step)
	for i, s := range p.states {
		if !s.Final() && (p.reach.Ended(i, step) || p.g.Step(step).Finally && !p.g.Step(i).Finally) {
			p.failed = fmt.Sprintf("step %d runs before step %d is final", step, i)
		}
	}
	return p.h.may[step]
}

func (p *play) Skip(step int, d workflow.Decision) {
	p.judge(step)
	if len(d.Unmet) == 0 {
		p.failed = fmt.Sprintf("step %d is skipped without a reason", step)
	}
}

// run plays the run and returns how its steps have ended.
func (p *play) run(r *rand.Rand) []workflow.State {
	p.g.Settle(p.states, nil, p)
	for !p.g.Final(p.states) {
		var out []int
		for i, s := range p.states {
			if s == workflow.Ready {
				out = append(out, i)
			}
		}
		if len(out) == 0 {
			p.failed = fmt.Sprintf("nothing goes on in %s", p.states)
			break
		}
		var ended []int
		for range 1 + r.IntN(2) { // one or two ends in a batch
			i := out[r.IntN(len(out))]
			p.states[i] = p.h.ends[i]
			ended = append(ended, i)
		}
		p.g.Settle(p.states, ended, p)
	}
	return p.states
}

func TestTheEndDoesNotDependOnTheOrderOfTheEnds(t *testing.T) {
	graphs := 20_000
	if testing.Short() {
		graphs = 2000
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := range graphs {
		all := randomGraph(r)
		g, problems := workflow.New(all)
		if problems != nil {
			t.Fatal(problems)
		}
		h := randomHistory(r, g.Len())
		want := naive(all, h)
		for range 12 {
			p := &play{t: t, g: g, h: h, states: g.Start(), reach: g.Reach(), judged: make([]bool, g.Len())}
			if got := p.run(r); !slices.Equal(got, want) || p.failed != "" {
				t.Fatalf("graph %d: %+v\nhistory %+v\nended as %s, want %s %s", n, all, h, got, want, p.failed)
			}
		}
	}
}

func TestALongChainIsSettledAtOnce(t *testing.T) {
	all := make([]workflow.Step, workflow.MaxSteps)
	for i := range all {
		all[i].Name = fmt.Sprintf("s%d", i)
		if i > 0 {
			all[i].After = workflow.Edges{{Step: all[i-1].Name}}
		}
	}
	g, problems := workflow.New(all)
	if problems != nil {
		t.Fatal(problems)
	}
	states := g.Start()
	p := &play{g: g, h: history{may: slices.Repeat([]workflow.State{workflow.Ready}, g.Len())}, states: states, reach: g.Reach(), judged: make([]bool, g.Len())}
	g.Settle(states, nil, p)
	states[0] = workflow.Failed
	g.Settle(states, []int{0}, p)
	if !g.Final(states) || p.failed != "" {
		t.Errorf("the chain ended as %s %s", states, p.failed)
	}
}

func TestARunEndsAsItsStepsSay(t *testing.T) {
	ended := func(text, states string, cause workflow.State, want workflow.End) {
		t.Helper()
		got := graph(t, text).End([]workflow.State(states), cause)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q in %s ended as %+v, want %+v", text, states, got, want)
		}
	}
	const well = workflow.Succeeded
	ended("a\nb", "ss", well, workflow.End{State: 's', Well: 2})
	ended("a\nb", "Sk", well, workflow.End{State: 's', Well: 1, Skipped: 1})
	ended("a\nb a:failure", "fs", well, workflow.End{State: 'f', Bad: []int{0}, Well: 1}) // who handles a failure does not undo it
	ended("a may_fail\nb a:failure", "fs", well, workflow.End{State: 's', Well: 1, Forgiven: 1})
	ended("a may_fail", "f", well, workflow.End{State: 's', Forgiven: 1})
	ended("a\nb", "kk", well, workflow.End{State: 'k', Skipped: 2})
	ended("a\nb", "sc", well, workflow.End{State: 'c', Bad: []int{1}, Well: 1, Cancelled: 1})
	ended("a\nb may_fail", "sc", well, workflow.End{State: 's', Well: 1, Cancelled: 1})
	ended("a\nb", "oc", well, workflow.End{State: 'f', Bad: []int{0}, Cancelled: 1})
	ended("a\nb", "sc", workflow.Cancelled, workflow.End{State: 'c', Well: 1, Cancelled: 1})
	ended("a\nb\nc finally", "scf", workflow.TimedOut, workflow.End{State: 'o', Bad: []int{2}, Well: 1, Cancelled: 1})
}

func TestWhatHasNotBegunIsCancelled(t *testing.T) {
	g := graph(t, "a\nb\nc\nd\ne finally")
	states := []workflow.State("trw..")
	if got := g.Cancel(states, false); string(states) != "tccc." || !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("%v are cancelled, and the states are %s", got, states)
	}
	if g.Cancel(states, true); string(states) != "tcccc" {
		t.Errorf("by force the states are %s", states)
	}
}
