package job

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// showGraphHeat prints how the steps of a workflow did in its latest runs.
func showGraphHeat(cmd *cobra.Command, r *cli.Remote, name job.Name, steps []job.Step) error {
	api, err := r.API()
	if err != nil {
		return err
	}
	history, err := client.Read[client.StepHistory](api.GetStepHistory(cmd.Context(), name.Group(), name.Short(), &client.GetStepHistoryParams{Runs: new(1)}))
	if err != nil {
		return err
	}
	return r.Show(cmd.OutOrStdout(), history, func(t *draw.Table) { drawHeat(t, steps, history, r.Clock()) })
}

// drawHeat draws how steps did, one a row.
func drawHeat(t *draw.Table, steps []job.Step, history client.StepHistory, clock draw.Clock) {
	of := map[string]*client.StepFigures{}
	for i := range history.Steps {
		of[history.Steps[i].Step] = &history.Steps[i]
	}
	t.Row("STEP", "RUNS", "FAILED", "P50", "P95", "LAST FAILURE")
	eachInOrder(steps, func(s *job.Step, name string) {
		f := of[s.Name]
		if f == nil || f.Runs == 0 {
			t.Row(name, "0", "-", "-", "-", "-")
			return
		}
		last := "-"
		if f.LastFailure != nil {
			last = fmt.Sprintf("%s %s, run %s", clock.Instant(f.LastFailure.At), f.LastFailure.Status, f.LastFailure.RunID)
		}
		t.Row(name, strconv.Itoa(f.Runs), fmt.Sprintf("%d (%.0f %%)", f.Failures, 100*float64(f.Failures)/float64(f.Runs)), lasted(f.P50Ms), lasted(f.P95Ms), last)
	})
	counted := draw.Count(history.Counted, "run") + " counted"
	if history.Cut {
		counted += ", the newest of the last 30 days, since " + clock.Instant(history.Since)
	}
	t.Line("")
	t.Line(counted)
}

// lasted writes a duration in milliseconds; none has "-".
func lasted(ms *int64) string {
	if ms == nil {
		return "-"
	}
	var begin time.Time
	return draw.Took(begin.Add(time.Second), begin.Add(time.Second+time.Duration(*ms)*time.Millisecond))
}
