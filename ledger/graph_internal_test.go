package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// playedRun is a run of a random graph as the scheduler's rules have it, with ends in a random order.
type playedRun struct {
	rng   *rand.Rand
	of    job.Job
	graph *workflow.Graph
	run   runlog.Run
	first job.RunID // of the run that this one repeats
	rows  map[job.RunID]*runlog.Run
	done  map[job.RunID]*runlog.Run // by the run that this one repeats
}

var playedStates = map[workflow.State]job.Status{
	workflow.Succeeded: job.StatusSucceeded, workflow.Failed: job.StatusFailed, workflow.TimedOut: job.StatusTimedOut,
	workflow.Lost: job.StatusLost, workflow.Missed: job.StatusMissed, workflow.Taken: job.StatusSucceeded, workflow.Skipped: job.StatusSkipped, workflow.Cancelled: job.StatusCancelled,
}

func play(seed uint64) *playedRun {
	p := &playedRun{rng: rand.New(rand.NewPCG(seed, 11)), rows: map[job.RunID]*runlog.Run{}}
	p.of.Job = "g/a"
	p.run = runlog.Run{RunID: job.NewRunID(time.UnixMilli(1e12)), Job: "g/a", Version: 1, Attempt: 1, StartedAt: time.UnixMilli(1e12)}
	n := 1 + p.rng.IntN(12)
	finally := n - p.rng.IntN(min(n, 3))
	ons := []workflow.On{workflow.OnSuccess, workflow.OnSuccess, workflow.OnFailure, workflow.OnEnd, workflow.OnAlways}
	for i := range n {
		s := job.Step{Step: workflow.Step{Name: fmt.Sprintf("s%d", i), Finally: i >= finally, MayFail: p.rng.IntN(5) == 0}}
		for k := range i {
			if p.rng.IntN(10) < 4 && (!s.Finally || k >= finally) {
				s.After = append(s.After, workflow.Edge{Step: fmt.Sprintf("s%d", k), On: ons[p.rng.IntN(len(ons))]})
			}
		}
		switch edges := len(s.After); {
		case edges == 0:
		case p.rng.IntN(5) == 0:
			s.Join.Taken = true
		case p.rng.IntN(3) == 0:
			s.Join.Least = 1 + p.rng.IntN(edges)
		}
		p.of.Steps = append(p.of.Steps, s)
	}
	var problems []workflow.Problem
	if p.graph, problems = job.Graph(p.of.Steps); len(problems) > 0 {
		panic(fmt.Sprint(problems))
	}
	p.end(p.graph.Start())
	return p
}

// again is a run that repeats a part of p, which it returns.
func (p *playedRun) again() *playedRun {
	first := *p
	ended := make([]workflow.State, p.graph.Len())
	for i := range ended {
		ended[i] = p.state(p.of.Steps[i].Name)
	}
	states := p.graph.WhatFailed(ended)
	if p.rng.IntN(2) == 0 {
		states = p.graph.From(ended, []int{p.rng.IntN(p.graph.Len())})
	}
	p.first = first.run.RunID
	p.run.RunID, p.run.Cause, p.run.Reason = job.RetryRunID(first.run.RunID, "k"), job.CauseRerun, ""
	p.done, p.rows = first.rows, map[job.RunID]*runlog.Run{}
	p.end(states)
	return &first
}

// state returns the letter of a step.
func (p *playedRun) state(step string) workflow.State {
	for s, is := range playedStates {
		if p.rows[job.StepRunID(p.run.RunID, step)].Status == is && s != workflow.Taken {
			return s
		}
	}
	panic("it has not ended")
}

// beginAll notes when steps are decided, by a clock that goes on two minutes with each end.
type beginAll struct {
	now     time.Time
	decided map[int]time.Time
}

func (b *beginAll) Begin(i int) workflow.State {
	b.decided[i] = b.now
	return workflow.Ready
}

func (b *beginAll) Skip(i int, _ workflow.Decision) { b.decided[i] = b.now }

// end has all steps end, from these states on, and the run with them.
func (p *playedRun) end(states []workflow.State) {
	rules, finished := &beginAll{now: time.UnixMilli(1e12), decided: map[int]time.Time{}}, map[int]time.Time{}
	p.graph.Settle(states, nil, rules)
	ends := []workflow.State{workflow.Succeeded, workflow.Succeeded, workflow.Succeeded, workflow.Failed, workflow.TimedOut, workflow.Lost, workflow.Missed, workflow.Cancelled}
	for !p.graph.Final(states) {
		var ready []int
		for i, s := range states {
			if s == workflow.Ready {
				ready = append(ready, i)
			}
		}
		i := ready[p.rng.IntN(len(ready))]
		states[i] = ends[p.rng.IntN(len(ends))]
		rules.now = rules.now.Add(2 * time.Minute)
		finished[i] = rules.now
		p.graph.Settle(states, []int{i}, rules)
	}
	for i, s := range states {
		row := p.said(p.of.Steps[i].Name, playedStates[s])
		row.CommittedAt, row.FinishedAt = rules.decided[i], finished[i]
		if row.FinishedAt.IsZero() {
			row.FinishedAt = row.CommittedAt
		}
		if s == workflow.Taken {
			row.Reason = reason.Text(reason.StepTaken.With(job.StepRunID(p.first, p.of.Steps[i].Name)))
		}
	}
	p.run.Status = playedStates[p.graph.End(states, workflow.Succeeded).State]
	if p.run.Status == job.StatusCancelled {
		p.run.Reason = "1 of 2 steps were cancelled: a"
	}
}

func (p *playedRun) said(step string, s job.Status) *runlog.Run {
	id := job.StepRunID(p.run.RunID, step)
	p.rows[id] = &runlog.Run{RunID: id, Attempt: 1, Status: s, Cause: job.CauseStep, Parent: p.run.RunID, Step: step}
	return p.rows[id]
}

