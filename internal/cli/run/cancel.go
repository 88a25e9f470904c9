package run

import (
	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/selection"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func newCancelCommand() *cobra.Command {
	var reason, key string
	var force bool
	var c selection.Runs
	cmd := &cobra.Command{
		Use:   "cancel RUN... | JOB --key KEY | --job JOB | --group GROUP ...",
		Short: "Cancel pending or running runs",
		Long: "Cancel pending or running runs by id, the run of a job that has a key, or all that a filter selects. A\n" +
			"filter asks for confirmation. A finished run cannot be cancelled. When the run of a workflow is cancelled, its finally\n" +
			"steps run all the same; --force cancels them, too.",
		Example: "  carillon cancel 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d --reason \"wrong input\"\n" +
			"  carillon cancel --job ops/backup --status pending --dry-run",
		Args: func(cmd *cobra.Command, args []string) error {
			if key != "" {
				return cobra.ExactArgs(1)(cmd, args)
			}
			return c.Args(cmd, args)
		},
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "the reason, for the audit log")
	cmd.Flags().BoolVar(&force, "force", false, "cancel the finally steps of workflows, too")
	cmd.Flags().StringVar(&key, "key", "", "the `key` that the run was requested with")
	c.Flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if key != "" {
			return cancelKeyed(r, cmd, args[0], client.CancelKeyRequest{Key: key, Reason: reason, Force: force})
		}
		return selection.ChangeRuns(r, cmd, args, &c, client.RunBulk{Action: client.RunBulkActionCancel, Note: reason, Force: force}, func(item client.RunBulkItem) string {
			return cancelled(item.RunID, item.Status)
		})
	}
	return cmd
}

// cancelled says that a run was cancelled, which was found with a status.
func cancelled(id job.RunID, found job.Status) string {
	if found == job.StatusRunning {
		return "run " + string(id) + " is being cancelled"
	}
	return "run " + string(id) + " cancelled"
}

// cancelKeyed cancels the run of a job that has a key.
func cancelKeyed(r *cli.Remote, cmd *cobra.Command, arg string, request client.CancelKeyRequest) error {
	name, err := cli.JobName(arg)
	if err != nil {
		return err
	}
	api, err := r.API()
	if err != nil {
		return err
	}
	accepted, err := client.Read[client.CancelAccepted](api.CancelRunOfKey(cmd.Context(), name.Group(), name.Short(), nil, request))
	if err != nil {
		return err
	}
	return r.Show(cmd.OutOrStdout(), accepted, func(t *draw.Table) { t.Line(cancelled(accepted.RunID, accepted.Found)) })
}
