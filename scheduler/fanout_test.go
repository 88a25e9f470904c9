package scheduler_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// TestAFanOutGoesOnWhereItsOwnerWasCutOff cuts a node off while it begins a thousand steps, after so many writes of its
// connection, and has another one go on.
func TestAFanOutGoesOnWhereItsOwnerWasCutOff(t *testing.T) {
	var steps []job.Step
	for i := range workflow.MaxSteps {
		steps = append(steps, job.Step{Step: workflow.Step{Name: fmt.Sprintf("s%d", i)}, Task: job.Task{Handler: "h"}})
	}
	middle, cut := 0, []int64{1, 4, 8, 12, 16, 24, 32, 48}
	if testing.Short() {
		cut = []int64{4, 12, 24}
	}
	for _, writes := range cut {
		t.Run(strconv.FormatInt(writes, 10), func(t *testing.T) {
			run(t, func(w *world) {
				once := start.Add(30 * time.Second)
				w.put("g/a", job.Schedule{Once: &once}, func(j *job.Job) { j.Task, j.Steps = job.Task{}, steps })
				way := &tripwire{InProcessConnProvider: w.broker.Dialer("a"), trip: func() { w.broker.Partition("a") }}
				conn := w.connectBy("a", way)
				if err := conn.Open(w.t.Context()); err != nil {
					w.t.Fatal(err)
				}
				w.startNodeOn("a", conn)
				time.Sleep(time.Until(once) - time.Millisecond)
				way.left.Store(writes)
				time.Sleep(5 * time.Second)
				begun := len(w.triggers())
				if begun > 0 && begun < len(steps) {
					middle++
				}
				w.startNode("b")
				time.Sleep(time.Minute)
				ids := w.triggers()
				slices.Sort(ids)
				if n := len(slices.Compact(slices.Clone(ids))); n != len(steps) || len(ids) != n {
					t.Errorf("%d steps had begun; now there are %d triggers of %d steps", begun, len(ids), n)
				}
				said := map[string]int{}
				w.records(func(_ *journal.Record, d journal.Decided) {
					if said[d.Step]++; d.Step != "" && said[d.Step] > 1 {
						t.Errorf("step %s: %s again", d.Step, d.Status)
					}
				})
			})
		})
	}
	if middle == 0 {
		t.Error("no node was cut off in the middle")
	}
}
