package run

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func newWaitCommand() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "wait RUN...",
		Short: "Wait until runs have finished",
		Long: "Wait until runs have finished, one after the other, and show their outcome. The exit code is the\n" +
			"same as for \"run --wait\". For several runs, it is that of the first unsuccessful one.",
		Example: "  carillon wait 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d && echo done\n" +
			"  carillon wait $(carillon run ops/backup) --follow",
		Args: cobra.MinimumNArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "stream the logs of the runs")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.API()
		if err != nil {
			return err
		}
		return cli.Each(args, func(arg string) error {
			id, err := cli.RunID(arg)
			if err != nil {
				return err
			}
			run, err := cli.AwaitHistory(cmd.Context(), id, func() (client.RunDetail, error) {
				return client.Read[client.RunDetail](api.GetRun(cmd.Context(), string(id)))
			})
			if err != nil && !errors.Is(err, job.ErrNotFound) {
				return err
			}
			return awaitRun(r, cmd, api, client.RunAccepted{RunID: id, Job: run.Job}, follow)
		})
	}
	return cmd
}
