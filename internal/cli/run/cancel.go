package run

import (
	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/selection"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func newCancelCommand() *cobra.Command {
	var reason string
	var force bool
	var c selection.Runs
	cmd := &cobra.Command{
		Use:   "cancel RUN... | --job JOB | --group GROUP ...",
		Short: "Cancel pending or running runs",
		Long: "Cancel pending or running runs by id, or all that a filter selects. A filter asks for\n" +
			"confirmation. A finished run cannot be cancelled. When the run of a workflow is cancelled, its finally\n" +
			"steps run all the same; --force cancels them, too.",
		Example: "  carillon cancel 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d --reason \"wrong input\"\n" +
			"  carillon cancel --job ops/backup --status pending --dry-run",
		Args: c.Args,
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "the reason, for the audit log")
	cmd.Flags().BoolVar(&force, "force", false, "cancel the finally steps of workflows, too")
	c.Flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return selection.ChangeRuns(r, cmd, args, &c, client.RunBulk{Action: client.RunBulkActionCancel, Note: reason, Force: force}, func(item client.RunBulkItem) string {
			if item.Status == job.StatusRunning {
				return "run " + string(item.RunID) + " is being cancelled"
			}
			return "run " + string(item.RunID) + " cancelled"
		})
	}
	return cmd
}
