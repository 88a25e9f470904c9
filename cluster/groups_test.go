package cluster_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

func TestAGroupIsRoutedFromItsFirstJobWithARouteOrLabelsOn(t *testing.T) {
	inCluster(t, func(w *world) {
		routed := func(group string) bool {
			g, err := w.conn.Groups().Get(w.t.Context(), group)
			if err != nil {
				w.t.Fatal(err)
			}
			return g.Routed()
		}
		plain := func(name job.Name) job.Job { return aJob(name, "1 * * * *") }
		labelled := plain("g/labelled")
		labelled.Labels = job.Labels{"zone": "eu"}
		route := plain("new/route")
		route.Route = job.RouteFirst
		edit := cluster.Edit{At: time.Now()}

		w.put(plain("g/a"), edit)
		if routed("g") {
			w.t.Error("a group is routed whose only job is for any instance")
		}
		w.put(labelled, edit)
		if !routed("g") {
			w.t.Error("a group is not routed though it has a job with labels")
		}
		if err := w.conn.Jobs().Delete(w.t.Context(), "g/labelled", edit); err != nil {
			w.t.Fatal(err)
		}
		w.put(plain("g/a"), edit)
		if !routed("g") {
			w.t.Error("a group is routed no more though triggers may be left")
		}
		if w.put(route, edit); !routed("new") {
			w.t.Error("a new group is not routed though its first job has a route")
		}
		if w.put(plain("limited/a"), edit); routed("limited") {
			w.t.Error("another new group is routed")
		}
		if _, err := w.conn.Groups().Set(w.t.Context(), "limited", cluster.GroupSettings{Limit: new(1)}); err != nil || !routed("limited") {
			w.t.Errorf("a group with a limit is not routed, %v", err)
		}
	})
}

func TestAGroupIsDispatchedAsTheStepsOfItsJobsNeed(t *testing.T) {
	inCluster(t, func(w *world) {
		put := func(name job.Name, change func(*job.Step)) *cluster.Group {
			w.t.Helper()
			j := job.Job{Job: name, Steps: []job.Step{{Step: workflow.Step{Name: "a"}, Task: job.Task{Handler: "h"}}, {Step: workflow.Step{Name: "b"}, Task: job.Task{Handler: "h"}}}}.WithDefaults()
			change(&j.Steps[1])
			w.put(j, cluster.Edit{At: time.Now()})
			g, err := w.conn.Groups().Get(w.t.Context(), name.Group())
			if err != nil {
				w.t.Fatal(err)
			}
			return &g
		}
		if g := put("plain/a", func(*job.Step) {}); g.Routed() || g.Governed() {
			w.t.Errorf("steps for any instance: %+v", g)
		}
		if g := put("waits/a", func(s *job.Step) { s.Task, s.Wait = job.Task{}, &job.Wait{Signal: "paid"} }); g.Routed() || g.Governed() {
			w.t.Errorf("a step that waits: %+v", g)
		}
		if g := put("calls/a", func(s *job.Step) { s.Task, s.Call = job.Task{}, "high/a" }); g.Routed() || g.Governed() {
			w.t.Errorf("a step that calls a job: %+v", g)
		}
		if g := put("labels/a", func(s *job.Step) { s.Labels = job.Labels{"zone": "eu"} }); !g.Routed() || g.Governed() {
			w.t.Errorf("a step with labels: %+v", g)
		}
		if g := put("high/a", func(s *job.Step) { s.Priority = job.PriorityHigh }); !g.Governed() {
			w.t.Errorf("a step with a priority: %+v", g)
		}
	})
}
