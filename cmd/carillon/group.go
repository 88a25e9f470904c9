package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"carillon/internal/client"
	"carillon/job"
)

func newGroupCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "group", Short: "Limit what executor groups do"}
	cmd.AddCommand(newGroupSetCommand())
	return cmd
}

func newGroupSetCommand() *cobra.Command {
	var limit int
	var rate float64
	cmd := &cobra.Command{
		Use:   "set GROUP",
		Short: "Limit how many runs of a group are alive at once, and begin per second",
		Long: "Limit how many runs of a group are alive at once, and how many begin per second, in the whole cluster\n" +
			"and for all jobs of the group together. What goes beyond waits as pending. A limit that is not given\n" +
			"stays; 0 takes it away. \"carillon get groups\" shows the limits, and how many runs wait.",
		Example: "  carillon group set billing --limit 20\n  carillon group set mails --rate 50 --limit 0",
		Args:    cobra.ExactArgs(1),
	}
	r := newRemote(cmd)
	cmd.Flags().IntVar(&limit, "limit", 0, "how many runs are alive at once; 0 is no limit")
	cmd.Flags().Float64Var(&rate, "rate", 0, "how many runs begin per second; 0 is no limit")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("limit") && !cmd.Flags().Changed("rate") {
			return usage(errors.New("want --limit or --rate"))
		}
		if err := job.CheckSlug("group", args[0]); err != nil {
			return usage(err)
		}
		api, err := r.api()
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
		return r.output.show(cmd.OutOrStdout(), now, func(t *table) { t.line("group " + now.ExecutorGroup + " " + groupLimits(now)) })
	}
	return cmd
}

// groupLimits tells the limits of a group in words.
func groupLimits(g client.Group) string {
	switch {
	case g.Limit > 0 && g.Rate > 0:
		return fmt.Sprintf("runs at most %d at once and begins at most %g a second", g.Limit, g.Rate)
	case g.Limit > 0:
		return fmt.Sprintf("runs at most %d at once", g.Limit)
	case g.Rate > 0:
		return fmt.Sprintf("begins at most %g runs a second", g.Rate)
	}
	return "has no limits"
}
