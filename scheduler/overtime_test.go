package scheduler_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

func TestASuccessAfterItsTimeLimitStartsNoChild(t *testing.T) {
	for what, limit := range map[string]func(*job.Job){
		"timeout":       func(j *job.Job) { j.Timeout = job.Duration(3 * time.Second) },
		"total timeout": func(j *job.Job) { j.TotalTimeout = job.Duration(3 * time.Second) },
	} {
		t.Run(what, func(t *testing.T) {
			run(t, func(w *world) {
				w.executeAs(func(tr *bus.Trigger) (time.Duration, job.Status) {
					if tr.Job == "g/a" && tr.Attempt == 1 {
						return 12 * time.Second, job.StatusSucceeded
					}
					return time.Second, job.StatusSucceeded
				})
				w.startNode("a")
				w.put("g/well", job.Schedule{})
				w.put("g/badly", job.Schedule{})
				w.put("g/a", job.Schedule{}, func(j *job.Job) {
					j.Children = []job.Child{{Job: "g/well", On: job.OnSuccess}, {Job: "g/badly", On: job.OnFailure}}
					limit(j)
				})
				time.Sleep(time.Second)
				if _, err := w.trigger(job.NewRunID(time.Now()), "g/a"); err != nil {
					w.t.Fatal(err)
				}
				time.Sleep(time.Minute)
				if got, want := w.ends(), []string{"1 timed_out"}; !slices.Equal(got, want) {
					w.t.Errorf("events %q, want %q", got, want)
				}
				w.wantLines("g/well")
				w.wantLines("g/badly", "1 pending")
				w.wantNothingLeft()
			})
		})
	}
}

func TestALateSuccessIsTriedAgainAsTimedOut(t *testing.T) {
	run(t, func(w *world) {
		w.executeAs(func(tr *bus.Trigger) (time.Duration, job.Status) {
			if tr.Attempt == 1 {
				return 12 * time.Second, job.StatusSucceeded
			}
			return time.Second, job.StatusSucceeded
		})
		w.startNode("a")
		w.put("g/a", job.Schedule{}, func(j *job.Job) {
			j.Timeout = job.Duration(3 * time.Second)
			j.Retry = job.Retry{Limit: 1, Delay: job.Duration(time.Second), On: []job.Status{job.StatusTimedOut}}
		})
		time.Sleep(time.Second)
		if _, err := w.trigger(job.NewRunID(time.Now()), "g/a"); err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got, want := w.ends(), []string{"1 timed_out", "2 succeeded"}; !slices.Equal(got, want) {
			w.t.Errorf("events %q, want %q", got, want)
		}
		w.wantLines("g/a", "1 pending", "2 queued", "2 pending")
		w.wantNothingLeft()
	})
}

// Whatever a server has decided stands, and what the executor reports later has no effect.
func TestAStatusThatAServerDecidedStaysWhateverIsReportedLater(t *testing.T) {
	run(t, func(w *world) {
		if err := w.conn.Groups().Setup(w.t.Context(), cluster.Group{Group: "g", HasRouted: true}); err != nil {
			w.t.Fatal(err)
		}
		w.startNode("a")
		w.put("g/well", job.Schedule{})
		type ends struct{ decided, reported job.Status }
		jobs := map[job.Name]ends{}
		for _, decided := range []job.Status{job.StatusTimedOut, job.StatusLost, job.StatusCancelled} {
			for _, reported := range []job.Status{job.StatusSucceeded, job.StatusFailed} {
				name := job.Name(fmt.Sprintf("g/%s-then-%s", decided, reported))
				jobs[name] = ends{decided, reported}
				w.put(name, job.Schedule{}, func(j *job.Job) {
					j.Retry = job.Retry{Limit: 1, Delay: job.Duration(time.Minute), On: []job.Status{job.StatusFailed}}
					j.Children = []job.Child{{Job: "g/well", On: job.OnSuccess}}
				})
			}
		}
		time.Sleep(time.Second)
		for name := range jobs {
			if _, err := w.trigger(job.NewRunID(time.Now()), name); err != nil {
				w.t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		var report []func()
		for _, given := range w.pending() {
			token := w.conn.Tokens().Trigger(given, true, time.Now())
			if err := w.conn.Events().EndRun(w.t.Context(), given, jobs[given.Job].decided, "a server says so"); err != nil {
				w.t.Fatal(err)
			}
			e := bus.EventOf(given, bus.EventFinished, time.Now())
			e.Status, e.StartedAt, e.FinishedAt = jobs[given.Job].reported, e.At, e.At
			e.Retry = e.Status == job.StatusFailed
			report = append(report, func() { (&executor{w: w, conn: w.conn}).say(w.t.Context(), e, token, "") })
		}
		if len(report) != len(jobs) {
			w.t.Fatalf("%d of %d runs have begun", len(report), len(jobs))
		}
		for _, again := range report {
			again()
		}
		time.Sleep(time.Second)
		w.killNode("a")
		w.startNode("b")
		time.Sleep(10 * time.Second)
		for _, again := range report {
			again()
		}
		time.Sleep(3 * time.Minute)
		w.wantLines("g/well")
		for name := range jobs {
			w.wantLines(name, "1 pending")
		}
		w.wantNothingLeft()
	})
}
