package job

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/cli/draw"
	"github.com/carillon-scheduler/carillon/internal/cli/run"
	"github.com/carillon-scheduler/carillon/internal/cli/selection"
	"github.com/carillon-scheduler/carillon/internal/client"
)

func newDeleteCommand() *cobra.Command {
	var calendars []string
	var c selection.Jobs
	cmd := &cobra.Command{
		Use:   "delete JOB... | --group GROUP | --query TEXT | --where FIELD:VALUE | --calendar CALENDAR",
		Short: "Delete jobs or calendars",
		Long: "Delete jobs by name, or all that a filter selects. At a terminal, and for a filter, the command\n" +
			"asks for confirmation. Deleted jobs no longer fire; their history is kept. A calendar can be\n" +
			"deleted when no job refers to it.",
		Example: "  carillon delete ops/old-report\n  carillon delete ops/a ops/b\n  carillon delete --group retired --dry-run\n  carillon delete --where state:ended --where last:succeeded\n  carillon delete --calendar holidays",
		Args: func(_ *cobra.Command, args []string) error {
			if cli.ExactlyOne(len(calendars) > 0, len(args) > 0, c.Given()) {
				return nil
			}
			return errors.New("name jobs, or use a filter such as --group, or --calendar")
		},
	}
	r := cli.NewRemote(cmd)
	c.Flags(cmd)
	c.Named = true
	cmd.Flags().StringSliceVar(&calendars, "calendar", nil, "delete this `calendar`; can be repeated")
	cmd.MarkFlagsMutuallyExclusive("calendar", "dry-run")
	cmd.ValidArgsFunction = r.JobNames
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(calendars) > 0 {
			api, err := r.API()
			if err != nil {
				return err
			}
			if cli.IsTerminal(cmd.InOrStdin()) {
				if goOn, err := c.Settle(cmd, "delete", "calendar", len(calendars)); !goOn {
					return err
				}
			}
			return cli.Each(calendars, func(name string) error {
				if _, err := client.Read[client.None](api.DeleteCalendar(cmd.Context(), name, nil)); err != nil {
					return err
				}
				cmd.Printf("calendar %s deleted\n", name)
				return nil
			})
		}
		return selection.ChangeJobs(r, cmd, args, &c, client.JobBulk{Action: client.JobBulkActionDelete}, "deleted")
	}
	return cmd
}

func newPauseCommand() *cobra.Command {
	cmd := newHoldCommand(true, "pause", "paused", "Pause jobs",
		"Pause jobs by name, or all that a filter selects. A filter asks for confirmation. Their fires are\n"+
			"recorded as skipped; runs that have started continue. --all pauses every job until \"carillon\n"+
			"resume --all\". With --for or --until, jobs resume automatically: fires before that time are\n"+
			"skipped, and a fire at that time runs.",
		"  carillon pause ops/backup --note \"disk is full\"\n  carillon pause ops/backup --for 2h\n  carillon pause --group ops --last failed --yes\n  carillon pause --all --note maintenance")
	cmd.AddCommand(run.NewPauseCommand())
	return cmd
}

func newResumeCommand() *cobra.Command {
	cmd := newHoldCommand(false, "resume", "resumed", "Resume paused jobs",
		"Resume paused jobs by name, or all that a filter selects. A filter asks for confirmation. --all\n"+
			"ends \"carillon pause --all\"; jobs that were paused by name stay paused.",
		"  carillon resume ops/backup\n  carillon resume --all")
	cmd.AddCommand(run.NewResumeCommand())
	return cmd
}

// newHoldCommand returns pause or resume.
func newHoldCommand(pause bool, verb, done, short, long, example string) *cobra.Command {
	var all bool
	var note string
	var until cli.PauseEnd
	var c selection.Jobs
	cmd := &cobra.Command{
		Use: verb + " JOB... | --group GROUP | --query TEXT | --all", Short: short, Long: long, Example: example,
		Args: func(_ *cobra.Command, args []string) error {
			if cli.ExactlyOne(all, len(args) > 0, c.Given()) {
				return nil
			}
			return errors.New("name jobs, or use a filter such as --group, or --all")
		},
	}
	r := cli.NewRemote(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "all jobs, with one switch")
	cmd.Flags().StringVar(&note, "note", "", "the reason, for the audit log")
	c.Flags(cmd)
	if pause {
		until.Flags(cmd)
	}
	cmd.MarkFlagsMutuallyExclusive("all", "dry-run")
	cmd.ValidArgsFunction = r.JobNames
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		until, err := until.At(time.Now())
		if err != nil {
			return cli.Usage(err)
		}
		if all {
			return setPause(r, cmd, client.PauseSwitch{Paused: pause, Until: until, Note: note})
		}
		action := client.JobBulkActionResume
		if pause {
			action = client.JobBulkActionPause
		}
		return selection.ChangeJobs(r, cmd, args, &c, client.JobBulk{Action: action, Until: until, Note: note}, done)
	}
	return cmd
}

// setPause turns the switch for everything.
func setPause(r *cli.Remote, cmd *cobra.Command, h client.PauseSwitch) error {
	api, err := r.API()
	if err != nil {
		return err
	}
	now, err := client.Again(cmd.Context(), r.Again, func() (client.Pause, error) { // turned twice, it is as it is after once
		return client.Read[client.Pause](api.SetPause(cmd.Context(), nil, h))
	})
	if err != nil {
		return err
	}
	return r.Show(cmd.OutOrStdout(), now, func(t *draw.Table) {
		if drawPause(t, now); !now.Paused {
			t.Line("all jobs resumed")
		}
	})
}
