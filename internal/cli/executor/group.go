package executor

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

func newGroupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "group",
		Short:   "Limit, pause and resume executor groups",
		Example: "  carillon group set billing --limit 20\n  carillon group pause billing --for 2h",
	}
	cmd.AddCommand(newGroupSetCommand(), newGroupPauseCommand(), newGroupResumeCommand())
	return cmd
}

func newGroupSetCommand() *cobra.Command {
	var limit int
	var rate float64
	var startedBy []string
	cmd := &cobra.Command{
		Use:   "set GROUP",
		Short: "Limit runs of a group, and permit other groups to start its jobs",
		Long: "Limit how many runs of a group are active at once, and how many start per second, across the\n" +
			"cluster and all jobs of the group. Runs beyond the limit stay pending. A limit that is not set is\n" +
			"unchanged; 0 removes it. \"carillon get groups\" shows the limits and how many runs wait.\n\n" +
			"With --started-by, handlers of other groups may start jobs of the group; \"\" permits none.",
		Example: "  carillon group set billing --limit 20\n  carillon group set mails --rate 50 --limit 0\n  carillon group set mails --started-by billing,shop",
		Args:    cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().IntVar(&limit, "limit", 0, "maximum number of concurrent runs; 0 removes the limit")
	cmd.Flags().Float64Var(&rate, "rate", 0, "maximum number of runs that start per second; 0 removes the limit")
	cmd.Flags().StringSliceVar(&startedBy, "started-by", nil, "other groups whose handlers may start jobs of the group")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("limit") && !cmd.Flags().Changed("rate") && !cmd.Flags().Changed("started-by") {
			return cli.Usage(errors.New("set --limit, --rate or --started-by"))
		}
		if err := job.CheckSlug("group", args[0]); err != nil {
			return cli.Usage(err)
		}
		api, err := r.API()
		if err != nil {
			return err
		}
		var wish client.GroupSettings
		if cmd.Flags().Changed("limit") {
			wish.Limit = &limit
		}
		if cmd.Flags().Changed("rate") {
			wish.Rate = &rate
		}
		if cmd.Flags().Changed("started-by") {
			wish.StartedBy = &startedBy
		}
		now, err := client.Read[client.Group](api.PutGroup(cmd.Context(), args[0], nil, wish))
		if err != nil {
			return err
		}
		return r.Show(cmd.OutOrStdout(), now, func(t *draw.Table) {
			t.Line("group " + now.ExecutorGroup + " " + groupLimits(now))
			if len(now.StartedBy) > 0 {
				t.Line("handlers of these groups may start its jobs: " + strings.Join(now.StartedBy, ", "))
			}
		})
	}
	return cmd
}

func newGroupPauseCommand() *cobra.Command {
	var wish client.PauseSwitch
	var until cli.PauseEnd
	cmd := &cobra.Command{
		Use:   "pause GROUP",
		Short: "Pause all jobs of a group with one switch",
		Long: "Pause all jobs of an executor group, including jobs saved later. Their fires are recorded as\n" +
			"skipped; runs that have started continue. With --for or --until, the group resumes automatically:\n" +
			"fires before that time are skipped, and a fire at that time runs. \"carillon pause --group\" pauses\n" +
			"each job by itself instead.",
		Example: "  carillon group pause billing --for 2h --note \"the database moves\"",
		Args:    cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&wish.Note, "note", "", "the reason, for the audit log")
	until.Flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		wish.Paused = true
		if wish.Until, err = until.At(time.Now()); err != nil {
			return cli.Usage(err)
		}
		return setGroupPause(r, cmd, args[0], wish)
	}
	return cmd
}

func newGroupResumeCommand() *cobra.Command {
	var wish client.PauseSwitch
	cmd := &cobra.Command{
		Use:   "resume GROUP",
		Short: "Resume a paused group",
		Long: "Resume an executor group after \"carillon group pause\". Jobs that were paused by name stay paused.\n" +
			"Fires that were skipped are not caught up.",
		Example: "  carillon group resume billing",
		Args:    cobra.ExactArgs(1),
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().StringVar(&wish.Note, "note", "", "the reason, for the audit log")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return setGroupPause(r, cmd, args[0], wish) }
	return cmd
}

// setGroupPause turns the switch of a group.
func setGroupPause(r *cli.Remote, cmd *cobra.Command, group string, wish client.PauseSwitch) error {
	if err := job.CheckSlug("group", group); err != nil {
		return cli.Usage(err)
	}
	api, err := r.API()
	if err != nil {
		return err
	}
	now, err := client.Again(cmd.Context(), r.Again, func() (client.Group, error) { // turned twice, it is as it is after once
		return client.Read[client.Group](api.PauseGroup(cmd.Context(), group, nil, wish))
	})
	if err != nil {
		return err
	}
	return r.Show(cmd.OutOrStdout(), now, func(t *draw.Table) {
		if now.Pause == nil {
			t.Line("group " + now.ExecutorGroup + " is resumed: it is not paused any more")
			return
		}
		drawGroupPause(t, now)
	})
}

func drawGroupPause(t *draw.Table, g client.Group) {
	t.Pause("group "+g.ExecutorGroup+" has been", *g.Pause)
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
