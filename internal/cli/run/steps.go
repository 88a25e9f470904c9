package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

func newGetStepsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "steps RUN", Aliases: []string{"step"},
		Short:   "List the steps of a workflow's run",
		Long:    "List the steps of a workflow's run in the order of the document, with their states and reasons.",
		Example: "  carillon get steps 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d\n  carillon get steps 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d -o json | jq -r '.steps[] | select(.state == \"failed\") | .step'",
		Args:    cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := cli.RunID(args[0])
		if err != nil {
			return err
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		list, err := cli.AwaitHistory(cmd.Context(), id, func() (client.RunSteps, error) { return readSteps(cmd.Context(), api, id) })
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), list, func(t *draw.Table) { drawSteps(t, list) })
	}
	return cmd
}

func readSteps(ctx context.Context, api *client.API, id job.RunID) (client.RunSteps, error) {
	return client.Read[client.RunSteps](api.ListSteps(ctx, string(id), &client.ListStepsParams{}))
}

// drawSteps draws the steps of a run, one a row.
func drawSteps(t *draw.Table, list client.RunSteps) {
	row := []string{"STEP", "STATE", "AFTER", "STARTED", "TOOK"}
	if t.Wide {
		row = append(row, "RUN", "INSTANCE", "TASK")
	}
	t.Row(append(row, "NOTE")...)
	for i := range list.Steps {
		s := &list.Steps[i]
		row := []string{s.Step, string(s.State), draw.OrDash(t.Cell(afterText(s), 60)), t.Instant(stepBegan(s)), draw.Took(stepBegan(s), s.FinishedAt)}
		if t.Wide {
			row = append(row, draw.OrDash(string(s.RunID)), t.Cell(s.Instance, 40), string(s.Task)+": "+t.Cell(cmp.Or(s.Detail, s.Step), 60))
		}
		t.Row(append(row, t.Cell(stepNote(s, t.Clock), draw.NoteWidth))...)
	}
}

// stepBegan returns when the first attempt of a step began, or its wait.
func stepBegan(s *client.RunStep) time.Time {
	switch {
	case !s.FirstStartedAt.IsZero():
		return s.FirstStartedAt
	case s.Wait != nil:
		return s.Wait.Since
	}
	return s.StartedAt
}

// afterText tells which ends of which steps a step follows.
func afterText(s *client.RunStep) string {
	return cli.StepAfter(s.After, s.Join, s.Finally)
}

// stepNote tells what is out of the ordinary about a step.
func stepNote(s *client.RunStep, clock draw.Clock) string {
	var notes []string
	if s.Attempt > 1 {
		notes = append(notes, fmt.Sprintf("attempt %d", s.Attempt))
	}
	if s.State == client.RunStepState(job.StatusRunning) && (s.Percent > 0 || s.Text != "") {
		notes = append(notes, strings.TrimSpace(fmt.Sprintf("%.0f %% %s", s.Percent, s.Text)))
	}
	if s.Pieces > 0 && !job.Status(s.State).Final() {
		notes = append(notes, fmt.Sprintf("%d/%d pieces", s.PiecesEnded, s.Pieces))
	}
	reason := string(s.Reason)
	if s.Wait != nil && s.State == client.RunStepState(job.StatusQueued) {
		reason += waitText(s.Wait, clock)
	}
	for _, text := range []string{reason, string(s.Message)} {
		if text != "" {
			notes = append(notes, text)
		}
	}
	if s.MayFail {
		notes = append(notes, "may fail")
	}
	return strings.Join(notes, "; ")
}

// waitText goes on where the reason of a step that waits ends.
func waitText(w *runlog.Wait, clock draw.Clock) (text string) {
	if w.Key != "" {
		text += " with key " + w.Key
	}
	if !w.Expires.IsZero() {
		text += " until " + clock.Instant(w.Expires)
	}
	if w.Min > 1 {
		text += "; " + givenText(w)
	}
	return text
}

// stepPause is how often the steps of a run are read that somebody waits for.
const stepPause = 500 * time.Millisecond

// followSteps prints the steps of a workflow's run as their states change, until the run has ended.
func followSteps(ctx context.Context, api *client.API, id job.RunID, w io.Writer, clock draw.Clock) error {
	shown := map[string]string{}
	for {
		list, err := cli.AwaitHistory(ctx, id, func() (client.RunSteps, error) { return readSteps(ctx, api, id) })
		switch {
		case err == nil:
			if err := printChanges(w, list, shown, clock); err != nil || list.Status.Final() {
				return err
			}
		case errors.Is(err, job.ErrNotFound):
			return nil // its version is not kept
		case !errors.Is(err, job.ErrUnavailable):
			return err
		}
		if err := pause.For(ctx, stepPause); err != nil {
			return err
		}
	}
}

// printChanges prints the steps whose lines are not the ones that were shown.
func printChanges(w io.Writer, list client.RunSteps, shown map[string]string, clock draw.Clock) error {
	for i := range list.Steps {
		s := &list.Steps[i]
		if s.RunID == "" {
			continue
		}
		line := "step " + s.Step + " " + string(s.State)
		if !s.FinishedAt.IsZero() && !stepBegan(s).IsZero() {
			line += " in " + draw.Took(stepBegan(s), s.FinishedAt)
		}
		if note := stepNote(s, clock); note != "" && s.State != client.RunStepState(job.StatusRunning) {
			line += ": " + draw.Text(note, 200)
		}
		if shown[s.Step] == line {
			continue
		}
		shown[s.Step] = line
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// runOfStep returns the run of a step of a workflow's run. If it is to be awaited, it waits until the step has one,
// or the workflow's run has ended.
func runOfStep(ctx context.Context, api *client.API, id job.RunID, step string, await bool) (job.RunID, error) {
	for {
		list, err := cli.AwaitHistory(ctx, id, func() (client.RunSteps, error) { return readSteps(ctx, api, id) })
		if err != nil {
			return "", err
		}
		var names []string
		for i := range list.Steps {
			s := &list.Steps[i]
			names = append(names, s.Step)
			switch {
			case s.Step != step:
			case s.RunID != "":
				return s.RunID, nil
			case !await || list.Status.Final():
				return "", fmt.Errorf("%w: step %s has no run yet: it is %s", job.ErrNotFound, step, s.State)
			}
		}
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+step+" ") {
			return "", fmt.Errorf("%w: run %s has no step %q; its steps are %s", job.ErrNotFound, id, step, draw.Text(strings.Join(names, ", "), 300))
		}
		if err := pause.For(ctx, stepPause); err != nil {
			return "", err
		}
	}
}
