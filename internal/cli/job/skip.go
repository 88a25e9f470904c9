package job

import (
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/run"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func newSkipCommand() *cobra.Command {
	var fire run.FireAhead
	var note string
	var undo bool
	cmd := &cobra.Command{
		Use:   "skip JOB --fire INSTANT|next",
		Short: "Skip one upcoming run",
		Long: "Skip one upcoming fire of a job. It is recorded as skipped, with the user and the reason. --undo\n" +
			"removes the skip. \"carillon next JOB\" lists upcoming fires. \"carillon run JOB --early\" runs a fire\n" +
			"now instead.",
		Example: "  carillon skip ops/backup --fire next --note \"the disk is being changed\"\n" +
			"  carillon skip ops/backup --fire 2026-03-02T02:00:00Z\n" +
			"  carillon skip ops/backup --fire 2026-03-02T02:00:00Z --undo",
		Args: cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	fire.Flag(cmd, "fire", "the fire at this `time` (RFC 3339), or next")
	if err := cmd.MarkFlagRequired("fire"); err != nil {
		panic("BUG: " + err.Error())
	}
	cmd.Flags().StringVar(&note, "note", "", "the reason, for the audit log")
	cmd.Flags().BoolVar(&undo, "undo", false, "undo a skip")
	cmd.ValidArgsFunction = r.JobNames
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := cli.JobName(args[0])
		if err != nil {
			return err
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		at, err := fire.Of(cmd.Context(), api, name, undo)
		if err != nil {
			return err
		}
		request, done := client.SkipRequest{FireTime: at, Reason: note}, "is skipped"
		ask := func() (*http.Response, error) {
			return api.SkipFire(cmd.Context(), name.Group(), name.Short(), nil, request)
		}
		if undo {
			ask = func() (*http.Response, error) {
				return api.UnskipFire(cmd.Context(), name.Group(), name.Short(), nil, request)
			}
			done = "runs"
		}
		item, err := client.Read[client.JobItem](ask())
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), item, func(t *draw.Table) { t.Line(fmt.Sprintf("%s: the fire at %s %s", name, t.Instant(at), done)) })
	}
	return cmd
}
