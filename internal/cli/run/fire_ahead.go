package run

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/carillon-scheduler/carillon/internal/cli"
	"github.com/carillon-scheduler/carillon/internal/client"
	"github.com/carillon-scheduler/carillon/job"
)

// FireAhead is a flag that names a fire of a job.
type FireAhead struct{ text string }

// nextFireWord names the next fire of all.
const nextFireWord = "next"

// Flag adds the flag to a command, under a name and with its help.
func (f *FireAhead) Flag(cmd *cobra.Command, name, help string) {
	cmd.Flags().StringVar(&f.text, name, "", help)
	cli.Complete(cmd, name, nextFireWord)
}

// Of returns the fire that is meant. "next" is the next one that will run or, with off,
// the next one that is skipped.
func (f *FireAhead) Of(ctx context.Context, api *client.API, name job.Name, off bool) (time.Time, error) {
	if f.text != nextFireWord {
		at, err := time.Parse(time.RFC3339, f.text)
		if err != nil {
			return at, cli.Usage(fmt.Errorf("%q must be a time in RFC 3339, such as 2026-03-01T09:00:00Z, or \"next\"", f.text))
		}
		return at, nil
	}
	preview, err := client.Read[client.Preview](api.PreviewJob(ctx, name.Group(), name.Short(), &client.PreviewJobParams{N: new(MaxNextOf)}))
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

// MaxNextOf bounds how many of a job's fires the server is asked for.
const MaxNextOf = 1000

// runEarly runs a fire that is ahead now, and asks again if the answer was lost: it is one run.
func runEarly(ctx context.Context, api *client.API, name job.Name, fireTime time.Time) (client.RunAccepted, error) {
	return untilAnswered(ctx, func() (client.RunAccepted, error) {
		return client.Read[client.RunAccepted](api.RunFireEarly(ctx, name.Group(), name.Short(), nil, client.SkipRequest{FireTime: fireTime}))
	})
}
