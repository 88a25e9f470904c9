package run

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// NewPauseCommand returns the command below pause that puts a workflow's run on hold.
func NewPauseCommand() *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:   "run RUN",
		Short: "Put a workflow's run on hold",
		Long: "Put a workflow's run on hold: no step of it begins until \"carillon resume run\". Steps that run,\n" +
			"retry or wait go on, and so does total_timeout. Finally steps do not begin either. The run can\n" +
			"be cancelled.",
		Example: "  carillon pause run 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d --note \"disk is full\"",
	}
	cmd.Flags().StringVar(&note, "note", "", "the reason, for the run and the audit log")
	return holdCommand(cmd, "on hold", func(cmd *cobra.Command, api *client.API, id job.RunID) (client.HoldAccepted, error) {
		return client.Read[client.HoldAccepted](api.HoldRun(cmd.Context(), string(id), nil, client.HoldRunRequest{Note: note}))
	})
}

// NewResumeCommand returns the command below resume that resumes a workflow's run.
func NewResumeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "run RUN",
		Short:   "Resume a workflow's run that is on hold",
		Long:    "Resume a workflow's run that \"carillon pause run\" put on hold. Steps that are ready begin.",
		Example: "  carillon resume run 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d",
	}
	return holdCommand(cmd, "resumed", func(cmd *cobra.Command, api *client.API, id job.RunID) (client.HoldAccepted, error) {
		return client.Read[client.HoldAccepted](api.ResumeRun(cmd.Context(), string(id), nil))
	})
}

// holdCommand completes a command that asks for one run.
func holdCommand(cmd *cobra.Command, is string, ask func(*cobra.Command, *client.API, job.RunID) (client.HoldAccepted, error)) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
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
		accepted, err := client.Again(cmd.Context(), r.Again, func() (client.HoldAccepted, error) { return ask(cmd, api, id) }) // asked twice, it is as after once
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), accepted, func(t *draw.Table) {
			t.Line(fmt.Sprintf("run %s of %s is %s", accepted.RunID, accepted.Job, is))
		})
	}
	return cmd
}