func (p *playedRun) judge() ([]outcome.Step, string) {
	j := &graphJudge{of: &p.of, run: &p.run, rows: p.rows, settled: true, origin: func(id job.RunID) (*runlog.Run, error) { return p.done[id], nil }}
	return j.judge()
}

// The scheduler's rules and those of the ledger are written apart. Each sees what the other does as right.
func TestTheLedgerAgreesWithTheSchedulerOnRandomGraphs(t *testing.T) {
	for seed := range uint64(2_000) {
		if steps, wrong := play(seed).judge(); wrong != "" {
			t.Fatalf("seed %d: %s: %+v", seed, wrong, steps)
		}
	}
}

func TestTheLedgerAgreesWithTheSchedulerOnRerunsOfRandomGraphs(t *testing.T) {
	taken := 0
	for seed := range uint64(2_000) {
		p := play(seed)
		p.again()
		for _, r := range p.rows {
			if r.Reason != "" {
				taken++
			}
		}
		if steps, wrong := p.judge(); wrong != "" {
			t.Fatalf("seed %d: %s: %+v", seed, wrong, steps)
		}
	}
	if taken < 1_000 {
		t.Errorf("only %d steps were taken over", taken)
	}
}

// A step is said to be taken over from a run in which it did not succeed.
func TestTheLedgerFindsAStepThatWasNotToBeTakenOver(t *testing.T) {
	found := 0
	for seed := range uint64(2_000) {
		p := play(seed)
		first := p.again()
		i := p.rng.IntN(len(p.of.Steps))
		step := p.of.Steps[i].Name
		was := first.rows[job.StepRunID(first.run.RunID, step)]
		if was.Status == job.StatusSucceeded && !p.of.Steps[i].Finally {
			continue
		}
		p.said(step, job.StatusSucceeded).Reason = reason.Text(reason.StepTaken.With(was.RunID))
		steps, wrong := p.judge()
		if wrong == "" || steps[i].Outcome != outcome.StepDiscrepancy {
			t.Fatalf("seed %d: step %s was %s, and it is not seen that it is said to be taken over: %q %+v", seed, step, was.Status, wrong, steps)
		}
		found++
	}
	if found < 500 {
		t.Errorf("only %d runs had such a step", found)
	}
}

// One step is said to have done the opposite of what its sources ask for.
func TestTheLedgerFindsAStepThatContradictsARandomGraph(t *testing.T) {
	for seed := range uint64(2_000) {
		p := play(seed)
		i := p.rng.IntN(len(p.of.Steps))
		step := p.of.Steps[i].Name
		was := p.rows[job.StepRunID(p.run.RunID, step)].Status
		switch {
		case was == job.StatusSkipped:
			p.said(step, job.StatusSucceeded)
		case was == job.StatusCancelled:
			continue // of a step that somebody calls off nothing is owed
		case p.rng.IntN(2) == 0:
			delete(p.rows, job.StepRunID(p.run.RunID, step))
			if len(p.rows) == 0 && p.run.Status != job.StatusSucceeded && p.run.Status != job.StatusFailed {
				continue
			}
		default:
			p.said(step, job.StatusSkipped)
		}
		steps, wrong := p.judge()
		if wrong == "" || steps[i].Outcome != outcome.StepDiscrepancy {
			t.Fatalf("seed %d: step %s was %s, and it is not seen that it is said to be otherwise: %q %+v", seed, step, was, wrong, steps)
		}
	}
}

// One step is said to have been decided before a source ended for which it had to wait.
func TestTheLedgerFindsAStepThatDidNotWaitInARandomGraph(t *testing.T) {
	found := 0
	for seed := range uint64(2_000) {
		p := play(seed)
		i := p.rng.IntN(len(p.of.Steps))
		s := &p.of.Steps[i]
		row := p.rows[job.StepRunID(p.run.RunID, s.Name)]
		if s.Join.Least > 0 || row.Status == job.StatusCancelled {
			continue // it may not have had to wait
		}
		var last time.Time // of the ends of its sources
		for _, e := range s.After {
			last = latest(last, p.rows[job.StepRunID(p.run.RunID, e.Step)].FinishedAt)
		}
		if last.IsZero() {
			continue
		}
		row.CommittedAt = last.Add(-time.Minute)
		steps, wrong := p.judge()
		if wrong == "" || steps[i].Outcome != outcome.StepDiscrepancy || reason.Read(string(steps[i].Reason)).Code != finding.StepBeforeSource.Code {
			t.Fatalf("seed %d: step %s was decided a minute before its last source ended, and this is not seen: %q %+v", seed, s.Name, wrong, steps)
		}
		row.CommittedAt = last.Add(-time.Second) // by a clock that is in line
		if _, wrong = p.judge(); wrong != "" {
			t.Fatalf("seed %d: %s", seed, wrong)
		}
		found++
	}
	if found < 500 {
		t.Errorf("only %d runs had such a step", found)
	}
}

// A run is said to have ended otherwise than its steps.
func TestTheLedgerFindsARunThatContradictsItsSteps(t *testing.T) {
	for seed := range uint64(2_000) {
		p := play(seed)
		was := p.run.Status
		p.run.Reason = ""
		for _, s := range []job.Status{job.StatusSucceeded, job.StatusFailed, job.StatusSkipped, job.StatusTimedOut} {
			if p.run.Status = s; s == was {
				continue
			}
			if _, wrong := p.judge(); wrong == "" {
				t.Fatalf("seed %d: the run ended as %s, and it is not seen that it is said to be %s", seed, was, s)
			}
		}
	}
}
