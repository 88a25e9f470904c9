//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/e2e/processtest"
	"github.com/carillon-scheduler/carillon/job"
)

// togetherJobs fire each second for togetherFor: 10,000 runs.
const (
	togetherJobs = 125
	togetherFor  = 80 * time.Second
)

// ofCrew are the policies of the jobs that a crew works on, in turn.
var ofCrew = []kind{
	{name: "any", make: writes(1)},
	{name: "at_most_once", once: true, ends: []client.Status{job.StatusSucceeded, job.StatusLost}, make: func(j *job.Job) {
		writes(1)(j)
		j.Delivery = job.AtMostOnce
	}},
	{name: "retry", attempts: 2, make: func(j *job.Job) {
		writes(2)(j)
		j.Retry = job.Retry{Limit: 5, Backoff: job.BackoffConstant, Delay: job.Duration(time.Second)}
	}},
	{name: "round_robin", make: routed(job.RouteRoundRobin)},
	{name: "consistent_hash", make: routed(job.RouteConsistentHash)},
	{name: "any", make: writes(1)},
	{name: "least_recently_used", make: routed(job.RouteLeastRecentlyUsed)},
	{name: "routed_once", once: true, ends: []client.Status{job.StatusSucceeded, job.StatusLost}, make: func(j *job.Job) {
		routed(job.RouteRandom)(j)
		j.Delivery = job.AtMostOnce
	}},
	{name: "failover", make: routed(job.RouteFailover)},
	{name: "last", make: routed(job.RouteLast)},
	{name: "broadcast", pieces: 1, make: routed(job.RouteBroadcast)},
	{
		name: "steps", make: func(j *job.Job) {
			*j = withSteps(j, calling("first"), calling("left", "first"), calling("right", "first"), calling("last", "left", "right"))
		},
		steps: map[string]client.Status{"first": job.StatusSucceeded, "left": job.StatusSucceeded, "right": job.StatusSucceeded, "last": job.StatusSucceeded},
	},
}

// calling returns a step that calls the handler which writes into the journal.
func calling(name string, after ...string) job.Step {
	s := given(doing(name, "", after...), `{"seconds": 0.1, "attempts": 1}`)
	s.Task = job.Task{Handler: "journal"}
	return s
}

// writes makes the job call the handler that writes into the journal, and that fails until so
// many attempts were made.
func writes(attempts int) func(*job.Job) {
	return func(j *job.Job) {
		j.Task = job.Task{Handler: "journal"}
		j.Params = json.RawMessage(fmt.Sprintf(`{"seconds": 0.2, "attempts": %d}`, attempts))
	}
}

func routed(r job.Route) func(*job.Job) {
	return func(j *job.Job) {
		writes(1)(j)
		j.Route = r
	}
}

// Executors in all languages serve one group: each gets what a route has for it, and when each of
// them is killed in turn while 10,000 runs go through, and NATS is restarted, every run is done
// as its policy promises.
func TestTogetherExecutorsInAllLanguagesDoEachRun(t *testing.T) {
	const group = "together"
	c := newServers(t, 1)
	begun := time.Now()
	w := c.startCrew(group)
	w.checkRoutes(t)

	l := newLoad(group, togetherJobs, time.Second, time.Now().Add(togetherFor+saving), func(i int) kind { return ofCrew[i%len(ofCrew)] })
	l.save(t, c.api)
	for some := true; some; {
		var err error
		if some, err = l.saveYoung(t.Context(), c.api); err != nil {
			t.Fatal(err)
		}
	}
	w.killEach()
	if left := time.Until(l.until); left < 0 {
		t.Logf("the last of it %s after the last fire", -left)
	}

	a := &audit{load: l, owed: l.fires(), wishes: newWishes(l, c.api), desk: newDesk(l, c.api)}
	a.runs = a.drained(t, c)
	a.journal = readJournal(t, c.journal)
	a.checkLedger(t, c, begun)
	a.check(t)
	a.checkSteps(t, c.api)
	a.checkDoubles(t)
	a.figures(t, nil)
	w.checkShares(t, a)
	w.checkShareOfSteps(t, a)
	letters, err := client.Read[client.DeadLetterPage](c.api.ListDeadLetters(t.Context(), &client.ListDeadLettersParams{}))
	if err != nil || letters.Total > 0 {
		t.Errorf("there are dead letters: %+v, %v", letters, err)
	}
	if err := c.brokenOff(); err != nil {
		t.Error(err)
	}
}

// checkDoubles wants an attempt that was done more than once to have been delivered more than
// once: NATS was stopped in order, and has forgotten nothing.
func (a *audit) checkDoubles(t *testing.T) {
	t.Helper()
	of := map[job.RunID]*client.Run{} // of a step, that of its workflow
	for i := range a.runs {
		r := &a.runs[i]
		of[r.RunID] = r
		for step := range a.kind(r.Job).steps {
			of[job.StepRunID(r.RunID, step)] = r
		}
	}
	wrong := differences{}
	for id, deliveries := range a.journal {
		slices.Sort(deliveries)
		r, ok := of[id]
		if !ok {
			wrong.add("runs that are not in the history", "%s", id)
			continue
		}
		k := a.kind(r.Job)
		single := k.attempts == 0 && k.pieces == 0 && r.Total == 0
		if single && len(slices.Compact(slices.Clone(deliveries))) < len(deliveries) {
			wrong.add("runs done twice by one delivery", "%s of %s: %v", id, r.Job, deliveries)
		}
	}
	wrong.report(t)
}

