package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"carillon/internal/client"
	"carillon/job"
)

func newCancelCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "cancel RUN...",
		Short: "End runs that are pending or running",
		Long:  "End runs that are pending or running. A run that has ended already is a conflict.",
		Example: "  carillon cancel 019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d --reason \"wrong input\"\n" +
			"  carillon get runs --status running -o json | jq -r '.items[].run_id' | xargs carillon cancel",
		Args: cobra.MinimumNArgs(1),
	}
	r := newRemote(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := r.api()
		if err != nil {
			return err
		}
		answers := []client.CancelAccepted{}
		err = eachOf(args, func(arg string) error {
			id, err := runID(arg)
			if err != nil {
				return err
			}
			a, err := soon(cmd.Context(), id, func() (client.CancelAccepted, error) {
				return client.Read[client.CancelAccepted](api.CancelRun(cmd.Context(), string(id), nil, client.CancelRequest{Reason: reason}))
			})
			if err == nil {
				answers = append(answers, a)
			}
			return err
		})
		return errors.Join(r.output.show(cmd.OutOrStdout(), answers, func(t *table) {
			for _, a := range answers {
				if a.Found == job.StatusRunning {
					t.line("run " + string(a.RunID) + " is being ended")
				} else {
					t.line("run " + string(a.RunID) + " was called off")
				}
			}
		}), err)
	}
	return cmd
}

func newDeleteCommand() *cobra.Command {
	var calendars []string
	cmd := &cobra.Command{
		Use:     "delete JOB... | delete --calendar CALENDAR",
		Short:   "Delete jobs, whose history stays, or calendars",
		Long:    "Delete jobs. They fire no more; what they ran stays in the history. A calendar can be deleted when no job refers to it.",
		Example: "  carillon delete ops/old-report\n  carillon delete ops/a ops/b\n  carillon delete --calendar holidays",
		Args: func(_ *cobra.Command, args []string) error {
			if (len(calendars) == 0) == (len(args) == 0) {
				return errors.New("want the names of jobs, or --calendar")
			}
			return nil
		},
	}
	r := newRemote(cmd)
	cmd.Flags().StringSliceVar(&calendars, "calendar", nil, "delete this `calendar`, or these")
	cmd.ValidArgsFunction = r.jobNames
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(calendars) > 0 {
			api, err := r.api()
			if err != nil {
				return err
			}
			return eachOf(calendars, func(name string) error {
				if _, err := client.Read[client.None](api.DeleteCalendar(cmd.Context(), name, nil)); err != nil {
					return err
				}
				cmd.Printf("calendar %s deleted\n", name)
				return nil
			})
		}
		return r.eachJob(cmd, args, "deleted", func(ctx context.Context, api *client.API, name job.Name) error {
			_, err := client.Read[client.None](api.DeleteJob(ctx, name.Group(), name.Short(), nil))
			return err
		})
	}
	return cmd
}

func newPauseCommand() *cobra.Command {
	return newHoldCommand(true, "pause", "paused", "Pause jobs, or everything",
		"Pause jobs. Their fires are recorded as skipped; runs that have begun go on.\n"+
			"With --all nothing fires at all, until \"carillon resume --all\".",
		"  carillon pause ops/backup --note \"disk is full\"\n  carillon pause --all --note maintenance")
}

func newResumeCommand() *cobra.Command {
	return newHoldCommand(false, "resume", "resumed", "Resume jobs, or everything",
		"Resume jobs that are paused. With --all the switch for everything is turned back on;\n"+
			"jobs that were paused by name stay so.",
		"  carillon resume ops/backup\n  carillon resume --all")
}

// newHoldCommand returns pause or resume.
func newHoldCommand(pause bool, verb, done, short, long, example string) *cobra.Command {
	var all bool
	var note string
	cmd := &cobra.Command{
		Use: verb + " JOB... | --all", Short: short, Long: long, Example: example,
		Args: func(_ *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return errors.New("want the names of jobs, or --all")
			}
			return nil
		},
	}
	r := newRemote(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "everything, by one switch")
	cmd.Flags().StringVar(&note, "note", "", "why, for the record")
	cmd.ValidArgsFunction = r.jobNames
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if all {
			return r.setHold(cmd, client.HoldRequest{Paused: pause, Note: note})
		}
		return r.eachJob(cmd, args, done, func(ctx context.Context, api *client.API, name job.Name) error {
			if pause {
				_, err := client.Read[client.JobItem](api.PauseJob(ctx, name.Group(), name.Short(), nil, client.Note{Note: note}))
				return err
			}
			_, err := client.Read[client.JobItem](api.ResumeJob(ctx, name.Group(), name.Short(), nil, client.Note{Note: note}))
			return err
		})
	}
	return cmd
}

// setHold turns the switch for everything.
func (r *remote) setHold(cmd *cobra.Command, h client.HoldRequest) error {
	api, err := r.api()
	if err != nil {
		return err
	}
	now, err := client.Read[client.Hold](api.SetHold(cmd.Context(), nil, h))
	if err != nil {
		return err
	}
	return r.output.show(cmd.OutOrStdout(), now, func(t *table) {
		if drawHold(t, now); !now.Paused {
			t.line("everything fires again")
		}
	})
}

// jobDone is what a command did to a job.
type jobDone struct {
	Job    job.Name `json:"job"`
	Result string   `json:"result"`
}

// eachJob does something to each of the named jobs, and shows to which it was done.
func (r *remote) eachJob(cmd *cobra.Command, args []string, done string, do func(context.Context, *client.API, job.Name) error) error {
	api, err := r.api()
	if err != nil {
		return err
	}
	results := []jobDone{}
	err = eachOf(args, func(arg string) error {
		name, err := jobName(arg)
		if err == nil {
			err = do(cmd.Context(), api, name)
		}
		if err == nil {
			results = append(results, jobDone{name, done})
		}
		return err
	})
	return errors.Join(r.output.show(cmd.OutOrStdout(), results, func(t *table) {
		for _, j := range results {
			t.line(string(j.Job) + " " + j.Result)
		}
	}), err)
}

// eachOf calls do for each argument, whatever becomes of those before it. With
// several arguments an error says to which it belongs.
func eachOf(args []string, do func(string) error) error {
	var errs []error
	for _, arg := range args {
		if err := do(arg); err != nil {
			if len(args) > 1 {
				err = fmt.Errorf("%s: %w", arg, err)
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
