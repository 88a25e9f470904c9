package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/client"
	"carillon/job"
)

func newSkipCommand() *cobra.Command {
	var fire fireAhead
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
	r := newRemote(cmd)
	fire.flag(cmd, "fire", "the fire at this `time` (RFC 3339), or next")
	if err := cmd.MarkFlagRequired("fire"); err != nil {
		panic("BUG: " + err.Error())
	}
	cmd.Flags().StringVar(&note, "note", "", "the reason, for the audit log")
	cmd.Flags().BoolVar(&undo, "undo", false, "undo a skip")
	cmd.ValidArgsFunction = r.jobNames
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := jobName(args[0])
		if err != nil {
			return err
		}
		api, err := r.api()
		if err != nil {
			return err
		}
		at, err := fire.of(cmd.Context(), api, name, undo)
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
		return r.output.show(cmd.OutOrStdout(), item, func(t *table) { t.line(fmt.Sprintf("%s: the fire at %s %s", name, instant(at), done)) })
	}
	return cmd
}

// fireAhead is a flag that names a fire of a job.
type fireAhead struct{ text string }

// nextFireWord names the next fire of all.
const nextFireWord = "next"

func (f *fireAhead) flag(cmd *cobra.Command, name, help string) {
	cmd.Flags().StringVar(&f.text, name, "", help)
	complete(cmd, name, nextFireWord)
}

// of returns the fire that is meant: of those that are to run the next one, or the next of
// those that are skipped.
func (f *fireAhead) of(ctx context.Context, api *client.API, name job.Name, off bool) (time.Time, error) {
	if f.text != nextFireWord {
		at, err := time.Parse(time.RFC3339, f.text)
		if err != nil {
			return at, usage(fmt.Errorf("%q must be a time in RFC 3339, such as 2026-03-01T09:00:00Z, or \"next\"", f.text))
		}
		return at, nil
	}
	preview, err := client.Read[client.Preview](api.PreviewJob(ctx, name.Group(), name.Short(), &client.PreviewJobParams{N: new(maxNextOf)}))
	if err != nil {
		return time.Time{}, err
	}
	for _, fire := range preview.Fires {
		if fire.Skipped == off && (fire.Skip != nil) == off {
			return fire.FireTime, nil
		}
	}
	return time.Time{}, fmt.Errorf("%w: job %s has no such upcoming fire", job.ErrNotFound, name)
}

// runEarly runs a fire that is ahead now, and asks again if the answer was lost: it is one run.
func runEarly(ctx context.Context, api *client.API, name job.Name, fireTime time.Time) (client.RunAccepted, error) {
	return untilAnswered(ctx, func() (client.RunAccepted, error) {
		return client.Read[client.RunAccepted](api.RunFireEarly(ctx, name.Group(), name.Short(), nil, client.SkipRequest{FireTime: fireTime}))
	})
}