// checkShares wants each executor to have done runs after it was back, and the log of one of its
// runs to have its line.
func (w *crew) checkShares(t *testing.T, a *audit) {
	t.Helper()
	for _, m := range w.members {
		before, after := 0, 0
		var last client.Run
		for i := range a.runs {
			switch r := &a.runs[i]; {
			case r.Instance != m.Name || r.Status != job.StatusSucceeded:
			case r.StartedAt.Before(m.killed):
				before++
			case r.StartedAt.After(m.back):
				after++
				if r.Delivery == 1 { // one that was delivered again may have lines of both
					last = *r
				}
			}
		}
		t.Logf("%-10s did %d runs before it was killed, and %d when it was back", m.Name, before, after)
		if before == 0 || after == 0 {
			t.Errorf("%s did no runs", m.Name)
			continue
		}
		processtest.Await(t, processtest.Patience, "read a log of "+m.Name, func() error {
			page, err := client.Read[client.LogPage](w.c.api.GetLogs(t.Context(), string(last.RunID), &client.GetLogsParams{}))
			if err == nil && (len(page.Items) != 1 || page.Items[0].Text != "journal written" || page.Items[0].Level != "info") {
				err = fmt.Errorf("run %s has the lines %+v", last.RunID, page.Items)
			}
			return err
		})
	}
}

// checkShareOfSteps wants each executor to have done a step.
func (w *crew) checkShareOfSteps(t *testing.T, a *audit) {
	t.Helper()
	missing := map[string]bool{}
	for _, name := range w.names() {
		missing[name] = true
	}
	for i := range a.runs {
		r := &a.runs[i]
		if len(missing) == 0 || len(a.kind(r.Job).steps) == 0 {
			continue
		}
		list, err := client.Read[client.RunSteps](w.c.api.ListSteps(t.Context(), string(r.RunID), &client.ListStepsParams{}))
		if err != nil {
			t.Fatal(err)
		}
		for j := range list.Steps {
			delete(missing, list.Steps[j].Instance)
		}
	}
	if len(missing) > 0 {
		t.Errorf("%v did no step", slices.Sorted(maps.Keys(missing)))
	}
}

// Of a job that shows where its route sends runs: how many there are, and how many at most until
// each executor has had one. Those of a random route would miss one about once in 100,000 times.
const (
	routeRuns     = 5
	routeRunsMost = 60
)

// checkRoutes runs a job of each route, one run at a time, and wants its runs where the route says.
func (w *crew) checkRoutes(t *testing.T) {
	t.Helper()
	l := &load{group: w.group}
	all := w.names()
	slices.Sort(all)
	first, last := all[:1], all[len(all)-1:]
	want := map[job.Route][]string{
		job.RouteFirst: first, job.RouteFailover: first, job.RouteLast: last, job.RouteBroadcast: all, job.RouteRandom: all,
		job.RouteRoundRobin: all, job.RouteLeastFrequentlyUsed: all, job.RouteLeastRecentlyUsed: all,
	}
	for _, route := range job.Routes {
		j := job.Job{Job: job.Name(w.group + "/route-" + strings.ReplaceAll(string(route), "_", "-"))}
		routed(route)(&j)
		j.Params = json.RawMessage(`{"seconds": 0, "attempts": 1}`)
		if _, err := l.put(t.Context(), w.c.api, j); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for runs := 0; runs < routeRuns || runs < routeRunsMost && len(seen) < len(want[route]); runs++ {
			for _, instance := range w.instances(t, j.Job) {
				seen[instance] = true
			}
		}
		got := slices.Sorted(maps.Keys(seen))
		t.Logf("runs by route %s are on %v", route, got)
		switch {
		case want[route] != nil && !slices.Equal(got, want[route]):
			t.Errorf("runs by route %s are on %v; want %v", route, got, want[route])
		case route == job.RouteConsistentHash && len(got) != 1:
			t.Errorf("runs of one job by route %s are on %v", route, got)
		case route == job.RouteBusyover && !seen[first[0]]: // others when that has not quite ended the one before
			t.Errorf("runs by route %s are on %v; want some on %v", route, got, first)
		}
	}
}

// instances runs a job, waits for its end, and returns the executors that had the run, or its pieces.
func (w *crew) instances(t *testing.T, name job.Name) (on []string) {
	t.Helper()
	var accepted client.RunAccepted
	wanted := client.RunRequest{RunID: job.NewRunID(time.Now())}
	processtest.Await(t, processtest.Patience, "run "+string(name), func() (err error) {
		accepted, err = client.Read[client.RunAccepted](w.c.api.RunJob(t.Context(), w.group, name.Short(), &client.RunJobParams{}, wanted))
		return err
	})
	var run client.RunDetail
	processtest.Await(t, processtest.Patience, "wait for a run of "+string(name), func() (err error) {
		run, err = client.Read[client.RunDetail](w.c.api.GetRun(t.Context(), string(accepted.RunID)))
		if err == nil && !run.Status.Final() {
			err = fmt.Errorf("it is %s", run.Status)
		}
		return err
	})
	newest := run.Attempts[0]
	if run.Status != job.StatusSucceeded {
		t.Errorf("run %s of %s is %s: %s", run.RunID, name, run.Status, newest.Message)
	}
	if newest.Total == 0 {
		return []string{newest.Instance}
	}
	// The history hears of the run's end and of its pieces' on two streams.
	processtest.Await(t, processtest.Patience, "wait for the pieces of a run of "+string(name), func() error {
		pieces, err := w.c.api.Pieces(t.Context(), string(run.RunID), client.ListPiecesParams{}, 0)
		if err != nil {
			return err
		}
		on = nil
		for i := range pieces.Items {
			on = append(on, pieces.Items[i].Instance)
		}
		if len(on) != len(w.members) {
			return fmt.Errorf("run %s has pieces on %v", run.RunID, on)
		}
		return nil
	})
	return on
}
