package executor

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func newGroupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "group",
		Short:   "Set limits of executor groups",
		Example: "  carillon group set billing --limit 20",
	}
	cmd.AddCommand(newGroupSetCommand())
	return cmd
}

func newGroupSetCommand() *cobra.Command {
	var limit int
	var rate float64
	cmd := &cobra.Command{
		Use:   "set GROUP",
		Short: "Limit concurrent runs and start rate of a group",
		Long: "Limit how many runs of a group are active at once, and how many start per second, across the\n" +
			"cluster and all jobs of the group. Runs beyond the limit stay pending. A limit that is not set is\n" +
			"unchanged; 0 removes it. \"carillon get groups\" shows the limits and how many runs wait.",
		Example: "  carillon group set billing --limit 20\n  carillon group set mails --rate 50 --limit 0",
		Args:    cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().IntVar(&limit, "limit", 0, "maximum number of concurrent runs; 0 removes the limit")
	cmd.Flags().Float64Var(&rate, "rate", 0, "maximum number of runs that start per second; 0 removes the limit")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("limit") && !cmd.Flags().Changed("rate") {
			return cli.Usage(errors.New("set --limit or --rate"))
		}
		if err := job.CheckSlug("group", args[0]); err != nil {
			return cli.Usage(err)
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		list, err := client.Read[client.GroupList](api.ListGroups(cmd.Context()))
		if err != nil {
			return err
		}
		var wish client.GroupLimits
		for _, g := range list.Items {
			if g.ExecutorGroup == args[0] {
				wish = client.GroupLimits{Limit: g.Limit, Rate: g.Rate}
			}
		}
		if cmd.Flags().Changed("limit") {
			wish.Limit = limit
		}
		if cmd.Flags().Changed("rate") {
			wish.Rate = rate
		}
		now, err := client.Read[client.Group](api.PutGroup(cmd.Context(), args[0], nil, wish))
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), now, func(t *draw.Table) { t.Line("group " + now.ExecutorGroup + " " + groupLimits(now)) })
	}
	return cmd
}

// groupLimits tells the limits of a group in words.
func groupLimits(g client.Group) string {
	switch {
	case g.Limit > 0 && g.Rate > 0:
		return fmt.Sprintf("runs at most %d at once and starts at most %g per second", g.Limit, g.Rate)
	case g.Limit > 0:
		return fmt.Sprintf("runs at most %d at once", g.Limit)
	case g.Rate > 0:
		return fmt.Sprintf("starts at most %g runs per second", g.Rate)
	}
	return "has no limits"
}
